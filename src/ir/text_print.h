// Graphs, models and tensors as text that parse_model_text() reads back. Printing what was parsed
// from printed text gives the same text. Not kept: documentation strings, metadata of nodes,
// resolved schema versions. Called by dumps, error reports and golden-graph tests.
#pragma once

#include <cstdint>
#include <string>

#include "ir/model.h"

namespace sardonyx {

struct PrintOptions {
  bool value_types = true;    // list the types of values that are neither inputs nor outputs
  int64_t max_elements = -1;  // of a tensor; -1: all. A shortened tensor cannot be parsed.
};

std::string print(const Model& model, const PrintOptions& options = {});
std::string print(const Graph& graph, const PrintOptions& options = {});
// One line; subgraphs span more. Values without a name are called by their id.
std::string print_node(const Graph& graph, const Node& node, const PrintOptions& options = {});

// `float[2,2] {1, 2, 3, 4}` and its braces alone.
std::string print_tensor(const Tensor& tensor, int64_t max_elements = -1);
std::string print_tensor_values(const Tensor& tensor, int64_t max_elements = -1);

}  // namespace sardonyx
