#include "exec/given_outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

const std::string& name_of_output(const BoundProgram& bound, size_t o) {
  return bound.program.buffers[bound.program.outputs[o]].name;
}

bool overlap(const Tensor& a, const Tensor& b) {
  if (!a.is_defined() || !b.is_defined()) return false;
  const auto* first = static_cast<const std::byte*>(a.raw());
  const auto* second = static_cast<const std::byte*>(b.raw());
  return a.size_bytes() != 0 && b.size_bytes() != 0 && first < second + b.size_bytes() &&
         second < first + a.size_bytes();
}

}  // namespace

void check_given_output(const BoundProgram& bound, size_t o, const TensorView& view,
                        const Tensor& given) {
  if (given.type() == view.type && given.shape() == view.shape) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("output {} ('{}') is a {}{}, the given buffer is a {}{}", o,
                          name_of_output(bound, o), name_of(view.type), to_string(view.shape),
                          name_of(given.type()), to_string(given.shape())));
}

GivenOutputs::GivenOutputs(const BoundProgram& bound, const Signature& signature,
                           std::span<const Tensor> inputs, std::span<Tensor> outputs)
    : bound_(bound) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (!outputs[o].is_defined()) continue;
    const int32_t buffer = bound.program.outputs[o];
    if (signature.places[buffer].kind != Place::Kind::kDynamic) {
      check_given_output(bound, o, signature.views[buffer], outputs[o]);
    }
    for (size_t other = 0; other < o; ++other) {
      if (!overlap(outputs[o], outputs[other])) continue;
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("outputs {} ('{}') and {} ('{}') were given memory that overlaps; "
                              "each output needs bytes of its own",
                              other, name_of_output(bound, other), o, name_of_output(bound, o)));
    }
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    const auto lies_over = [&](const Tensor& input) { return overlap(outputs[o], input); };
    if (std::none_of(inputs.begin(), inputs.end(), lies_over)) continue;
    waiting_.push_back({o, std::move(outputs[o])});
    outputs[o] = Tensor();
  }
}

void GivenOutputs::finish(std::span<Tensor> outputs) {
  for (Waiting& each : waiting_) {
    Tensor& result = outputs[each.output];
    const TensorView view{result.type(), result.shape(), result.raw()};
    check_given_output(bound_, each.output, view, each.memory);
    copy_contents(view.type, view.data, each.memory.raw(), view.size());
    result = std::move(each.memory);
  }
}

}  // namespace sardonyx
