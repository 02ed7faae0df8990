// Parameters of nodes read alike from every schema version, and small patterns that rules share.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "kernels/epilogue.h"
#include "passes/pattern.h"

namespace sardonyx::rules {

// The limits of a Clip, whether attributes (before 11) or constant inputs; infinite where absent.
// nullopt when they are computed, or not numbers.
std::optional<std::pair<double, double>> clip_limits(const Graph& graph, const Node& node);

// The activation that an element-wise node is, as kernels fuse it; nullopt when it is none of them
// or a parameter is computed. A Clip whose low is above its high gives high, fused or not.
std::optional<kernels::Epilogue> activation_of(const Graph& graph, const Node& node);

// `x` clipped to [low, high].
Pattern clip(Pattern x, double low, double high);

// The axes of a Reduce*, attribute or constant input, made non-negative when the rank of the data
// is known; nullopt when they are computed or absent.
std::optional<std::vector<int64_t>> reduce_axes(const Graph& graph, const Node& node);

// The axes of a Reduce* are the last ones and keepdims is 1: the first of them, counted from the
// back (-1: the last axis only). nullopt otherwise.
std::optional<int64_t> reduced_from(const Graph& graph, const Node& node);

// Predicates for Pattern::where.
NodePredicate has_float(std::string_view attribute, double value, double fallback,
                        double tolerance = 1e-5);
NodePredicate has_int(std::string_view attribute, int64_t value, int64_t fallback);
NodePredicate has_string(std::string_view attribute, std::string_view value,
                         std::string_view fallback);

// x / 2, however written.
Pattern half(const Pattern& x);

bool is_float(DataType type);   // float16, bfloat16, float, double
bool is_single(DataType type);  // float

}  // namespace sardonyx::rules
