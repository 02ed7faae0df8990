// The passes of lowering: portable and fused operators become internal ones that know memory. Each
// works on one graph, counts every rewritten node as an edit under its name, and leaves what it
// cannot convert to the generic operators.
#pragma once

#include "base/cpu.h"
#include "passes/pass.h"

namespace sardonyx::cpu {

// What code is made for.
struct Target {
  Isa isa;
  int block;
};

// `replacement` takes the place of the node: it gets as many outputs, which are inferred and become
// those of the graph.
void replace_node(Graph& graph, NodeId id, Node replacement);

// "pack_gemm": MatMul, Gemm and FusedMatMul of float by a constant become PackGemmB and PackedGemm.
void pack_gemm(Graph& graph, PassContext& context, const Target& target);

// "pack_int8_gemm": MatMulInteger, QLinearMatMul and Int8Gemm by constant bytes become
// PackInt8GemmB and PackedInt8Gemm.
void pack_int8_gemm(Graph& graph, PassContext& context, const Target& target);

// "pack_recurrent": LSTM, GRU and RNN with constant W and R become PackRecurrent (twice) and
// PackedLSTM, PackedGRU, PackedRNN.
void pack_recurrent(Graph& graph, PassContext& context, const Target& target);

// "conv_1d": convolutions of rank 3 by a constant become ones of rank 4 for "layout".
void widen_conv_1d(Graph& graph, PassContext& context, const Target& target);

// "layout": regions of float CNN operators become blocked operators with reorders at their edges.
void lower_layout(Graph& graph, PassContext& context, const Target& target);

}  // namespace sardonyx::cpu
