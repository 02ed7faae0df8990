#include "sardonyx/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "artifact/artifact.h"
#include "base/cpu.h"
#include "base/staged_file.h"
#include "cpu/compile.h"
#include "cpu/facets.h"
#include "onnx/ep_context.h"
#include "onnx/writer.h"
#include "sardonyx/session.h"
#include "session/compile_model.h"
#include "session/compiled_model.h"
#include "session/log.h"
#include "session/model_info.h"
#include "session/prepared_shapes.h"
#include "session/source_hash.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

using Sink = std::function<void(std::span<const std::byte>)>;

constexpr std::string_view kSuffix = "_ctx.onnx";

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

struct TargetName {
  const char* name;
  Isa isa;
};
// Of the architecture of this build: nothing is compiled for another one.
constexpr TargetName kTargets[] = {
    {"baseline", Isa::kBaseline},
#if defined(__x86_64__)
    {"x86-64-v2", Isa::kSse4},
    {"x86-64-v3", Isa::kAvx2},
    {"x86-64-v4", Isa::kAvx512},
#endif
};

Isa parse_target(const std::string& name) {
  if (name == "native") return best_isa();
  std::string known = "native";
  for (const TargetName& target : kTargets) {
    if (name == target.name) return target.isa;
    known += fmt::format(", {}", target.name);
  }
  refuse(fmt::format("the target '{}' is not known; expected one of {}", name, known));
}

// Where the two files go.
struct Outputs {
  fs::path model;
  fs::path compiled;  // empty: embedded
};

// `holds_compiled` looks into an existing file: only a compiled model of ours is replaced.
void check_free(const fs::path& path, bool overwrite,
                bool (*holds_compiled)(std::span<const std::byte>)) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::none) {
    refuse(fmt::format("cannot write to '{}': {}", path.string(), error.message()));
  }
  if (status.type() == fs::file_type::not_found) {
    const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
    if (!fs::is_directory(folder, error)) {
      refuse(fmt::format("there is no folder '{}' to write '{}' into", folder.string(),
                         path.filename().string()));
    }
    return;
  }
  if (status.type() != fs::file_type::regular) {
    refuse(fmt::format("'{}' is no file that could be replaced ({})", path.string(),
                       status.type() == fs::file_type::directory ? "a folder"
                       : status.type() == fs::file_type::symlink ? "a symbolic link"
                                                                 : "a device, pipe or socket"));
  }
  if (!overwrite) {
    refuse(
        fmt::format("'{}' exists; remove it, choose another output, or replace it with --overwrite "
                    "(CompileOptions::overwrite)",
                    path.string()));
  }
  const ModelBytes bytes = open_model(path);
  if (bytes.bytes.empty() || holds_compiled(bytes.bytes)) return;
  refuse(
      fmt::format("'{}' is no compiled model, so it is not replaced; remove it or choose another "
                  "output",
                  path.string()));
}

bool is_wrapper(std::span<const std::byte> bytes) {
  try {
    const std::optional<EpContextModel> model = find_ep_context(bytes);
    return model && model->other_nodes == 0 &&
           std::ranges::all_of(model->nodes, [](const EpContextNode& node) {
             return node.source == cpu::kProviderName;
           });
  } catch (const Error&) {
    return false;
  }
}

Outputs plan_outputs(const ModelSource& source, const fs::path& output,
                     const CompileOptions& options) {
  Outputs outputs;
  outputs.model = output;
  if (output.empty()) {
    if (source.in_memory) refuse("a model in memory has no place beside it; give an output path");
    outputs.model = source.path;
    outputs.model.replace_filename(source.path.stem().string() + std::string(kSuffix));
  }
  std::error_code error;
  if (!source.in_memory && fs::equivalent(outputs.model, source.path, error)) {
    refuse(fmt::format("the output '{}' is the model itself", outputs.model.string()));
  }
  check_free(outputs.model, options.overwrite, &is_wrapper);
  if (!outputs.model.has_filename() || !outputs.model.has_extension()) {
    refuse(fmt::format("the output '{}' has no extension; expected a file name like model_ctx.onnx",
                       outputs.model.string()));
  }
  if (options.embed) return outputs;
  std::string stem = outputs.model.filename().string();
  stem = stem.ends_with(kSuffix) ? stem.substr(0, stem.size() - kSuffix.size())
                                 : outputs.model.stem().string();
  outputs.compiled = outputs.model;
  outputs.compiled.replace_filename(fmt::format("{}_{}.bin", stem, cpu::kProviderName));
  check_free(outputs.compiled, options.overwrite, &artifact::is_artifact);
  return outputs;
}

