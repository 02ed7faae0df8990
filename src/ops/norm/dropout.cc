// Dropout: a copy of the input and a mask of ones in inference. With training_mode (version 12 on)
// elements are zeroed with probability `ratio` and the rest scaled; which ones follows from the
// seed alone, as in the reference implementation (numpy's RandomState(seed).uniform).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "ops/op.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

struct DropoutParams {
  uint64_t seed = 0;
  bool bool_mask = true;  // the mask is bool from version 10 on, of the data's type before
};

DropoutParams parse(const Node& node) {
  return {static_cast<uint64_t>(node.attributes.get_int("seed", 0)),
          node.version == 0 || node.version >= 10};
}

void infer(InferContext& context) {
  context.same_as_input();
  const DataType mask =
      parse(context.node()).bool_mask ? DataType::kBool : context.input_element(0);
  context.set_output(1, mask, context.input_shape(0));
}

// Uniform in [0, 1): 53 bits of two draws.
double random_unit(std::mt19937& generator) {
  const uint64_t high = generator() >> 5;
  const uint64_t low = generator() >> 6;
  return static_cast<double>(high << 26 | low) * 0x1p-53;
}

class DropoutKernel final : public Kernel {
 public:
  explicit DropoutKernel(DropoutParams params) : params_(params) {}

  Status run(const RunContext& context) const override {
    const TensorView& in = context.input(0);
    const TensorView& out = context.output(0);
    const int64_t size = in.size();
    double ratio = 0;
    if (context.has_input(2) && *context.in<bool>(2)) {
      ratio = 0.5;
      if (context.has_input(1)) {
        const TensorView& view = context.input(1);
        if (!visit_floats(view.type, [&](auto tag) {
              ratio = static_cast<double>(*view.as<typename decltype(tag)::Type>());
            })) {
          return Status(ErrorCode::kNotImplemented, "Dropout: a ratio of a float8 type");
        }
      }
    }
    if (ratio > 0) return drop(context, ratio);
    if (out.data != in.data && size > 0) {
      std::memcpy(out.data, in.data, static_cast<size_t>(in.size_bytes()));
    }
    if (context.has_output(1)) fill_ones(context.output(1), size);
    return Status::ok();
  }

 private:
  static void fill_ones(const TensorView& mask, int64_t size) {
    if (mask.type == DataType::kBool) {
      std::fill_n(mask.as<bool>(), size, true);
      return;
    }
    visit_floats(mask.type, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      std::fill_n(mask.as<T>(), size, from_compute<T>(Compute<T>(1)));
    });
  }

  Status drop(const RunContext& context, double ratio) const {
    const TensorView& in = context.input(0);
    bool* mask = context.has_output(1) ? context.out<bool>(1) : nullptr;
    const double scale = ratio < 1 ? 1 / (1 - ratio) : 0;
    // Seeds of 32 bits, all that numpy takes, stay as they are.
    std::mt19937 generator(static_cast<uint32_t>(params_.seed ^ params_.seed >> 32));
    const bool known = visit_floats(in.type, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      for (int64_t i = 0; i < in.size(); ++i) {
        const bool keep = random_unit(generator) >= ratio;
        const Compute<T> value = to_compute(in.as<T>()[i]) * static_cast<Compute<T>>(scale);
        context.out<T>(0)[i] = from_compute<T>(keep ? value : Compute<T>(0));
        if (mask != nullptr) mask[i] = keep;
      }
    });
    return known ? Status::ok()
                 : Status(ErrorCode::kNotImplemented, "Dropout: training on a float8 type");
  }

  DropoutParams params_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<DropoutKernel>(parse(context.node));
}

constexpr OpVersion kVersions[] = {
    {1,
     "data: T -> output: T, mask: T? | consumed_inputs: ints?, is_test: int = 0, "
     "ratio: float = 0.5 | T: @ieee"},
    {6, "data: T -> output: T, mask: T? | is_test: int = 0, ratio: float = 0.5 | T: @ieee"},
    {7, "data: T -> output: T, mask: T? | ratio: float = 0.5 | T: @ieee"},
    {10, "data: T -> output: T, mask: T1? | ratio: float = 0.5 | T: @ieee, T1: bool"},
    {12,
     "data: T, ratio: T1?, training_mode: T2? -> output: T, mask: T2? | seed: int? | "
     "T: @ieee, T1: @ieee, T2: bool"},
    {13,
     "data: T, ratio: T1?, training_mode: T2? -> output: T, mask: T2? | seed: int? | "
     "T: @float, T1: @ieee, T2: bool"},
    {22,
     "data: T, ratio: T1?, training_mode: T2? -> output: T, mask: T2? | seed: int? | "
     "T: @float @float8, T1: @float @float8, T2: bool"},
};

}  // namespace

extern const OpDef kDropout = {.domain = "",
                               .name = "Dropout",
                               .versions = kVersions,
                               .in_place = 0b1,
                               .infer = infer,
                               .prepare = prepare};

}  // namespace sardonyx
