#include <fmt/format.h>

#include "plan.h"
#include "text.h"

namespace sardonyx::cli {
namespace {

constexpr size_t kWidestOp = 30;
constexpr size_t kWidestKernel = 28;

std::string cut(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

std::string types_of(const PlanReport& plan, const std::vector<int32_t>& buffers) {
  std::string text;
  for (const int32_t b : buffers) {
    if (!text.empty()) text += ", ";
    text += b < 0 ? "-" : one_line(plan.buffers[static_cast<size_t>(b)].type);
  }
  return text;
}

std::string chunk_text(const PlanStep& step) {
  return step.dynamic ? "?" : fmt::format("{}", fmt::join(step.chunks, "+"));
}

std::string place_text(const PlanBuffer& buffer) {
  if (buffer.place != PlanBuffer::Place::kArena) return to_string(buffer.place);
  return fmt::format("arena +{}{}", buffer.offset, buffer.alias_of >= 0 ? " shared" : "");
}

void add_plan(const PlanReport& plan, const std::string& indent, std::string& out) {
  const auto line = [&](const std::string& text) { out += indent + text + "\n"; };
  line(fmt::format("{} steps, kernels for {}, estimated {:.3f} ms on one thread", plan.steps.size(),
                   plan.isa, plan.estimated_nanoseconds * 1e-6));
  if (plan.steps_ahead > 0) {
    line(fmt::format("{} more follow from shapes alone and do not run", plan.steps_ahead));
  }
  line(fmt::format("arena {}, lower bound {} ({:.0f} % of it used at the peak)",
                   byte_text(plan.arena_bytes), byte_text(plan.lower_bound_bytes),
                   plan.arena_bytes == 0 ? 100.0
                                         : 100.0 * static_cast<double>(plan.lower_bound_bytes) /
                                               static_cast<double>(plan.arena_bytes)));
  line(fmt::format("constants {}, outputs {}", byte_text(plan.constant_bytes),
                   byte_text(plan.output_bytes)));
  line(fmt::format("{:>5}  {:{}}  {:{}}  {:>9}  {:>9}  {:>10}  {:>10}  {}", "step", "operator",
                   kWidestOp, "kernel", kWidestKernel, "chunks", "est. us", "read", "written",
                   "inputs -> outputs"));
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const PlanStep& step = plan.steps[s];
    line(fmt::format("{:>5}  {:{}}  {:{}}  {:>9}  {:>9}  {:>10}  {:>10}  {} -> {}", s,
                     cut(one_line(short_op(step.op)), kWidestOp), kWidestOp,
                     cut(one_line(step.kernel), kWidestKernel), kWidestKernel, chunk_text(step),
                     step.dynamic ? "?" : fmt::format("{:.0f}", step.estimated_nanoseconds * 1e-3),
                     byte_text(step.read_bytes), byte_text(step.written_bytes),
                     types_of(plan, step.inputs), types_of(plan, step.outputs)));
    for (const SubPlan& sub : step.subplans) {
      line(fmt::format("       {}{}", sub.attribute,
                       sub.plan ? ":" : ": not known before the run: " + one_line(sub.reason)));
      if (sub.plan) add_plan(*sub.plan, indent + "         ", out);
    }
  }
  line(fmt::format("{:>6}  {:>10}  {:>11}  {:20}  {:28}  {}", "buffer", "bytes", "steps", "place",
                   "type", "name"));
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    const PlanBuffer& buffer = plan.buffers[b];
    const bool is_used = buffer.last_step >= 0 || buffer.place == PlanBuffer::Place::kOutput;
    if (!is_used) continue;
    line(fmt::format("{:>6}  {:>10}  {:>11}  {:20}  {:28}  {}", b, byte_text(buffer.size_bytes),
                     fmt::format("{}..{}", std::max(buffer.first_step, 0), buffer.last_step),
                     place_text(buffer), cut(one_line(buffer.type), 28), one_line(buffer.name)));
  }
}

}  // namespace

const char* to_string(PlanBuffer::Place place) {
  switch (place) {
    case PlanBuffer::Place::kArena:
      return "arena";
    case PlanBuffer::Place::kInput:
      return "input";
    case PlanBuffer::Place::kOutput:
      return "output";
    case PlanBuffer::Place::kConstant:
      return "constant";
    case PlanBuffer::Place::kKnown:
      return "known";
    case PlanBuffer::Place::kDynamic:
      return "dynamic";
  }
  return "?";
}

std::string short_op(const std::string& op) {
  constexpr std::string_view kInternal = "ai.sardonyx.";
  return op.starts_with(kInternal) ? op.substr(kInternal.size()) : op;
}

std::string plan_text(const PlanReport& plan) {
  std::string out;
  add_plan(plan, "", out);
  return out;
}

}  // namespace sardonyx::cli
