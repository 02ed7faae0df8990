// The fused end of internal operators (PackedGemm, blocked convolutions) as node attributes:
// activation (a name, empty for none), alpha, beta. One place for the names.
#pragma once

#include <string_view>

#include "ir/graph.h"
#include "kernels/epilogue.h"
#include "ops/infer.h"

namespace sardonyx {

// "", "Relu", "LeakyRelu", "Clip", "HardSigmoid", "HardSwish", "Sigmoid", "Silu", "Tanh", "Gelu",
// "GeluTanh".
std::string_view activation_name(kernels::Activation activation);

// Reads activation, alpha and beta. Throws Error(kInvalidGraph) for an unknown name.
kernels::Epilogue parse_epilogue(const Node& node);

// Writes them; nothing for no activation.
void set_epilogue(Attributes& attributes, const kernels::Epilogue& epilogue);

// Fails when input i is there and known not to have the shape `expected`. Internal operators come
// out of compiled files, too: their kernels trust no operand whose size this has not compared.
void check_operand(const InferContext& context, size_t i, const Dims& expected,
                   std::string_view what);

}  // namespace sardonyx