// The ONNX file around a compiled part: the source's inputs, outputs and metadata, one node.
class Wrapper {
 public:
  // Called with the model as imported.
  void take_interface(const Model& source) {
    model_.ir_version = source.ir_version;
    model_.producer_name = source.producer_name;
    model_.producer_version = source.producer_version;
    model_.domain = source.domain;
    model_.model_version = source.model_version;
    model_.doc = source.doc;
    model_.metadata = source.metadata;
    const auto version = source.opset_imports.find("");
    if (version != source.opset_imports.end()) model_.opset_imports[""] = version->second;
    model_.opset_imports[std::string(kEpContextDomain)] = 1;
    const Graph& from = *source.graph;
    model_.graph = std::make_unique<Graph>(from.shared_dims());
    Graph& graph = *model_.graph;
    graph.name = from.name;
    graph.doc = from.doc;
    std::vector<ValueId> copy(from.value_count(), ValueId::kNone);
    for (ValueId id : from.inputs()) {
      const GraphValue& value = from.value(id);
      const ValueId input = graph.add_input(value.name, value.type);
      graph.value(input).doc = value.doc;
      graph.value(input).metadata = value.metadata;
      copy[static_cast<size_t>(id)] = input;
      node_.inputs.push_back(input);
    }
    for (ValueId id : from.outputs()) {
      ValueId& output = copy[static_cast<size_t>(id)];
      // An output that is an input, or comes twice, is not the node's to produce.
      const bool is_new = output == ValueId::kNone;
      if (is_new) {
        const GraphValue& value = from.value(id);
        output = graph.add_value(value.name, value.type);
        graph.value(output).doc = value.doc;
        graph.value(output).metadata = value.metadata;
      }
      node_.outputs.push_back(is_new ? output : ValueId::kNone);
      outputs_.push_back(output);
    }
  }

  // `location`: of the compiled file; empty: embedded.
  Model finish(const artifact::Facets& facets, const std::string& identity,
               const std::string& location, const std::string& source_file) {
    const std::string key = fmt::format("ep_compatibility_info.{}", cpu::kProviderName);
    std::erase_if(model_.metadata, [&](const auto& entry) { return entry.first == key; });
    model_.metadata.emplace_back(key, artifact::compatibility_info(facets));
    node_.domain = kEpContextDomain;
    node_.op = kEpContextOp;
    node_.version = 1;
    node_.name = fmt::format("{}_0", cpu::kProviderName);
    Attributes& attributes = node_.attributes;
    attributes.set("main_context", int64_t{1});
    attributes.set("embed_mode", int64_t{location.empty() ? 1 : 0});
    attributes.set("source", std::string(cpu::kProviderName));
    attributes.set("ep_sdk_version", std::string("sardonyx ") + version());
    attributes.set("partition_name", node_.name);
    attributes.set("notes", fmt::format("{}{}", kIdentityNote, identity));
    if (!source_file.empty()) attributes.set("onnx_model_filename", source_file);
    if (!location.empty()) attributes.set("ep_cache_context", location);
    model_.graph->add_node(std::move(node_));
    for (ValueId id : outputs_) model_.graph->add_output(id);
    return std::move(model_);
  }

 private:
  Model model_;
  Node node_;
  std::vector<ValueId> outputs_;
};

struct Compiled {
  artifact::CompiledPart part;
  artifact::Manifest manifest;
  Wrapper wrapper;
  std::string source_file;
  CompileReport report;
};

std::vector<ValueInfo> inputs_of(const Model& model) {
  std::vector<ValueInfo> inputs;
  for (ValueId id : model.graph->inputs()) inputs.push_back(value_info_of(*model.graph, id));
  return inputs;
}

void check_not_compiled(const ModelSource& source) {
  const ModelBytes bytes = open_model(source);
  bool is_compiled = artifact::is_artifact(bytes.bytes);
  try {
    is_compiled = is_compiled || find_ep_context(bytes.bytes).has_value();
  } catch (const Error& error) {
    // Reading the model says it better.
  }
  if (is_compiled) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{} is compiled already; compile the model it was made from",
                            source.in_memory ? "the model" : "'" + source.path.string() + "'"));
  }
}

