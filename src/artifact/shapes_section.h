// The section SHAPES: sets of input shapes that a Session prepares when it is created. Absent when
// there are none. Called by the writer and the reader of artifacts.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tensor/shape.h"

namespace sardonyx::artifact {

std::vector<std::byte> write_shapes(const std::vector<std::vector<Shape>>& sets);

// One shape per input in each set. Throws Error(kFail) when the bytes make no sense.
std::vector<std::vector<Shape>> read_shapes(std::span<const std::byte> bytes, size_t inputs);

}  // namespace sardonyx::artifact
