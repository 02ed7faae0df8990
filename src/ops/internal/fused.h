// FusedConv, FusedConvTranspose and FusedMatMul (internal): what the rewrite rules of the fused
// stage make of a convolution or matrix product and what follows it,
//   y = activation(op(...) + bias + residual),
// float only. They are a notation between the rules and the CPU's lowering, which turns them into
// packed or blocked operators; those that it leaves run through the plain operator, correct and
// slow.
//   FusedConv, FusedConvTranspose  X, W, B?, residual?; the attributes of Conv, ConvTranspose
//   FusedMatMul                    A, B, bias?, residual?; trans_a, trans_b (of two-dimensional A
//                                  and B), scale (of the product); bias is [n]
// and of all: activation, alpha, beta (ops/epilogue.h).
#pragma once

#include "ir/graph.h"

namespace sardonyx {

// The standard node inside: operator, attributes, inputs without residual (and without bias, for a
// matrix product).
Node inner_node(const Node& fused);

}  // namespace sardonyx
