// The attributes of a Scan node, told apart and checked. From version 9 on the axes are free; in
// version 8 every input and output has a batch axis 0 and a sequence axis 1.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace sardonyx {

struct ScanParams {
  bool has_batch = false;                        // version 8
  size_t first_input = 0;                        // of the node: 1 behind sequence_lens
  size_t states = 0;                             // carried from trip to trip
  size_t scanned = 0;                            // inputs cut into slices
  size_t stacked = 0;                            // outputs made of slices
  std::vector<int64_t> input_axes, output_axes;  // as given; behind the batch axis, if any
  std::vector<bool> input_reversed, output_reversed;

  // Throws Error(kInvalidGraph) that names the node and the attribute.
  ScanParams(const Node& node, size_t input_count, size_t output_count);
};

}  // namespace sardonyx
