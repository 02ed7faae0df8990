#include "plan/verify_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

using Kind = ProgramBuffer::Kind;

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::kInvalidGraph, "program: " + what);
}

bool has_type(const Tensor& value, const ValueType& type) {
  if (type.is_tensor()) {
    const std::optional<Shape> shape = to_shape(type.shape);
    return value.type() == type.element && (!shape || *shape == value.shape());
  }
  if (!type.holds_values() || !type.inner) return false;
  if (value.type() != (type.kind == ValueType::Kind::kSequence ? kSequenceType : kOptionalType)) {
    return false;
  }
  const auto items = value.values<Tensor>();
  return std::all_of(items.begin(), items.end(),
                     [&](const Tensor& item) { return has_type(item, *type.inner); });
}

class Verifier {
 public:
  explicit Verifier(const Program& program)
      : program_(program), is_set_(program.buffers.size(), false) {}

  void run() {
    for (size_t b = 0; b < program_.buffers.size(); ++b) check_constant(b);
    check_inputs();
    const std::vector<SubProgram>& subprograms = program_.subprograms;
    size_t next = 0;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      const Node& step = program_.steps[s];
      for (ValueId id : step.inputs) {
        if (id != ValueId::kNone) check_use(static_cast<int32_t>(id), "step", s);
      }
      for (ValueId id : step.captures) check_use(static_cast<int32_t>(id), "step", s);
      std::vector<ValueId> held(step.captures.begin(), step.captures.end());
      std::sort(held.begin(), held.end());
      for (; next < subprograms.size() && subprograms[next].step == static_cast<int32_t>(s);
           ++next) {
        check_subprogram(subprograms[next], held);
      }
      for (ValueId id : step.outputs) {
        if (id != ValueId::kNone) check_definition(static_cast<int32_t>(id), s);
      }
    }
    if (next != subprograms.size()) {
      fail(fmt::format("a subprogram belongs to step {}, out of order or beyond the {} steps",
                       subprograms[next].step, program_.steps.size()));
    }
    for (size_t i = 0; i < program_.outputs.size(); ++i) {
      check_use(program_.outputs[i], "output", i);
    }
  }

 private:
  void check_constant(size_t b) {
    const ProgramBuffer& buffer = program_.buffers[b];
    if (buffer.kind != Kind::kConstant) return;
    is_set_[b] = true;
    const Tensor& constant = buffer.constant;
    if (!constant.is_defined()) fail(fmt::format("constant {} has no contents", b));
    if (has_type(constant, buffer.type)) return;
    const std::optional<Shape> shape = to_shape(buffer.type.shape);
    fail(fmt::format("constant {} is a {}{}, its type says {}{}", b, name_of(constant.type()),
                     to_string(constant.shape()), print_type(buffer.type.without_shapes(), {}),
                     shape ? to_string(*shape) : ""));
  }

  void check_inputs() {
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      const int32_t b = program_.inputs[i];
      check_exists(b, "input", i);
      const auto at = static_cast<size_t>(b);
      if (program_.buffers[at].kind != Kind::kInput || is_set_[at]) {
        fail(fmt::format("input {} is buffer {}, which is no input or another one", i, b));
      }
      is_set_[at] = true;
    }
  }

  void check_exists(int32_t b, const char* what, size_t i) {
    if (b >= 0 && static_cast<size_t>(b) < program_.buffers.size()) return;
    fail(fmt::format("{} {} names buffer {}, there are {}", what, i, b, program_.buffers.size()));
  }

  void check_use(int32_t b, const char* what, size_t i) {
    check_exists(b, what, i);
    if (!is_set_[static_cast<size_t>(b)]) {
      fail(fmt::format("{} {} uses buffer {} before it has contents", what, i, b));
    }
  }

  void check_definition(int32_t b, size_t s) {
    check_exists(b, "step", s);
    const auto at = static_cast<size_t>(b);
    if (is_set_[at] || program_.buffers[at].kind != Kind::kIntermediate) {
      fail(fmt::format("step {} writes buffer {}, which has contents already", s, b));
    }
    is_set_[at] = true;
  }

  // `held`: what the step captures, sorted.
  void check_subprogram(const SubProgram& sub, const std::vector<ValueId>& held) {
    for (int32_t captured : sub.captures) {
      if (!std::binary_search(held.begin(), held.end(), static_cast<ValueId>(captured))) {
        fail(fmt::format("subprogram '{}' of step {} captures buffer {}, which the step does not",
                         sub.attribute, sub.step, captured));
      }
    }
    if (sub.captures.size() > sub.program.inputs.size()) {
      fail(fmt::format("subprogram '{}' of step {} captures {} buffers and has {} inputs",
                       sub.attribute, sub.step, sub.captures.size(), sub.program.inputs.size()));
    }
    verify(sub.program);
  }

  const Program& program_;
  std::vector<bool> is_set_;
};

}  // namespace

void verify(const Program& program) { Verifier(program).run(); }

}  // namespace sardonyx
