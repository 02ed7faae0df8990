#include "kernels/reduce/reduce.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduce/reduce.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/dispatch.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Additions into one partial sum before it goes to the total.
constexpr int64_t kChunk = 256;

// A reduction: start of the sums, one element into a sum, two sums, the result. `context` is what
// elements are compared with (LogSumExp), zero for the others.
struct SumOp {
  static HWY_INLINE V start(D d) { return hn::Zero(d); }
  static HWY_INLINE V step(D, V s, V x, V) { return hn::Add(s, x); }
  static HWY_INLINE V join(V a, V b) { return hn::Add(a, b); }
  static HWY_INLINE V finish(D, V s, int64_t) { return s; }
};
struct MeanOp : SumOp {
  static HWY_INLINE V finish(D d, V s, int64_t n) {
    return hn::Div(s, hn::Set(d, static_cast<float>(n)));
  }
};
struct MaxOp : SumOp {
  static HWY_INLINE V start(D d) { return hn::Neg(hn::Inf(d)); }
  static HWY_INLINE V step(D, V s, V x, V) { return max_nan(s, x); }
  static HWY_INLINE V join(V a, V b) { return max_nan(a, b); }
};
struct MinOp : SumOp {
  static HWY_INLINE V start(D d) { return hn::Inf(d); }
  static HWY_INLINE V step(D, V s, V x, V) { return min_nan(s, x); }
  static HWY_INLINE V join(V a, V b) { return min_nan(a, b); }
};
struct ProdOp : SumOp {
  static HWY_INLINE V start(D d) { return hn::Set(d, 1.0f); }
  static HWY_INLINE V step(D, V s, V x, V) { return hn::Mul(s, x); }
  static HWY_INLINE V join(V a, V b) { return hn::Mul(a, b); }
};
struct SumSquareOp : SumOp {
  static HWY_INLINE V step(D, V s, V x, V) { return hn::MulAdd(x, x, s); }
};
struct L1Op : SumOp {
  static HWY_INLINE V step(D, V s, V x, V) { return hn::Add(s, hn::Abs(x)); }
};
struct L2Op : SumSquareOp {
  static HWY_INLINE V finish(D, V s, int64_t) { return hn::Sqrt(s); }
};
struct LogSumOp : SumOp {
  static HWY_INLINE V finish(D d, V s, int64_t) { return log(d, s); }
};
// The second pass of LogSumExp: the sum of e^(x - context).
struct ExpSumOp : LogSumOp {
  static HWY_INLINE V step(D d, V s, V x, V context) {
    return hn::Add(s, exp(d, hn::Sub(x, context)));
  }
};

// Joins the lanes of one vector, in order.
template <class Op>
HWY_INLINE V join_lanes(D d, V v) {
  HWY_ALIGN float lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  V total = hn::Set(d, lanes[0]);
  for (size_t i = 1; i < hn::Lanes(d); ++i) total = Op::join(total, hn::Set(d, lanes[i]));
  return total;
}

// Adjacent elements, n of them; the result in every lane.
template <class Op>
HWY_INLINE V reduce_row(D d, const float* in, int64_t n, V context) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  V total = Op::start(d);
  for (int64_t begin = 0; begin < n;) {
    const int64_t end = std::min(n, begin + 4 * lanes * kChunk);
    V s0 = Op::start(d), s1 = s0, s2 = s0, s3 = s0;
    int64_t i = begin;
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      s0 = Op::step(d, s0, hn::LoadU(d, in + i), context);
      s1 = Op::step(d, s1, hn::LoadU(d, in + i + lanes), context);
      s2 = Op::step(d, s2, hn::LoadU(d, in + i + 2 * lanes), context);
      s3 = Op::step(d, s3, hn::LoadU(d, in + i + 3 * lanes), context);
    }
    for (; i + lanes <= end; i += lanes) s0 = Op::step(d, s0, hn::LoadU(d, in + i), context);
    if (i < end) {
      const size_t left = static_cast<size_t>(end - i);
      const V sum = Op::step(d, s1, load_n(d, in + i, left), context);
      s1 = hn::IfThenElse(hn::FirstN(d, left), sum, s1);
    }
    total = Op::join(total, Op::join(Op::join(s0, s1), Op::join(s2, s3)));
    begin = end;
  }
  return join_lanes<Op>(d, total);
}

