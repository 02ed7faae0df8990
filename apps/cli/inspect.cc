// sardonyx inspect: what a model says about itself, and what optimising makes of it.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command.h"
#include "inspect_graph.h"
#include "inspect_plan.h"
#include "model_file.h"
#include "progress.h"
#include "session/compiled_info.h"
#include "session/compiled_model.h"
#include "text.h"

namespace sardonyx::cli {
namespace {

constexpr const char* kFooter = R"(
Stages of a model: imported (as the file says; functions are calls), canonical (portable operators,
what optimising leaves), fused (with internal operators), lowered (layouts and packed weights
chosen). --plan shows what a run with given inputs does and where its memory lies; inputs are
random unless --input gives them.

Examples:
  sardonyx inspect model.onnx
  sardonyx inspect model.onnx --graph canonical
  sardonyx inspect model.onnx --level basic --json
  sardonyx inspect model.onnx --plan --shape x=1x3x224x224 --svg plan.svg)";

struct Arguments {
  std::string model;
  std::string graph_stage;
  int64_t max_elements = 8;
  bool json = false;
  SessionOptions session;
  PlanOptions plan;
};

void print_values(const char* title, const std::vector<ValueInfo>& infos) {
  print("{}\n", title);
  for (const ValueInfo& info : infos) {
    print("  {}: {}{}\n", info.name, info.type, info.is_optional ? " (has a default)" : "");
  }
}

void print_metadata(const ModelMetadata& metadata) {
  const auto line = [](const char* name, const std::string& text) {
    if (!text.empty()) print("{:10} {}\n", name, text);
  };
  line("graph", metadata.graph_name);
  line("producer", metadata.producer_name + (metadata.producer_version.empty() ? "" : " ") +
                       metadata.producer_version);
  line("domain", metadata.domain);
  line("text", metadata.description);
  print("{:10} {}\n", "version", metadata.model_version);
  print("{:10} {}\n", "IR", metadata.ir_version);
  for (const auto& [domain, version] : metadata.opset_imports) {
    print("{:10} {} {}\n", "opset", domain.empty() ? "ai.onnx" : domain, version);
  }
  for (const auto& [key, text] : metadata.custom) {
    constexpr size_t kShown = 60;
    const std::string first = text.substr(0, std::min(text.find('\n'), kShown));
    print("{:10} {} = {}{}\n", "metadata", key, first,
          first.size() < text.size() ? fmt::format("... ({} bytes)", text.size()) : "");
  }
}

void print_operators(const Inspection& inspection) {
  std::map<std::string, std::vector<int64_t>> rows;
  std::vector<int64_t> totals(inspection.stages.size(), 0);
  size_t width = 0;
  for (size_t i = 0; i < inspection.stages.size(); ++i) {
    for (const auto& [name, count] : inspection.stages[i].operators) {
      std::vector<int64_t>& row = rows[name];
      row.resize(inspection.stages.size(), 0);
      row[i] = count;
      totals[i] += count;
      width = std::max(width, one_line(name).size());
    }
  }
  rows["total"] = totals;
  print("nodes by operator\n  {:{}}", "", width);
  for (const StageCounts& stage : inspection.stages) print(" {:>9}", stage.name);
  print("\n");
  for (const auto& [name, counts] : rows) {
    print("  {:{}}", name, width);
    for (const int64_t count : counts) {
      print(" {:>9}", count == 0 ? std::string("-") : std::to_string(count));
    }
    print("\n");
  }
}

// Rows that did nothing are left out; --json has them.
void print_passes(const Inspection& inspection) {
  print("passes and rules\n  {:20} {:9} {:>9} {:>8}  {}\n", "", "stage", "ms", "applied",
        "rejected");
  for (const PassRow& row : inspection.passes) {
    if (row.applied == 0 && row.rejected.empty()) continue;
    std::string rejected;
    for (const auto& [reason, count] : row.rejected) {
      rejected += fmt::format("{}{} x{}", rejected.empty() ? "" : ", ", reason, count);
    }
    print("  {:20} {:9} {:>9.3f} {:>8}  {}\n", row.name, row.stage, row.milliseconds, row.applied,
          rejected);
  }
}

nlohmann::ordered_json as_json(const std::vector<ValueInfo>& infos) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ValueInfo& info : infos) {
    nlohmann::ordered_json& entry = list.emplace_back();
    entry["name"] = info.name;
    entry["type"] = info.type;
    entry["element_type"] = to_string(info.element_type);
    if (info.has_shape) {
      nlohmann::ordered_json shape = nlohmann::ordered_json::array();
      for (size_t d = 0; d < info.shape.size(); ++d) {
        const bool is_open = info.shape[d] < 0;
        shape.push_back(!is_open                  ? nlohmann::ordered_json(info.shape[d])
                        : info.symbols[d].empty() ? nlohmann::ordered_json(nullptr)
                                                  : nlohmann::ordered_json(info.symbols[d]));
      }
      entry["shape"] = shape;
    }
    entry["optional"] = info.is_optional;
  }
  return list;
}

nlohmann::ordered_json as_json(const Inspection& inspection) {
  const ModelMetadata& metadata = inspection.metadata;
  nlohmann::ordered_json result;
  result["metadata"] = {{"graph", metadata.graph_name},
                        {"producer", metadata.producer_name},
                        {"producer_version", metadata.producer_version},
                        {"domain", metadata.domain},
                        {"description", metadata.description},
                        {"version", metadata.model_version},
                        {"ir_version", metadata.ir_version},
                        {"opsets", metadata.opset_imports},
                        {"custom", metadata.custom}};
  result["inputs"] = as_json(inspection.inputs);
  result["outputs"] = as_json(inspection.outputs);
  for (const StageCounts& stage : inspection.stages) {
    result["operators"][stage.name] = stage.operators;
  }
  result["passes"] = nlohmann::ordered_json::array();
  for (const PassRow& row : inspection.passes) {
    result["passes"].push_back({{"name", row.name},
                                {"stage", row.stage},
                                {"ms", row.milliseconds},
                                {"applied", row.applied},
                                {"rejected", row.rejected}});
  }
  if (!inspection.last_edit.empty()) result["last_edit"] = inspection.last_edit;
  result["warnings"] = inspection.warnings;
  return result;
}

