#include "session/plan_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <typeinfo>

#include "base/type_name.h"
#include "exec/signature.h"
#include "exec/splice.h"

namespace sardonyx {
namespace {

int64_t aligned(int64_t bytes) {
  const auto align = static_cast<int64_t>(kTensorAlignment);
  return (bytes + align - 1) / align * align;
}

void erase_all(std::string& text, std::string_view part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

std::string class_name(const Kernel& kernel) {
  std::string name = type_name(typeid(kernel));
  erase_all(name, "sardonyx::");
  erase_all(name, "(anonymous namespace)::");
  return name;
}

class Reporter {
 public:
  Reporter(const BoundProgram& bound, const Signature& signature, Isa isa)
      : bound_(bound), signature_(signature), isa_(isa) {}

  PlanReport make() {
    report_.isa = to_string(isa_);
    report_.arena_bytes = signature_.arena.size_bytes;
    report_.lower_bound_bytes = signature_.arena.lower_bound_bytes;
    report_.estimated_nanoseconds = signature_.estimated_nanoseconds;
    report_.steps_ahead = static_cast<int64_t>(bound_.steps.size() - signature_.steps.size());
    for (size_t b = 0; b < bound_.program.buffers.size(); ++b) add_buffer(b);
    for (const ResolvedStep& step : signature_.steps) add_step(step);
    end_lives();
    find_aliases();
    measure_lives();
    return std::move(report_);
  }

 private:
  void add_buffer(size_t b) {
    const ProgramBuffer& source = bound_.program.buffers[b];
    const TensorView& view = signature_.views[b];
    const Place& place = signature_.places[b];
    PlanBuffer& buffer = report_.buffers.emplace_back();
    buffer.name = source.name;
    using Kind = Place::Kind;
    if (place.kind == Kind::kDynamic || !view.is_present()) {
      buffer.place = PlanBuffer::Place::kDynamic;
      if (source.type.is_tensor()) buffer.type = name_of(source.type.element);
      return;
    }
    buffer.type = fmt::format("{}{}", name_of(view.type), to_string(view.shape));
    buffer.size_bytes = view.size_bytes();
    switch (place.kind) {
      case Kind::kArena:
        buffer.place = PlanBuffer::Place::kArena;
        buffer.offset = place.offset;
        break;
      case Kind::kInput:
        buffer.place = PlanBuffer::Place::kInput;
        break;
      case Kind::kOutput:
        buffer.place = PlanBuffer::Place::kOutput;
        break;
      default:
        buffer.place = source.kind == ProgramBuffer::Kind::kConstant ? PlanBuffer::Place::kConstant
                                                                     : PlanBuffer::Place::kKnown;
        if (source.kind == ProgramBuffer::Kind::kConstant && bound_.last_use[b] >= 0) {
          report_.constant_bytes += buffer.size_bytes;
        }
    }
  }

  void add_step(const ResolvedStep& resolved) {
    const auto position = static_cast<int32_t>(report_.steps.size());
    const BoundStep& bound = bound_.steps[resolved.step];
    const Node& node = bound_.program.steps[resolved.step];
    PlanStep& step = report_.steps.emplace_back();
    step.name = node.name;
    step.op = node.domain.empty() ? node.op : node.domain + "." + node.op;
    step.kernel = class_name(*bound.kernel);
    step.dynamic = resolved.dynamic;
    step.inputs = bound.inputs;
    step.outputs = bound.outputs;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const auto begin = step.inputs.begin();
      const bool is_new = std::find(begin, begin + static_cast<int64_t>(i), step.inputs[i]) ==
                          begin + static_cast<int64_t>(i);
      if (step.inputs[i] >= 0 && is_new) {
        step.read_bytes += report_.buffers[step.inputs[i]].size_bytes;
      }
    }
    for (const int32_t b : step.outputs) {
      if (b < 0) continue;
      step.written_bytes += report_.buffers[b].size_bytes;
      report_.buffers[b].first_step = position;
    }
    if (resolved.dynamic) {
      add_subplans(resolved.step, step);
      return;
    }
    step.estimated_nanoseconds = estimated_nanoseconds(resolved.plan);
    int most_chunks = 1;
    for (int phase = 0; phase < resolved.plan.phases; ++phase) {
      step.chunks.push_back(resolved.plan.chunks[phase]);
      most_chunks = std::max(most_chunks, resolved.plan.chunks[phase]);
    }
    add_scratch(position, resolved.plan.scratch_bytes, resolved.scratch_offset);
    add_scratch(position, resolved.plan.scratch_bytes_per_chunk * most_chunks,
                resolved.chunk_scratch_offset);
  }

  void add_scratch(int32_t step, int64_t bytes, int64_t offset) {
    if (bytes > 0) report_.scratch.push_back({step, bytes, offset});
  }

  // --- subgraphs ---------------------------------------------------------------------------------

  // What a subgraph's input will be, as far as shapes and types go. `outer`: the buffer around it
  // that it comes from, or -1.
  std::optional<Tensor> stand_in(const BoundProgram& body, size_t input, int32_t outer) {
    const int32_t inner = body.program.inputs[input];
    const ValueType& type = body.program.buffers[inner].type;
    TensorView view;
    if (outer >= 0 && signature_.places[outer].kind != Place::Kind::kDynamic) {
      view = signature_.views[outer];
    } else if (const auto shape = to_shape(type.shape); type.is_tensor() && shape) {
      view.type = type.element;
      view.shape = *shape;
    }
    if (!view.is_present() || holds_values(view.type)) return std::nullopt;
    if (view.data != nullptr) return Tensor::view(view.type, view.shape, view.data);
    if (body.value_needed[inner]) return std::nullopt;
    return Tensor::allocate(view.type, view.shape);
  }

  SubPlan subplan(const BoundSubProgram& sub, const BoundStep& step) {
    SubPlan result;
    result.attribute = sub.attribute;
    const std::shared_ptr<const BoundProgram> held = body_of(bound_, sub);
    const BoundProgram& body = *held;
    const size_t formals = body.program.inputs.size() - sub.captures.size();
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < body.program.inputs.size(); ++i) {
      // A Loop's body is given the iteration, the condition and then the Loop's own inputs.
      const bool is_carried = step.op->name == "Loop" && i >= 2 && i < step.inputs.size();
      const int32_t outer = i >= formals ? sub.captures[i - formals]
                            : is_carried ? step.inputs[i]
                                         : -1;
      std::optional<Tensor> tensor = stand_in(body, i, outer);
      if (!tensor) {
        result.reason = fmt::format("the shape or contents of '{}' depend on the run",
                                    body.program.buffers[body.program.inputs[i]].name);
        return result;
      }
      inputs.push_back(std::move(*tensor));
    }
    try {
      const std::shared_ptr<const Signature> signature = resolve_signature(body, inputs);
      result.plan = std::make_shared<PlanReport>(make_plan_report(body, *signature, isa_));
    } catch (const Error& error) {
      result.reason = error.what();
    }
    return result;
  }