// kVectors vectors of inner positions; steps of the axis are stride floats apart.
template <class Op, int kVectors>
HWY_INLINE void reduce_columns(D d, const float* in, int64_t n, int64_t stride, size_t left,
                               const V* context, V* total) {
  const size_t lanes = hn::Lanes(d);
  V sum[kVectors];
  SDX_UNROLL
  for (int v = 0; v < kVectors; ++v) total[v] = Op::start(d);
  for (int64_t begin = 0; begin < n;) {
    const int64_t end = std::min(n, begin + kChunk);
    SDX_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[v] = Op::start(d);
    for (int64_t k = begin; k < end; ++k) {
      SDX_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        sum[v] = Op::step(d, sum[v], load_n(d, in + k * stride + v * lanes, left), context[v]);
      }
    }
    SDX_UNROLL
    for (int v = 0; v < kVectors; ++v) total[v] = Op::join(total[v], sum[v]);
    begin = end;
  }
}

// What LogSumExp subtracts: the maximum, or 0 where that is not finite.
HWY_INLINE V finite_or_zero(D d, V max) {
  return hn::IfThenElseZero(hn::Lt(hn::Abs(max), hn::Inf(d)), max);
}

// One output element of a contiguous row, in every lane.
template <class Op>
HWY_INLINE V row_result(D d, const float* in, int64_t n) {
  if constexpr (std::is_same_v<Op, ExpSumOp>) {
    const V context = finite_or_zero(d, reduce_row<MaxOp>(d, in, n, hn::Zero(d)));
    return hn::Add(context, Op::finish(d, reduce_row<Op>(d, in, n, context), n));
  } else {
    return Op::finish(d, reduce_row<Op>(d, in, n, hn::Zero(d)), n);
  }
}

template <class Op, int kVectors>
HWY_INLINE void column_results(D d, const float* in, int64_t n, int64_t stride, size_t left,
                               float* out) {
  V context[kVectors], total[kVectors];
  SDX_UNROLL
  for (int v = 0; v < kVectors; ++v) context[v] = hn::Zero(d);
  if constexpr (std::is_same_v<Op, ExpSumOp>) {
    V max[kVectors];
    reduce_columns<MaxOp, kVectors>(d, in, n, stride, left, context, max);
    SDX_UNROLL
    for (int v = 0; v < kVectors; ++v) context[v] = finite_or_zero(d, max[v]);
  }
  reduce_columns<Op, kVectors>(d, in, n, stride, left, context, total);
  SDX_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    V result = Op::finish(d, total[v], n);
    if constexpr (std::is_same_v<Op, ExpSumOp>) result = hn::Add(context[v], result);
    store_n(result, d, out + v * hn::Lanes(d), left);
  }
}

template <class Op>
void reduce(const ReduceArgs& args) {
  const D d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t o = 0; o < args.outer; ++o) {
    const float* in = args.in + o * args.outer_stride;
    float* out = args.out + o * args.out_stride;
    if (args.inner == 1 && (args.reduced_stride == 1 || args.reduced <= 1)) {
      *out = hn::GetLane(row_result<Op>(d, in, args.reduced));
      continue;
    }
    int64_t i = 0;
    for (; i + 4 * lanes <= args.inner; i += 4 * lanes) {
      column_results<Op, 4>(d, in + i, args.reduced, args.reduced_stride,
                            static_cast<size_t>(lanes), out + i);
    }
    for (; i < args.inner; i += lanes) {
      column_results<Op, 1>(d, in + i, args.reduced, args.reduced_stride,
                            static_cast<size_t>(args.inner - i), out + i);
    }
  }
}

const ReduceKernels& reduce_kernels_row() {
  // In the order of ReduceOp.
  static const ReduceKernels table{{reduce<SumOp>, reduce<MeanOp>, reduce<MaxOp>, reduce<MinOp>,
                                    reduce<ProdOp>, reduce<SumSquareOp>, reduce<L1Op>, reduce<L2Op>,
                                    reduce<LogSumOp>, reduce<ExpSumOp>}};
  return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(ReduceKernels, reduce_kernels, reduce_kernels_row)
}  // namespace sardonyx::kernels
#endif
