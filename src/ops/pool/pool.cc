#include "ops/pool/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sardonyx/error.h"

namespace sardonyx {

PoolParams parse_pool(const Node& node) {
  PoolParams params;
  params.window = parse_window(node);
  params.window.may_overhang = true;
  params.count_include_pad = node.attributes.get_int("count_include_pad", 0) != 0;
  params.column_major = node.attributes.get_int("storage_order", 0) != 0;
  if (const AttributeValue* p = node.attributes.find("p")) {
    params.p = std::holds_alternative<int64_t>(*p)
                   ? static_cast<double>(node.attributes.get_int("p", 2))
                   : static_cast<double>(node.attributes.get_float("p", 2.0f));
  }
  if (params.window.kernel.empty()) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: attribute kernel_shape is missing", describe(node)));
  }
  return params;
}

void infer_pool(InferContext& context) {
  const PoolParams params = parse_pool(context.node());
  const SymShape& x = context.input_shape(0);
  const size_t spatial_rank =
      x ? x->size() - std::min<size_t>(2, x->size()) : params.window.kernel.size();
  check_window(context, params.window, spatial_rank);
  Dims out = {x ? (*x)[0] : Dim::unknown(), x ? (*x)[1] : Dim::unknown()};
  for (size_t i = 0; i < spatial_rank; ++i) {
    out.push_back(window_output(context, params.window, i, x ? (*x)[i + 2] : Dim::unknown(),
                                params.window.kernel[i]));
  }
  context.set_output(1, DataType::kInt64, out);
  context.set_output(0, context.input_element(0), std::move(out));
}

std::shared_ptr<PoolState> make_pool_state(const PoolParams& params,
                                           const ResolveContext& context) {
  auto state = std::make_shared<PoolState>();
  const Shape& y = context.output_shape(0);
  state->planes = y[0] * y[1];
  for (const WindowAxis& axis : settle_window(params.window, spatial(context.input_shape(0)),
                                              spatial(y), params.window.kernel)) {
    std::vector<WindowSpan>& spans = state->spans.emplace_back();
    const int64_t d = axis.dilation;
    for (int64_t i = 0; i < axis.out; ++i) {
      const int64_t first = i * axis.stride - axis.pad_begin;
      const int64_t skipped = first < 0 ? (-first + d - 1) / d : 0;  // taps before the input
      WindowSpan span;
      span.step = d;
      span.begin = first + skipped * d;
      span.end = std::min(first + axis.extent(), axis.in);
      const int64_t bound = std::min(first + axis.extent(), axis.in + axis.pad_end);
      span.with_pads = std::max<int64_t>(0, (bound - first + d - 1) / d);
      spans.push_back(span);
    }
    state->in.push_back(axis.in);
    state->out.push_back(axis.out);
    state->in_size *= axis.in;
    state->out_size *= axis.out;
    state->taps *= axis.kernel;
  }
  return state;
}

void split_windows(const PoolState& state, double nanoseconds_per_tap, StepPlan& plan) {
  constexpr double kLongNanoseconds = 2e6;
  constexpr double kMost = 32768;  // of the thread pool
  const int64_t positions = state.planes * state.out_size;
  const double each = nanoseconds_per_tap * static_cast<double>(state.taps);
  plan.split(positions, each);
  const double wanted = std::min({static_cast<double>(positions) * each / kLongNanoseconds, kMost,
                                  static_cast<double>(positions)});
  plan.chunks[0] = std::max(plan.chunks[0], static_cast<int>(wanted));
}

}  // namespace sardonyx
