// The tables of rewrite rules, one by theme. The order inside a table matters where patterns
// overlap: earlier rows are tried first.
#pragma once

#include <vector>

#include "passes/pattern.h"

namespace sardonyx::rules {

std::vector<Rule> noop_rules();
std::vector<Rule> shape_rules();
std::vector<Rule> arithmetic_rules();
std::vector<Rule> conv_rules();
std::vector<Rule> conv_input_rules();
std::vector<Rule> gemm_rules();
std::vector<Rule> activation_rules();
std::vector<Rule> gelu_rules();
std::vector<Rule> norm_rules();
std::vector<Rule> quantize_rules();
std::vector<Rule> fused_rules();

}  // namespace sardonyx::rules
