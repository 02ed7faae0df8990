// Floating constants read and written as double, whatever their element type: what rules compute
// with. float16 and bfloat16 are rounded to nearest even.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace sardonyx::rules {

// The elements of a float, double, float16 or bfloat16 tensor; nullopt for other types.
std::optional<std::vector<double>> read_floats(const Tensor& tensor);

// A tensor of such a type; nullopt for other types.
std::optional<Tensor> write_floats(DataType type, const Shape& shape,
                                   std::span<const double> values);

// The one element of a defined tensor of a floating, integer or bool type; nullopt otherwise.
std::optional<double> scalar_of(const Tensor& tensor);

// Are all elements of a floating, integer or bool tensor equal to `value`? False for an empty one.
bool all_equal(const Tensor& tensor, double value);

}  // namespace sardonyx::rules
