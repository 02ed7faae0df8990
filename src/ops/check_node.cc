#include "ops/check_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

using Arity = FormalParameter::Arity;

[[noreturn]] void fail(const Node& node, const std::string& message) {
  throw Error(ErrorCode::kInvalidGraph, fmt::format("{}: {}", describe(node), message));
}

struct Bounds {
  size_t least = 0;
  size_t most = 0;
};

Bounds bounds_of(const std::vector<FormalParameter>& formals) {
  Bounds bounds;
  bounds.most = formals.size();
  for (size_t i = 0; i < formals.size(); ++i) {
    if (formals[i].arity == Arity::kSingle) bounds.least = i + 1;
    if (formals[i].arity == Arity::kVariadic) {
      // None needed: what stands before may be absent, too.
      if (formals[i].minimum > 0) bounds.least = i + static_cast<size_t>(formals[i].minimum);
      bounds.most = SIZE_MAX;
    }
  }
  return bounds;
}

void check_count(const Node& node, const char* what, size_t count, const Bounds& bounds) {
  if (count >= bounds.least && count <= bounds.most) return;
  const std::string expected = bounds.most == SIZE_MAX ? fmt::format("at least {}", bounds.least)
                               : bounds.most == bounds.least
                                   ? fmt::format("{}", bounds.least)
                                   : fmt::format("{} to {}", bounds.least, bounds.most);
  fail(node, fmt::format("has {} {}, expected {}", count, what, expected));
}

void check_arity(const Node& node, const Schema& schema) {
  // Absent parameters at the tail count as missing.
  size_t inputs = node.inputs.size();
  while (inputs > 0 && node.inputs[inputs - 1] == ValueId::kNone) --inputs;
  check_count(node, "inputs", inputs, bounds_of(schema.inputs));
  for (size_t i = 0; i < inputs; ++i) {
    if (node.inputs[i] == ValueId::kNone && i < schema.inputs.size() &&
        schema.inputs[i].arity == Arity::kSingle) {
      fail(node, fmt::format("input {} '{}' is required", i, schema.inputs[i].name));
    }
  }
  size_t outputs = node.outputs.size();
  while (outputs > 0 && node.outputs[outputs - 1] == ValueId::kNone) --outputs;
  Bounds bounds = bounds_of(schema.outputs);
  bounds.least = 0;  // passes drop outputs that nobody uses
  check_count(node, "outputs", outputs, bounds);
}

bool is_empty_list(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::vector<int64_t>> ||
                      std::is_same_v<Held, std::vector<float>> ||
                      std::is_same_v<Held, std::vector<std::string>>) {
          return held.empty();
        }
        return false;
      },
      value);
}

void check_attributes(const Node& node, const Schema& schema,
                      const std::function<void(const std::string&)>* warn) {
  for (const auto& [name, value] : node.attributes) {
    const AttributeSpec* spec = schema.find_attribute(name);
    if (spec == nullptr) {
      std::vector<std::string> names;
      for (const AttributeSpec& known : schema.attributes) names.push_back(known.name);
      const std::string message =
          fmt::format("has no attribute '{}'; its attributes: {}", name,
                      names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
      if (warn == nullptr) fail(node, message);
      (*warn)(fmt::format("{}: {}", describe(node), message));
      continue;
    }
    const bool any_list = is_empty_list(value) && spec->kind.ends_with('s');
    if (spec->kind != kind_name(value) && !any_list) {
      fail(node, fmt::format("attribute '{}' is of kind {}, expected {}", name, kind_name(value),
                             spec->kind));
    }
  }
  for (const AttributeSpec& spec : schema.attributes) {
    if (spec.required && !node.attributes.contains(spec.name)) {
      fail(node, fmt::format("attribute '{}' of kind {} is required", spec.name, spec.kind));
    }
  }
}

// One call per side; a type parameter stands for one type on both.
class TypeChecker {
 public:
  explicit TypeChecker(const Node& node, const Schema& schema) : node_(node), schema_(schema) {}

  void check(const char* side, const std::vector<FormalParameter>& formals,
             std::span<const ValueType* const> types) {
    for (size_t i = 0; i < types.size() && !formals.empty(); ++i) {
      const ValueType* type = types[i];
      if (type == nullptr || type->kind == ValueType::Kind::kUnknown) continue;
      if (type->is_tensor() && type->element == DataType::kUndefined) continue;
      const std::string found = type_string(*type);
      if (found.find('?') != std::string::npos) continue;  // an inner type is not known
      check_one(side, i, formals[std::min(i, formals.size() - 1)], found);
    }
  }

 private:
  void check_one(const char* side, size_t i, const FormalParameter& formal,
                 const std::string& found) {
    const auto constraint = schema_.constraints.find(formal.type);
    if (constraint == schema_.constraints.end()) {
      if (formal.type == found) return;
      fail(node_,
           fmt::format("{} {} '{}' is {}, expected {}", side, i, formal.name, found, formal.type));
    }
    const std::vector<std::string>& allowed = constraint->second;
    if (std::find(allowed.begin(), allowed.end(), found) == allowed.end()) {
      fail(node_, fmt::format("{} {} '{}' is {}, expected one of: {}", side, i, formal.name, found,
                              fmt::join(allowed, ", ")));
    }
    if (!formal.homogeneous) return;
    const auto [it, fresh] = bound_.try_emplace(formal.type, Bound{found, side, i});
    if (!fresh && it->second.type != found) {
      fail(node_,
           fmt::format("{} {} '{}' is {}, expected {} as {} {} (both are {})", side, i, formal.name,
                       found, it->second.type, it->second.side, it->second.index, formal.type));
    }
  }

  struct Bound {
    std::string type;
    const char* side;
    size_t index;
  };
  const Node& node_;
  const Schema& schema_;
  std::map<std::string_view, Bound> bound_;
};

}  // namespace

void check_node(const Node& node, const Schema& schema,
                std::span<const ValueType* const> input_types,
                const std::function<void(const std::string&)>* warn,
                std::span<const ValueType* const> output_types) {
  check_arity(node, schema);
  check_attributes(node, schema, warn);
  TypeChecker checker(node, schema);
  checker.check("input", schema.inputs, input_types);
  checker.check("output", schema.outputs, output_types);
}

}  // namespace sardonyx