  void add_subplans(int32_t index, PlanStep& step) {
    for (const BoundSubProgram& sub : bound_.subprograms) {
      if (sub.step == index) step.subplans.push_back(subplan(sub, bound_.steps[index]));
    }
  }

  // --- lives -------------------------------------------------------------------------------------

  // The program counts all steps, the report those that run.
  int32_t position_of(int32_t program_step) const {
    const auto after = std::upper_bound(
        signature_.steps.begin(), signature_.steps.end(), program_step,
        [](int32_t step, const ResolvedStep& resolved) { return step < resolved.step; });
    return static_cast<int32_t>(after - signature_.steps.begin()) - 1;
  }

  void end_lives() {
    for (size_t b = 0; b < report_.buffers.size(); ++b) {
      PlanBuffer& buffer = report_.buffers[b];
      buffer.last_step = std::max(buffer.first_step, position_of(bound_.last_use[b]));
    }
    for (const int32_t b : bound_.program.outputs) {
      PlanBuffer& buffer = report_.buffers[b];
      if (buffer.place == PlanBuffer::Place::kOutput) report_.output_bytes += buffer.size_bytes;
    }
  }

  // Memory that an operand of the making step still holds at the same place.
  void find_aliases() {
    for (size_t b = 0; b < report_.buffers.size(); ++b) {
      PlanBuffer& buffer = report_.buffers[b];
      if (buffer.place != PlanBuffer::Place::kArena || buffer.first_step < 0) continue;
      for (const int32_t in : report_.steps[buffer.first_step].inputs) {
        if (in < 0 || aligned(buffer.size_bytes) == 0) continue;
        const PlanBuffer& operand = report_.buffers[in];
        if (operand.place == PlanBuffer::Place::kArena && operand.offset == buffer.offset &&
            operand.size_bytes > 0) {
          buffer.alias_of = in;
        }
      }
    }
  }

  void measure_lives() {
    struct Life {
      int32_t first, last;
      int64_t bytes;
    };
    // Buffers are made after what they alias.
    std::vector<Life> lives(report_.buffers.size(), {0, -1, 0});
    std::vector<size_t> root(report_.buffers.size());
    std::vector<size_t> order(report_.buffers.size());
    for (size_t b = 0; b < order.size(); ++b) order[b] = b;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return report_.buffers[a].first_step < report_.buffers[b].first_step;
    });
    for (const size_t b : order) {
      const PlanBuffer& buffer = report_.buffers[b];
      root[b] = buffer.alias_of >= 0 ? root[buffer.alias_of] : b;
      if (buffer.place != PlanBuffer::Place::kArena) continue;
      Life& life = lives[root[b]];
      if (root[b] == b) life = {buffer.first_step, buffer.last_step, aligned(buffer.size_bytes)};
      life.last = std::max(life.last, buffer.last_step);
    }
    for (const PlanScratch& scratch : report_.scratch) {
      lives.push_back({scratch.step, scratch.step, aligned(scratch.size_bytes)});
    }
    std::vector<int64_t> change(report_.steps.size() + 1, 0);
    for (const Life& life : lives) {
      if (life.last < life.first) continue;
      change[static_cast<size_t>(std::max(life.first, 0))] += life.bytes;
      change[static_cast<size_t>(life.last) + 1] -= life.bytes;
    }
    int64_t live = 0;
    for (size_t s = 0; s < report_.steps.size(); ++s) {
      live += change[s];
      report_.live_bytes.push_back(live);
    }
  }

  const BoundProgram& bound_;
  const Signature& signature_;
  const Isa isa_;
  PlanReport report_;
};

}  // namespace

PlanReport make_plan_report(const BoundProgram& bound, const Signature& signature, Isa isa) {
  return Reporter(bound, signature, isa).make();
}

}  // namespace sardonyx
