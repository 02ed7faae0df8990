// BatchNormalization: each channel brought to mean 0 and variance 1 by given statistics, or in
// training by those of the batch, then scaled and shifted.
#include <fmt/format.h>

#include <cmath>

#include "ops/op.h"
#include "ops/widen.h"

namespace sardonyx {
namespace {

struct BatchNormParams {
  float epsilon = 1e-5f;
  float momentum = 0.9f;
  bool training = false;
  bool spatial = true;  // false: a statistic for every element of a sample (until version 7)
};

BatchNormParams parse(const Node& node) {
  BatchNormParams params;
  params.epsilon = node.attributes.get_float("epsilon", 1e-5f);
  params.momentum = node.attributes.get_float("momentum", 0.9f);
  params.spatial = node.attributes.get_int("spatial", 1) != 0;
  // Before version 14 a node that asks for more than y trains, whatever is_test says.
  params.training = node.version == 0 || node.version >= 14
                        ? node.attributes.get_int("training_mode", 0) != 0
                        : node.output(1) != ValueId::kNone;
  return params;
}

void infer(InferContext& context) {
  context.same_as_input();
  const SymShape& x = context.input_shape(0);
  for (size_t i = 1; i < 5; ++i) {
    const SymShape& shape = context.input_shape(i);
    if (!x || !shape || x->size() < 2 || shape->size() != 1) continue;
    const Dim channels = (*x)[1], given = (*shape)[0];
    if (channels.is_known() && given.is_known() && channels != given) {
      context.fail(
          fmt::format("input {} has {} values for {} channels", i, given.value, channels.value));
    }
  }
  // Outputs 1, 3: means; 2, 4: variances (3 and 4 until version 9).
  for (size_t i = 1; i < 5; ++i) {
    const size_t like = i % 2 == 1 ? 3 : 4;
    context.set_output(i, context.input_element(like), context.input_shape(like));
  }
}

struct State {
  int64_t batch = 1, channels = 1, cells = 1;
};

template <typename T>
class BatchNormKernel final : public Kernel {
 public:
  explicit BatchNormKernel(BatchNormParams params) : params_(params) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& x = context.input_shape(0);
    auto s = std::make_shared<State>();
    if (!x.empty()) s->batch = x[0];
    if (params_.spatial) {
      s->channels = x.size() > 1 ? x[1] : 1;
      s->cells = x.size() > 2 ? element_count(x, 2, x.size()) : 1;
    } else {
      s->channels = element_count(x, std::min<size_t>(1, x.size()), x.size());
    }
    // Channels are dealt out whole: their statistics are needed once, and training folds the batch.
    plan.split(s->channels, 0.6 * static_cast<double>(s->batch * s->cells));
    plan.state = std::move(s);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<State>();
    const T* x = context.in<T>(0);
    T* y = context.out<T>(0);
    const Range channels = context.part(s.channels);
    for (int64_t c = channels.begin; c < channels.end; ++c) {
      T mean = context.in<T>(3)[c], variance = context.in<T>(4)[c];
      if (params_.training) {
        train(context, s, c, mean, variance);
      } else {  // a node may name the outputs of training all the same
        if (context.has_output(1)) context.out<T>(1)[c] = mean;
        if (context.has_output(2)) context.out<T>(2)[c] = variance;
      }
      const T factor = context.in<T>(1)[c] / std::sqrt(variance + static_cast<T>(params_.epsilon));
      const T shift = context.in<T>(2)[c];
      for (int64_t n = 0; n < s.batch; ++n) {
        const int64_t offset = (n * s.channels + c) * s.cells;
        for (int64_t i = offset; i < offset + s.cells; ++i) y[i] = (x[i] - mean) * factor + shift;
      }
    }
    return Status::ok();
  }

 private:
  // Replaces the statistics by those of the batch and writes the running ones.
  void train(const RunContext& context, const State& s, int64_t c, T& mean, T& variance) const {
    const T* x = context.in<T>(0);
    const auto count = static_cast<double>(s.batch * s.cells);
    double sum = 0, squares = 0;
    for (int64_t n = 0; n < s.batch; ++n) {
      const T* plane = x + (n * s.channels + c) * s.cells;
      for (int64_t i = 0; i < s.cells; ++i) sum += static_cast<double>(plane[i]);
    }
    const double batch_mean = sum / count;
    for (int64_t n = 0; n < s.batch; ++n) {
      const T* plane = x + (n * s.channels + c) * s.cells;
      for (int64_t i = 0; i < s.cells; ++i) {
        const double distance = static_cast<double>(plane[i]) - batch_mean;
        squares += distance * distance;
      }
    }
    const double batch_variance = squares / count;
    const double keep = static_cast<double>(params_.momentum);
    const auto put = [&](size_t output, double value) {
      if (context.has_output(output)) context.out<T>(output)[c] = static_cast<T>(value);
    };
    put(1, static_cast<double>(mean) * keep + batch_mean * (1 - keep));
    put(2, static_cast<double>(variance) * keep + batch_variance * (1 - keep));
    put(3, batch_mean);
    put(4, batch_variance);
    mean = static_cast<T>(batch_mean);
    variance = static_cast<T>(batch_variance);
  }

  BatchNormParams params_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return floating_kernel<BatchNormKernel>(context, parse(context.node));
}

#define BATCH_NORM_BASE "epsilon: float = 1e-05, momentum: float = 0.9"
#define BATCH_NORM_1                                                                   \
  "X: T, scale: T, B: T, mean: T, var: T -> Y: T, mean: T?, var: T?, saved_mean: T?, " \
  "saved_var: T? | " BATCH_NORM_BASE
constexpr OpVersion kVersions[] = {
    {1, BATCH_NORM_1 ", consumed_inputs: ints!, is_test: int = 0, spatial: int = 1 | T: @ieee"},
    {6, BATCH_NORM_1 ", is_test: int = 0, spatial: int = 1 | T: @ieee"},
    {7, BATCH_NORM_1 ", spatial: int = 1 | T: @ieee"},
    {9, BATCH_NORM_1 " | T: @ieee"},
    {14,
     "X: T, scale: T, B: T, input_mean: U, input_var: U -> Y: T, running_mean: U?, "
     "running_var: U? | " BATCH_NORM_BASE ", training_mode: int = 0 | T: @float, U: @float"},
    {15,
     "X: T, scale: T1, B: T1, input_mean: T2, input_var: T2 -> Y: T, running_mean: T2?, "
     "running_var: T2? | " BATCH_NORM_BASE
     ", training_mode: int = 0 | T: @float, T1: @float, T2: @float"},
};
#undef BATCH_NORM_1
#undef BATCH_NORM_BASE

}  // namespace

extern const OpDef kBatchNormalization = {.domain = "",
                                          .name = "BatchNormalization",
                                          .versions = kVersions,
                                          .in_place = 0b1,
                                          .infer = infer,
                                          .prepare = prepare};

}  // namespace sardonyx
