// Input shapes that a compiled model is prepared for. Compiling refuses those that no Run could
// have; a session refuses a file that holds such shapes all the same.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "plan/program.h"
#include "sardonyx/session.h"
#include "tensor/tensor.h"

namespace sardonyx {

using ShapesByName = std::map<std::string, std::vector<int64_t>>;

// What an input can not have that shape for; empty: it can have it.
std::string why_not(const ValueInfo& input, std::span<const int64_t> shape);

// Each set in the order of the inputs; inputs that a set does not name have the shape that the
// model fixes. Throws Error(kInvalidArgument) that names the input, what was given and what is
// expected.
std::vector<std::vector<Shape>> order_shapes(std::span<const ShapesByName> sets,
                                             const std::vector<ValueInfo>& inputs);

// Tensors of these shapes, which fit the inputs. Contents of small integer inputs may be part of a
// signature: zeros stand for them, and nothing else may be read.
std::vector<Tensor> stand_ins(const std::vector<ValueInfo>& inputs,
                              const std::vector<Shape>& shapes);

// Throws Error(kInvalidArgument) when a Run with one of the sets would fail for its shapes,
// whatever the inputs hold.
void check_shapes_fit(const Program& program, Isa isa, const std::vector<ValueInfo>& inputs,
                      const std::vector<std::vector<Shape>>& sets);

}  // namespace sardonyx
