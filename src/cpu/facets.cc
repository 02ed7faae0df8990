#include "cpu/facets.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cpu/compile.h"
#include "ops/check_node.h"
#include "ops/op.h"
#include "sardonyx/error.h"

namespace sardonyx::cpu {
namespace {

#if defined(__x86_64__)
constexpr const char* kArchitecture = "x86-64";
#elif defined(__aarch64__)
constexpr const char* kArchitecture = "aarch64";
#else
constexpr const char* kArchitecture = "other";
#endif

// A kernel row is named after its operator. Internal operators change meaning with their version;
// what a standard one computes is the standard's and does not.
std::string row_name(const OpDef& op) {
  return op.domain.empty() ? std::string(op.name) : fmt::format("{}.{}", op.domain, op.name);
}

uint32_t row_version(const OpDef& op) {
  return op.domain == kInternalDomain ? static_cast<uint32_t>(op.versions.back().since) : 1;
}

void add_rows(const Program& program, artifact::Facets& facets) {
  for (const Node& step : program.steps) {
    if (const OpDef* op = find_op(step.domain, step.op)) {
      facets.rows[row_name(*op)] = row_version(*op);
    }
  }
  for (const SubProgram& sub : program.subprograms) add_rows(sub.program, facets);
}

[[noreturn]] void refuse(const Node& step, const std::string& message) {
  throw Error(ErrorCode::kInvalidGraph, fmt::format("{}: {}", describe(step), message));
}

// `subprograms`: those of the step.
void check_step(const Program& program, const Node& step, std::span<const SubProgram> subprograms) {
  const OpDef* op = find_op(step.domain, step.op);
  if (op == nullptr) refuse(step, "the operator is not known");
  const bool has_version =
      std::any_of(op->versions.begin(), op->versions.end(),
                  [&](const OpVersion& version) { return version.since == step.version; });
  if (!has_version) refuse(step, fmt::format("there is no version {}", step.version));
  const auto types_of = [&](const ValueIds& ids) {
    std::vector<const ValueType*> types;
    for (ValueId id : ids) {
      types.push_back(id == ValueId::kNone ? nullptr
                                           : &program.buffers[static_cast<size_t>(id)].type);
      if (types.back() == nullptr) continue;
      const ValueType& type = *types.back();
      if (!type.holds_values() && (!type.is_tensor() || type.element == DataType::kUndefined)) {
        refuse(step, "the type of a value is not known");
      }
    }
    return types;
  };
  const std::vector<const ValueType*> inputs = types_of(step.inputs);
  const std::vector<const ValueType*> outputs = types_of(step.outputs);
  const Schema& schema = schema_of(*op, step.version);
  if (subprograms.empty()) return check_node(step, schema, inputs, nullptr, outputs);
  // A program keeps subgraphs beside the step, where the schema knows an attribute.
  static const std::shared_ptr<Graph>& any = *new std::shared_ptr<Graph>(new Graph);
  Node node = step;
  for (const SubProgram& sub : subprograms) node.attributes.set(sub.attribute, any);
  check_node(node, schema, inputs, nullptr, outputs);
}

void check_subprogram(const Program& program, const SubProgram& sub) {
  const Node& step = program.steps[static_cast<size_t>(sub.step)];
  const OpDef* op = find_op(step.domain, step.op);
  if (op == nullptr || !op->has(kControlFlow)) refuse(step, "does not run subprograms");
  if (sub.captures.size() > sub.program.inputs.size()) {
    refuse(step, fmt::format("its subprogram '{}' takes {} inputs but is given {}", sub.attribute,
                             sub.program.inputs.size(), sub.captures.size()));
  }
  const size_t formals = sub.program.inputs.size() - sub.captures.size();
  for (size_t i = 0; i < sub.captures.size(); ++i) {
    const ValueType& outer = program.buffers[static_cast<size_t>(sub.captures[i])].type;
    const int32_t inner = sub.program.inputs[formals + i];
    if (!same_kind(outer, sub.program.buffers[static_cast<size_t>(inner)].type)) {
      refuse(step,
             fmt::format("its subprogram '{}' captures a value of another type", sub.attribute));
    }
  }
  check_program(sub.program);
}

}  // namespace

artifact::Facets facets_of(const Program& program, Isa isa, int block) {
  artifact::Facets facets;
  facets.provider = kProviderName;
  facets.architecture = kArchitecture;
  facets.target = to_string(isa);
  if (isa != Isa::kBaseline) facets.required_isa = {facets.target};
  facets.tuning["block"] = block;
  add_rows(program, facets);
  return facets;
}

artifact::Offer offer() {
  artifact::Offer offer;
  offer.provider = kProviderName;
  offer.architecture = kArchitecture;
  offer.hidden_by = "SARDONYX_MAX_ISA";
  for (Isa isa : supported_isas()) {
    (isa <= best_isa() ? offer.isa : offer.hidden_isa).push_back(to_string(isa));
  }
  offer.version_of_row = [](std::string_view row) -> std::optional<uint32_t> {
    const size_t dot = row.rfind('.');
    const bool has_domain = dot != std::string_view::npos;
    const OpDef* op =
        find_op(has_domain ? row.substr(0, dot) : "", has_domain ? row.substr(dot + 1) : row);
    if (op == nullptr || row != row_name(*op)) return std::nullopt;
    return row_version(*op);
  };
  offer.tuning["block"] = CompileOptions().block;
  return offer;
}

Isa target_of(const artifact::Facets& facets) {
  const std::optional<Isa> isa = parse_isa(facets.target);
  if (isa && *isa <= best_isa()) return *isa;
  if (isa) {
    // The levels it says it needs are checked first: this one is not among them.
    throw Error(ErrorCode::kFail, fmt::format("the compiled model is for {}, which is not here; "
                                              "this machine offers {}",
                                              facets.target, to_string(best_isa())));
  }
  throw Error(ErrorCode::kFail, fmt::format("the compiled model is for '{}', which is no known "
                                            "level of instructions",
                                            facets.target));
}

bool same_kind(const ValueType& a, const ValueType& b) {
  if (a.kind != b.kind || a.element != b.element) return false;
  if ((a.inner == nullptr) != (b.inner == nullptr)) return false;
  return a.inner == nullptr || same_kind(*a.inner, *b.inner);
}

void check_program(const Program& program) {
  // They come in the order of their steps.
  const std::span<const SubProgram> all(program.subprograms);
  size_t next = 0;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const size_t first = next;
    while (next < all.size() && static_cast<size_t>(all[next].step) == i) ++next;
    check_step(program, program.steps[i], all.subspan(first, next - first));
  }
  for (const SubProgram& sub : program.subprograms) check_subprogram(program, sub);
}

}  // namespace sardonyx::cpu