void print_parts(const std::vector<CompiledPartInfo>& parts) {
  for (const CompiledPartInfo& part : parts) {
    print("compiled   {}{}\n", part.node.empty() ? "" : part.node + ", ",
          part.file.empty() ? "embedded" : part.file);
    print("  verdict  {}{}{}\n", to_string(part.verdict.compatibility),
          part.verdict.reason.empty() ? "" : ": ", part.verdict.reason);
    print("  format   {}, for {}, needs {}\n", part.format, part.target,
          part.required_isa.empty() ? "nothing special"
                                    : fmt::format("{}", fmt::join(part.required_isa, ", ")));
    for (const CompiledSection& section : part.sections) {
      print("  {:8} {:>12} bytes at {}\n", section.name, section.size_bytes, section.offset);
    }
    std::vector<std::string> rows;
    for (const auto& [name, version] : part.rows)
      rows.push_back(fmt::format("{} {}", name, version));
    print("  rows     {}\n", fmt::format("{}", fmt::join(rows, ", ")));
  }
}

nlohmann::ordered_json as_json(const std::vector<CompiledPartInfo>& parts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const CompiledPartInfo& part : parts) {
    nlohmann::ordered_json& entry = list.emplace_back();
    entry["node"] = part.node;
    entry["file"] = part.file;
    entry["verdict"] = {{"status", static_cast<int>(part.verdict.compatibility)},
                        {"verdict", to_string(part.verdict.compatibility)},
                        {"facet", part.verdict.facet},
                        {"reason", part.verdict.reason}};
    entry["format"] = part.format;
    entry["target"] = part.target;
    entry["required_isa"] = part.required_isa;
    entry["rows"] = part.rows;
    for (const CompiledSection& section : part.sections) {
      entry["sections"].push_back(
          {{"name", section.name}, {"offset", section.offset}, {"size_bytes", section.size_bytes}});
    }
    entry["manifest"] = nlohmann::ordered_json::parse(part.manifest, nullptr, false);
  }
  return list;
}

// What there is to say about a model without a graph.
Inspection inspect_compiled(const Arguments& arguments,
                            const std::vector<CompiledPartInfo>& parts) {
  if (!arguments.graph_stage.empty()) {
    throw CommandError(kExitUsage, ErrorCode::kInvalidArgument,
                       "--graph: the model is compiled and has no graph; inspect the model it was "
                       "made from, or use --plan");
  }
  Inspection inspection;
  for (const CompiledPartInfo& part : parts) {
    if (part.verdict.compatibility == Compatibility::kUnsupported) return inspection;
  }
  try {
    if (auto model = load_compiled_model(arguments.model, arguments.session.make())) {
      inspection.metadata = std::move(model->metadata);
      inspection.inputs = std::move(model->inputs);
      inspection.outputs = std::move(model->outputs);
      inspection.warnings = std::move(model->warnings);
    }
  } catch (const Error& error) {
    throw model_error(arguments.model, error);
  }
  return inspection;
}

int inspect(const Arguments& arguments) {
  if (arguments.plan.is_wanted()) {
    return inspect_plan(arguments.model, arguments.session, arguments.plan, arguments.json);
  }
  std::vector<CompiledPartInfo> parts;
  try {
    parts = describe_compiled(arguments.model);
  } catch (const Error& error) {
    throw model_error(arguments.model, error);
  }
  const Inspection inspection = parts.empty()
                                    ? inspect_model(arguments.model, arguments.session.make(),
                                                    arguments.graph_stage, arguments.max_elements)
                                    : inspect_compiled(arguments, parts);
  clear_progress();
  if (!arguments.graph_stage.empty()) {
    fmt::print("{}", lines(inspection.graph_text));
    return kExitOk;
  }
  if (arguments.json) {
    // Names in a model need not be UTF-8.
    nlohmann::ordered_json result = as_json(inspection);
    if (!parts.empty()) result["compiled"] = as_json(parts);
    fmt::print("{}\n", result.dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
    return kExitOk;
  }
  print_metadata(inspection.metadata);
  print_values("inputs", inspection.inputs);
  print_values("outputs", inspection.outputs);
  if (parts.empty()) {
    print_operators(inspection);
    print_passes(inspection);
  }
  print_parts(parts);
  if (!inspection.last_edit.empty()) print("last edit: {}\n", inspection.last_edit);
  for (const std::string& warning : inspection.warnings) print("warning: {}\n", warning);
  return kExitOk;
}

}  // namespace

void declare_inspect(Verb& verb) {
  const auto arguments = std::make_shared<Arguments>();
  verb.positional("model", arguments->model, "The ONNX file");
  verb.flag("--json", arguments->json, "Print JSON");
  verb.choice("--graph", arguments->graph_stage,
              "Print the graph of a stage as text; without a name: canonical",
              {"imported", "canonical", "fused", "lowered"}, "canonical");
  verb.number("--max-elements", arguments->max_elements,
              "Elements of a constant that --graph prints; -1: all", -1);
  arguments->plan.declare(verb);
  verb.excludes("--graph", "--plan");
  arguments->session.declare(verb);
  verb.footer(kFooter);
  verb.action([arguments] { return inspect(*arguments); });
}

}  // namespace sardonyx::cli
