// BlockedConcat: joins blocked values along their channels. Every part but the last has channels
// that fill whole blocks, so that only planes are copied.
#include <fmt/format.h>

#include <cstring>

#include "ops/blocked/blocked.h"
#include "ops/op.h"

namespace sardonyx {
namespace {

void infer(InferContext& context) {
  Dims out = {Dim::unknown(), int64_t{0}, Dim::unknown(), Dim::unknown(), Dim::unknown()};
  for (size_t i = 0; i < context.input_count(); ++i) {
    check_blocked(context, i);
    const SymShape& x = context.input_shape(i);
    if (!x) return context.set_output(0, DataType::kFloat, std::nullopt);
    out[1] = context.dims().add(out[1], (*x)[1]);
    for (size_t axis : {0, 2, 3, 4}) {
      const Dim dim = (*x)[axis];
      if (dim.is_known() && out[axis].is_known() && dim != out[axis]) {
        context.fail(fmt::format("the parts differ on axis {}", axis));
      }
      if (i == 0 || dim.is_known()) out[axis] = dim;
    }
  }
  context.set_output(0, DataType::kFloat, std::move(out));
}

struct State {
  struct Part {
    int64_t floats = 0;  // of one image
    int64_t offset = 0;  // in an image of the output
  };
  std::vector<Part> parts;
  int64_t batch = 0, image = 0;
  int64_t units = 0;  // the image in pieces of kUnit floats
};
constexpr int64_t kUnit = 4096;

class BlockedConcatKernel final : public Kernel {
 public:
  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    auto state = std::make_shared<State>();
    state->batch = context.output_shape(0)[0];
    for (size_t i = 0; i < context.input_count(); ++i) {
      const Shape& x = context.input_shape(i);
      const int64_t floats = element_count(x, 1, 5);
      state->parts.push_back({floats, state->image});
      state->image += floats;
    }
    state->units = (state->image + kUnit - 1) / kUnit;
    plan.split(state->batch * state->units, 0.3 * kUnit);
    plan.state = std::move(state);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const State& s = context.state_as<State>();
    const Range units = context.part(s.batch * s.units);
    for (int64_t n = units.begin / s.units; n * s.units < units.end; ++n) {
      const int64_t begin = std::max<int64_t>(units.begin - n * s.units, 0) * kUnit;
      const int64_t end = std::min(std::min(units.end - n * s.units, s.units) * kUnit, s.image);
      for (size_t i = 0; i < s.parts.size(); ++i) {
        const State::Part& part = s.parts[i];
        const int64_t from = std::max(begin, part.offset);
        const int64_t to = std::min(end, part.offset + part.floats);
        if (from >= to) continue;
        std::memcpy(context.out<float>(0) + n * s.image + from,
                    context.in<float>(i) + n * part.floats + (from - part.offset),
                    static_cast<size_t>(to - from) * sizeof(float));
      }
    }
    return Status::ok();
  }
};

std::unique_ptr<Kernel> prepare(const PrepareContext&) {
  return std::make_unique<BlockedConcatKernel>();
}

constexpr OpVersion kVersions[] = {{1, "parts: T... -> Y: T | | T: float"}};

}  // namespace

extern const OpDef kBlockedConcat = {.domain = kInternalDomain,
                                     .name = "BlockedConcat",
                                     .versions = kVersions,
                                     .traits = kZeroPreserving,
                                     .infer = infer,
                                     .prepare = prepare};

}  // namespace sardonyx
