// sardonyx ops: the operators this build knows, with versions and types.

#include "ops/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command.h"

namespace sardonyx::cli {
namespace {

struct Arguments {
  std::string filter;
  bool internal = false;
  bool json = false;
};

std::string full_name(const OpDef& op) {
  return op.domain.empty() ? std::string(op.name) : fmt::format("{}.{}", op.domain, op.name);
}

std::vector<const OpDef*> chosen_ops(const Arguments& arguments) {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : all_ops()) {
    if (op->domain == kInternalDomain && !arguments.internal) continue;
    if (full_name(*op).find(arguments.filter) != std::string::npos) ops.push_back(op);
  }
  std::sort(ops.begin(), ops.end(), [](const OpDef* a, const OpDef* b) {
    return std::pair(a->domain, a->name) < std::pair(b->domain, b->name);
  });
  return ops;
}

// The newest version's: types of each variable of the schema.
const Schema& newest_schema(const OpDef& op) { return schema_of(op, op.versions.back().since); }

nlohmann::ordered_json as_json(const OpDef& op) {
  nlohmann::ordered_json entry;
  entry["domain"] = op.domain;
  entry["name"] = op.name;
  entry["versions"] = nlohmann::ordered_json::array();
  for (const OpVersion& version : op.versions) entry["versions"].push_back(version.since);
  if (op.versions.empty()) return entry;
  const Schema& schema = newest_schema(op);
  const auto add_parameters = [&](const char* key, const std::vector<FormalParameter>& formals) {
    entry[key] = nlohmann::ordered_json::array();
    for (const FormalParameter& formal : formals) {
      entry[key].push_back({{"name", formal.name},
                            {"type", formal.type},
                            {"optional", formal.arity == FormalParameter::Arity::kOptional},
                            {"variadic", formal.arity == FormalParameter::Arity::kVariadic}});
    }
  };
  add_parameters("inputs", schema.inputs);
  add_parameters("outputs", schema.outputs);
  entry["types"] = schema.constraints;
  return entry;
}

void print_text(const OpDef& op) {
  std::vector<int> versions;
  for (const OpVersion& version : op.versions) versions.push_back(version.since);
  fmt::print("{:36} {}\n", full_name(op), fmt::join(versions, " "));
  if (op.versions.empty()) return;
  for (const auto& [variable, types] : newest_schema(op).constraints) {
    fmt::print("    {}: {}\n", variable, fmt::join(types, " "));
  }
}

int list_ops(const Arguments& arguments) {
  const std::vector<const OpDef*> ops = chosen_ops(arguments);
  if (arguments.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const OpDef* op : ops) list.push_back(as_json(*op));
    fmt::print("{}\n", list.dump(2));
  } else {
    for (const OpDef* op : ops) print_text(*op);
    fmt::print("{} operators\n", ops.size());
  }
  return kExitOk;
}

}  // namespace

void declare_ops(Verb& verb) {
  const auto arguments = std::make_shared<Arguments>();
  verb.optional_positional("filter", arguments->filter, "Only operators whose name contains this");
  verb.flag("--internal", arguments->internal, "Also those that only optimising makes");
  verb.flag("--json", arguments->json, "Print JSON");
  verb.footer(R"(
Versions are the opset versions in which the standard changed the operator; models of any opset from
the first on run. Types are those of the newest version.

Example:
  sardonyx ops Conv)");
  verb.action([arguments] {
    check_environment();
    return list_ops(*arguments);
  });
}

}  // namespace sardonyx::cli
