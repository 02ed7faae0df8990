// The tables of rewrite rules, one by theme. The order inside a table matters where patterns
// overlap: earlier rows are tried first.
#pragma once

#include <span>

#include "passes/pattern.h"

namespace sardonyx::rules {

std::span<const Rule> noop_rules();
std::span<const Rule> shape_rules();
std::span<const Rule> arithmetic_rules();
std::span<const Rule> conv_rules();
std::span<const Rule> conv_input_rules();
std::span<const Rule> gemm_rules();
std::span<const Rule> activation_rules();
std::span<const Rule> gelu_rules();
std::span<const Rule> norm_rules();
std::span<const Rule> quantize_rules();
std::span<const Rule> fused_rules();

}  // namespace sardonyx::rules