Compiled compile_part(const ModelSource& source, const CompileOptions& options) {
  Compiled result;
  const Isa isa = parse_target(options.target);
  check_not_compiled(source);
  CompiledModel model = compile_model(source, options.options, isa,
                                      [&](std::string_view stage, const Model& imported) {
                                        if (stage != "imported") return;
                                        // What does not fit is refused before the work begins.
                                        order_shapes(options.shapes, inputs_of(imported));
                                        result.wrapper.take_interface(imported);
                                      });
  const Log log(options.options);
  for (const std::string& warning : model.warnings) log.write(LogLevel::kWarning, warning);
  result.report.nodes = static_cast<size_t>(model.canonical.nodes_before);
  result.report.steps = model.program.steps.size();
  artifact::CompiledPart& part = result.part;
  part.shapes = order_shapes(options.shapes, model.inputs);
  check_shapes_fit(model.program, isa, model.inputs, part.shapes);
  part.facets = cpu::facets_of(model.program, isa, cpu::CompileOptions().block);
  part.program = std::move(model.program);
  part.inputs = std::move(model.inputs);
  part.outputs = std::move(model.outputs);
  part.defaults = std::move(model.defaults);
  part.metadata = std::move(model.metadata);
  part.warnings = std::move(model.warnings);
  if (!source.in_memory) result.source_file = source.path.filename().string();
  artifact::Manifest& manifest = result.manifest;
  manifest.producer = std::string("sardonyx ") + version();
  manifest.source_file = result.source_file;
  manifest.source_hash = source_hash(source);
  manifest.options["level"] = fmt::format("{}", static_cast<int>(options.options.level));
  manifest.options["target"] = options.target;
  if (!options.options.disabled_passes.empty()) {
    manifest.options["disabled_passes"] =
        fmt::format("{}", fmt::join(options.options.disabled_passes, ","));
  }
  if (options.options.max_edits >= 0) {
    manifest.options["max_edits"] = std::to_string(options.options.max_edits);
  }
  for (const auto& [name, value] : options.options.free_dimensions) {
    manifest.options["dimension." + name] = std::to_string(value);
  }
  return result;
}

artifact::WriteOptions write_options(const Options& options) {
  artifact::WriteOptions write;
  write.cancel = options.cancel.flag();
  if (options.progress) {
    write.progress = [&options](double done) { options.progress("write", 0.9 + 0.1 * done); };
  }
  return write;
}

// Writes the whole model, with the part inside, to `sink`.
void write_embedded(Compiled& compiled, const Options& options, const Sink& sink) {
  const artifact::WriteOptions write = write_options(options);
  artifact::ArtifactWriter part(compiled.part, compiled.manifest, write);
  compiled.report.compiled_bytes = part.size_bytes();
  const Model model =
      compiled.wrapper.finish(compiled.part.facets, part.identity(), "", compiled.source_file);
  const Sink count_and_sink = [&](std::span<const std::byte> bytes) {
    compiled.report.model_bytes += bytes.size();
    sink(bytes);
  };
  write_with_embedded_context(
      model, part.size_bytes(), [&] { part.write(count_and_sink); }, count_and_sink);
}

// The files to write, begun before anything is compiled: where they cannot be had is known at once.
class OutputFiles {
 public:
  explicit OutputFiles(const Outputs& outputs) : model_(outputs.model.string()) {
    if (outputs.compiled.empty()) return;
    location_ = outputs.compiled.filename().string();
    part_.emplace(outputs.compiled.string());
  }

  void write(Compiled& compiled, const Options& options) {
    if (!part_) {
      write_embedded(compiled, options,
                     [&](std::span<const std::byte> bytes) { model_.write(bytes); });
      model_.publish();
      return;
    }
    const artifact::WriteOptions write = write_options(options);
    artifact::ArtifactWriter part(compiled.part, compiled.manifest, write);
    compiled.report.compiled_bytes = part.size_bytes();
    part.write([&](std::span<const std::byte> bytes) { part_->write(bytes); });
    const std::vector<std::byte> bytes = write_model(compiled.wrapper.finish(
        compiled.part.facets, part.identity(), location_, compiled.source_file));
    compiled.report.model_bytes = bytes.size();
    model_.write(bytes);
    StagedFile::publish_both(*part_, model_);
  }

 private:
  StagedFile model_;
  std::optional<StagedFile> part_;
  std::string location_;  // of the part, as the model names it
};

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

CompileReport compile(const ModelSource& model, const std::filesystem::path& output,
                      const CompileOptions& options) {
  const Stopwatch watch;
  if (!model.in_memory) open_model(model);  // what is no model says so before its outputs do
  const Outputs outputs = plan_outputs(model, output, options);
  OutputFiles files(outputs);
  Compiled compiled = compile_part(model, options);
  files.write(compiled, options.options);
  compiled.report.model = outputs.model;
  compiled.report.compiled = outputs.compiled;
  compiled.report.seconds = watch.seconds();
  if (options.options.progress) options.options.progress("ready", 1.0);
  return compiled.report;
}

CompileReport compile_to(const ModelSource& model, const Sink& sink,
                         const CompileOptions& options) {
  if (!sink) refuse("there is no function to write the compiled model with");
  const Stopwatch watch;
  Compiled compiled = compile_part(model, options);
  write_embedded(compiled, options.options, sink);
  compiled.report.seconds = watch.seconds();
  if (options.options.progress) options.options.progress("ready", 1.0);
  return compiled.report;
}

}  // namespace sardonyx
