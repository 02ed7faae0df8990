// RandomNormal, RandomUniform and the forms that take their shape from an input. Element i is a
// function of the seed and i alone, so a seeded node gives the same numbers in every run, on every
// machine, with any number of threads. Without a seed each run draws another one.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>

#include "ops/elementwise/loop.h"
#include "ops/op.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

constexpr OpVersion kNormalVersions[] = {
    {1,
     "-> output: T | dtype: int = 1, mean: float = 0, scale: float = 1, seed: float?, shape: ints! "
     "| T: @ieee"},
    {22,
     "-> output: T | dtype: int = 1, mean: float = 0, scale: float = 1, seed: float?, shape: ints! "
     "| T: @float"},
};
constexpr OpVersion kUniformVersions[] = {
    {1,
     "-> output: T | dtype: int = 1, high: float = 1, low: float = 0, seed: float?, shape: ints! | "
     "T: @ieee"},
    {22,
     "-> output: T | dtype: int = 1, high: float = 1, low: float = 0, seed: float?, shape: ints! | "
     "T: @float"},
};
constexpr OpVersion kNormalLikeVersions[] = {
    {1,
     "input: T1 -> output: T2 | dtype: int?, mean: float = 0, scale: float = 1, seed: float? | T1: "
     "@all1, T2: @ieee"},
    {22,
     "input: T1 -> output: T2 | dtype: int?, mean: float = 0, scale: float = 1, seed: float? | T1: "
     "@all13, T2: @float"},
};
constexpr OpVersion kUniformLikeVersions[] = {
    {1,
     "input: T1 -> output: T2 | dtype: int?, high: float = 1, low: float = 0, seed: float? | T1: "
     "@all1, T2: @ieee"},
    {22,
     "input: T1 -> output: T2 | dtype: int?, high: float = 1, low: float = 0, seed: float? | T1: "
     "@all13, T2: @float"},
};

// The finisher of SplitMix64: every bit of the input changes half of the output's.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// [0, 1), a multiple of 2^-53.
double unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

struct Uniform {
  double low, high;
  double operator()(uint64_t seed, uint64_t i) const {
    return low + (high - low) * unit(mix(seed + i));
  }
};
struct Normal {
  double mean, scale;
  // Box and Muller.
  double operator()(uint64_t seed, uint64_t i) const {
    const uint64_t first = mix(seed + i);
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit(first)));
    const double angle = 2.0 * std::numbers::pi * unit(mix(first ^ 0xa0761d6478bd642fu));
    return mean + scale * radius * std::cos(angle);
  }
};

template <typename Distribution>
class RandomKernel final : public Kernel {
 public:
  RandomKernel(const Node& node, Distribution distribution) : distribution_(distribution) {
    if (node.attributes.contains("seed")) {
      seed_ = mix(std::bit_cast<uint32_t>(node.attributes.get_float("seed", 0.0f)));
    } else {
      is_seeded_ = false;
      seed_ = mix((uint64_t{std::random_device{}()} << 32) | std::random_device{}());
    }
  }

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    // Without a seed the one chunk of a run draws it.
    if (is_seeded_) {
      plan.split(loop_units(element_count(context.output_shape(0))), 20.0 * kLoopUnit);
    }
    return Status::ok();
  }
  Status run(const RunContext& context) const override {
    const uint64_t seed =
        is_seeded_ ? seed_ : mix(seed_ + runs_.fetch_add(1, std::memory_order_relaxed));
    const TensorView& out = context.output(0);
    const Range part = loop_part(context, out.size());
    visit_floats(out.type, [&]<typename T>(TypeTag<T>) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        const double value = distribution_(seed, static_cast<uint64_t>(i));
        out.as<T>()[i] = from_compute<T>(static_cast<Compute<T>>(value));
      }
    });
    return Status::ok();
  }

 private:
  Distribution distribution_;
  bool is_seeded_ = true;
  uint64_t seed_ = 0;
  mutable std::atomic<uint64_t> runs_{0};
};

DataType element_of(InferContext& context, DataType fallback) {
  const int64_t number = context.node().attributes.get_int("dtype", static_cast<int64_t>(fallback));
  const DataType type = is_data_type(number) ? static_cast<DataType>(number) : DataType::kUndefined;
  if (!visit_floats(type, [](auto) {})) {
    context.fail("the element type must be float, double, float16 or bfloat16");
  }
  return type;
}

void infer(InferContext& context) {
  Dims shape;
  for (int64_t dim : context.node().attributes.get_ints("shape")) {
    if (dim < 0) context.fail("attribute 'shape' has a negative entry");
    shape.push_back(Dim(dim));
  }
  context.set_output(0, element_of(context, DataType::kFloat), std::move(shape));
}

void infer_like(InferContext& context) {
  context.set_output(0, element_of(context, context.input_element(0)), context.input_shape(0));
}

std::unique_ptr<Kernel> prepare_normal(const PrepareContext& context) {
  const Attributes& attributes = context.node.attributes;
  return std::make_unique<RandomKernel<Normal>>(
      context.node,
      Normal{attributes.get_float("mean", 0.0f), attributes.get_float("scale", 1.0f)});
}
std::unique_ptr<Kernel> prepare_uniform(const PrepareContext& context) {
  const Attributes& attributes = context.node.attributes;
  return std::make_unique<RandomKernel<Uniform>>(
      context.node, Uniform{attributes.get_float("low", 0.0f), attributes.get_float("high", 1.0f)});
}

}  // namespace

extern const OpDef kRandomNormal = {
    .domain = "",
    .name = "RandomNormal",
    .versions = kNormalVersions,
    .traits = kNonDeterministic,
    .infer = infer,
    .prepare = prepare_normal,
};
extern const OpDef kRandomNormalLike = {
    .domain = "",
    .name = "RandomNormalLike",
    .versions = kNormalLikeVersions,
    .traits = kNonDeterministic,
    .infer = infer_like,
    .prepare = prepare_normal,
};
extern const OpDef kRandomUniform = {
    .domain = "",
    .name = "RandomUniform",
    .versions = kUniformVersions,
    .traits = kNonDeterministic,
    .infer = infer,
    .prepare = prepare_uniform,
};
extern const OpDef kRandomUniformLike = {
    .domain = "",
    .name = "RandomUniformLike",
    .versions = kUniformLikeVersions,
    .traits = kNonDeterministic,
    .infer = infer_like,
    .prepare = prepare_uniform,
};

}  // namespace sardonyx
