#include "session/prepared_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "exec/signature.h"

namespace sardonyx {
namespace {

// No process has more address space.
constexpr int64_t kMostBytes = int64_t{1} << 47;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

bool fits_declared(const ValueInfo& input, std::span<const int64_t> shape) {
  if (!input.has_shape) return true;
  return std::equal(shape.begin(), shape.end(), input.shape.begin(), input.shape.end(),
                    [](int64_t dim, int64_t wanted) { return wanted < 0 || dim == wanted; });
}

std::string text_of(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

// "'x' [2,3], 'y' [4]"
std::string text_of(const std::vector<ValueInfo>& inputs, const std::vector<Shape>& shapes) {
  std::string text;
  for (size_t i = 0; i < shapes.size(); ++i) {
    text += fmt::format("{}'{}' {}", i == 0 ? "" : ", ", inputs[i].name, to_string(shapes[i]));
  }
  return text;
}

// May what the inputs hold decide whether their shapes fit?
bool depends_on_contents(const BoundProgram& bound) {
  const std::vector<int32_t>& inputs = bound.program.inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](int32_t input) {
    return bound.value_needed[input] || bound.condition_needed[input];
  });
}

}  // namespace

std::string why_not(const ValueInfo& input, std::span<const int64_t> shape) {
  if (input.kind != ValueKind::kTensor) {
    return fmt::format("is {}, and shapes can be prepared for tensors only", input.type);
  }
  if (!fits_declared(input, shape)) {
    return fmt::format("is {}, the shape to prepare is {}", input.type, text_of(shape));
  }
  const auto negative = std::find_if(shape.begin(), shape.end(), [](int64_t d) { return d < 0; });
  if (negative != shape.end()) {
    return fmt::format("has the dimension {} in the shape to prepare, {}; expected 0 or more",
                       *negative, text_of(shape));
  }
  const std::optional<int64_t> count = checked_element_count(Shape(shape));
  const std::optional<int64_t> bytes =
      count ? storage_bytes(input.element_type, *count) : std::nullopt;
  if (!bytes || *bytes > kMostBytes) {
    return fmt::format("would have more bytes than any memory holds: {}{}",
                       name_of(input.element_type), text_of(shape));
  }
  return "";
}

std::vector<std::vector<Shape>> order_shapes(std::span<const ShapesByName> sets,
                                             const std::vector<ValueInfo>& inputs) {
  std::vector<std::vector<Shape>> ordered;
  for (const ShapesByName& by_name : sets) {
    for (const auto& [name, shape] : by_name) {
      const auto is_it = [&name = name](const ValueInfo& input) { return input.name == name; };
      if (std::any_of(inputs.begin(), inputs.end(), is_it)) continue;
      refuse(fmt::format("the model has no input '{}' to prepare a shape for", name));
    }
    std::vector<Shape>& shapes = ordered.emplace_back();
    for (const ValueInfo& input : inputs) {
      const auto found = by_name.find(input.name);
      const bool is_given = found != by_name.end();
      if (!is_given && input.kind == ValueKind::kTensor &&
          (!input.has_shape || std::ranges::any_of(input.shape, [](int64_t d) { return d < 0; }))) {
        refuse(fmt::format("input '{}' is {}, and no shape to prepare is given for it", input.name,
                           input.type));
      }
      const std::vector<int64_t>& shape = is_given ? found->second : input.shape;
      const std::string reason = why_not(input, shape);
      if (!reason.empty()) refuse(fmt::format("input '{}' {}", input.name, reason));
      shapes.emplace_back(std::span(shape));
    }
  }
  return ordered;
}

std::vector<Tensor> stand_ins(const std::vector<ValueInfo>& inputs,
                              const std::vector<Shape>& shapes) {
  alignas(kTensorAlignment) static constexpr int64_t kZeros[2 * kMaxKeyElements] = {};
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < shapes.size(); ++i) {
    tensors.push_back(Tensor::view(inputs[i].element_type, shapes[i], kZeros));
  }
  return tensors;
}

void check_shapes_fit(const Program& program, Isa isa, const std::vector<ValueInfo>& inputs,
                      const std::vector<std::vector<Shape>>& sets) {
  if (sets.empty()) return;
  const std::shared_ptr<const BoundProgram> bound = bind(program, isa);
  if (depends_on_contents(*bound)) return;
  for (const std::vector<Shape>& shapes : sets) {
    try {
      resolve_signature(*bound, stand_ins(inputs, shapes));
    } catch (const Error& error) {
      // What is too large for this machine may fit another one.
      if (error.code() == ErrorCode::kFail) continue;
      refuse(fmt::format("no run can have the shapes to prepare ({}): {}", text_of(inputs, shapes),
                         error.what()));
    }
  }
}

}  // namespace sardonyx
