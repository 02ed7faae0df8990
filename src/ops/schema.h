// Schema: one version of an operator as the standard states it: formal inputs and outputs,
// attributes, type constraints. Written in the operator's file as one text and parsed on first use:
//
//   "X: T, W: T, B: T? -> Y: T | group: int = 1, kernel_shape: ints? | T: @float"
//
//   parameters   name: type, then '?' optional, '...' variadic of one type, '~...' variadic of
//                mixed types, a '0' behind either: may be empty; a type is a variable (T) or a
//                concrete type ("int64", "seq(float)")
//   attributes   name: kind ('int', 'float', 'string', 'ints', ..., 'graph'), then '= value' for a
//                default (1, -0.5, 'text', [1, 2], ['a']), '!' required, '?' optional without
//   constraints  variable: types separated by blanks; '@group' stands for a named set (kTypeGroups
//                in schema.cc); constraints are separated by ','
//
// tools/schema_lines.py prints these texts from the standard. Read by the resolver (binding,
// validation), by `sardonyx ops` and by the conformance test.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace sardonyx {

struct FormalParameter {
  enum class Arity : uint8_t { kSingle, kOptional, kVariadic };
  std::string name;
  std::string type;  // variable or concrete type string
  Arity arity = Arity::kSingle;
  bool homogeneous = true;  // of a variadic
  int minimum = 1;          // of a variadic: 0 or 1
};

struct AttributeSpec {
  std::string name;
  std::string kind;  // as kind_name() of ir/attribute.h
  bool required = false;
  std::optional<AttributeValue> fallback;
};

struct Schema {
  int since_version = 1;
  std::vector<FormalParameter> inputs;
  std::vector<FormalParameter> outputs;
  std::vector<AttributeSpec> attributes;
  std::map<std::string, std::vector<std::string>> constraints;  // variable -> type strings

  const AttributeSpec* find_attribute(std::string_view name) const;
};

// Throws Error(kFail) on a malformed line: a defect of the operator's file, caught by its test.
Schema parse_schema(int since_version, std::string_view text);

// "float", "seq(int64)", "optional(seq(float))", "map(int64,float)": the string that constraints
// use.
std::string type_string(const ValueType& type);

}  // namespace sardonyx
