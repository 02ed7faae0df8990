#include "ops/dump.h"

#include <fmt/format.h>

#include "ops/op.h"

namespace sardonyx {
namespace {

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

template <typename List, typename Print>
std::string join(const List& list, char open, char close, Print print) {
  std::string text(1, open);
  bool first = true;
  for (const auto& each : list) {
    if (!first) text += ", ";
    first = false;
    text += print(each);
  }
  return text + close;
}

std::string print_parameter(const FormalParameter& parameter) {
  using Arity = FormalParameter::Arity;
  const char* arity = parameter.arity == Arity::kSingle     ? "single"
                      : parameter.arity == Arity::kOptional ? "optional"
                                                            : "variadic";
  return fmt::format(
      R"({{"name": {}, "type": {}, "arity": "{}", "homogeneous": {}, "minimum": {}}})",
      quote(parameter.name), quote(parameter.type), arity, parameter.homogeneous,
      parameter.minimum);
}

struct PrintDefault {
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(float value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return quote(value); }
  template <typename T>
  std::string operator()(const std::vector<T>& values) const {
    if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, float> ||
                  std::is_same_v<T, std::string>) {
      return join(values, '[', ']', *this);
    }
    return "null";
  }
  template <typename T>
  std::string operator()(const T&) const {
    return "null";
  }
};

std::string print_attribute(const AttributeSpec& attribute) {
  std::string text = fmt::format(R"({{"name": {}, "kind": {}, "required": {})",
                                 quote(attribute.name), quote(attribute.kind), attribute.required);
  if (attribute.fallback)
    text += ", \"default\": " + std::visit(PrintDefault{}, *attribute.fallback);
  return text + "}";
}

std::string print_version(const OpDef& op, const OpVersion& version) {
  const Schema& schema = schema_of(op, version.since);
  return fmt::format(
      R"({{"since": {}, "inputs": {}, "outputs": {}, "attributes": {}, "constraints": {}}})",
      version.since, join(schema.inputs, '[', ']', print_parameter),
      join(schema.outputs, '[', ']', print_parameter),
      join(schema.attributes, '[', ']', print_attribute),
      join(schema.constraints, '{', '}', [](const auto& constraint) {
        return quote(constraint.first) + ": " + join(constraint.second, '[', ']', quote);
      }));
}

std::string print_traits(const OpDef& op) {
  constexpr std::pair<OpTrait, const char*> kNames[] = {
      {kElementwise, "elementwise"},
      {kCommutative, "commutative"},
      {kZeroPreserving, "zero_preserving"},
      {kNonDeterministic, "non_deterministic"},
      {kDataDependentShape, "data_dependent_shape"},
      {kControlFlow, "control_flow"},
      {kView, "view"},
      {kNoFold, "no_fold"},
      {kShapeOnly, "shape_only"},
  };
  std::vector<std::string> traits;
  for (const auto& [trait, name] : kNames) {
    if (op.has(trait)) traits.push_back(quote(name));
  }
  return join(traits, '[', ']', [](const std::string& name) { return name; });
}

std::string print_op(const OpDef* op) {
  return fmt::format("{{\"domain\": {}, \"name\": {}, \"traits\": {}, \"versions\": {}}}",
                     quote(op->domain), quote(op->name), print_traits(*op),
                     join(op->versions, '[', ']', [op](const OpVersion& version) {
                       return "\n  " + print_version(*op, version);
                     }));
}

}  // namespace

std::string dump_operators_json() {
  std::string text = "[";
  bool first = true;
  for (const OpDef* op : all_ops()) {
    text += first ? "\n" : ",\n";
    first = false;
    text += print_op(op);
  }
  return text + "\n]\n";
}

}  // namespace sardonyx
