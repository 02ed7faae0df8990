// Steps in messages, by what the model calls them: its node's name and operator, whatever
// optimising made of it.
#pragma once

#include <string>
#include <string_view>

#include "exec/bound_program.h"

namespace sardonyx {

// The operators of the model that an internal one stands for: "Conv" for BlockedConv, "MatMul or
// Gemm" for PackedGemm; empty when it is unknown. Other operators are what they are.
std::string model_operator(const Node& step);

// "If 'a' (ai.onnx): then_branch: Conv 'c' (ai.onnx): " and `message`, without the name of the node
// that inference puts before it.
std::string step_message(const BoundProgram& bound, int32_t step, std::string_view message);

}  // namespace sardonyx
