#include "session/compiled_model.h"

#include <fmt/format.h>

#include <cstring>

#include "base/mapped_file.h"
#include "cpu/facets.h"
#include "onnx/model_folder.h"
#include "onnx/reader.h"
#include "session/join_parts.h"
#include "session/model_info.h"

namespace sardonyx {
namespace {

constexpr const char* kWhat = "compiled part";

std::string label(const EpContextNode& node) {
  return fmt::format("EPContext node '{}'", node.name);
}

// What is wrong with a node's part. Its path is the model's, not an argument of the caller.
Error error_of(const EpContextNode& node, const Error& error) {
  const bool is_path = error.code() == ErrorCode::kInvalidArgument;
  return Error(is_path ? ErrorCode::kInvalidGraph : error.code(), error.what())
      .with_context(label(node));
}

// The caller may free a model in memory after create: what is kept of it is copied.
ModelBytes keep(ModelBytes image) {
  if (image.owner != nullptr) return image;
  Tensor copy = Tensor::allocate(DataType::kUint8, Shape{static_cast<int64_t>(image.bytes.size())});
  std::memcpy(copy.data<uint8_t>(), image.bytes.data(), image.bytes.size());
  const auto owner = std::make_shared<const Tensor>(std::move(copy));
  return {{static_cast<const std::byte*>(owner->raw()), image.bytes.size()}, owner};
}

CompiledFile map(std::string path) {
  const auto file = MappedFile::open(path);
  return {std::move(path), {file->bytes(), file}};
}

void check_verdict(const artifact::Facets& facets, std::vector<std::string>& warnings) {
  const Verdict verdict = artifact::judge(facets, cpu::offer());
  switch (verdict.compatibility) {
    case Compatibility::kOptimal:
      return;
    case Compatibility::kPreferRecompilation:
      warnings.push_back(
          fmt::format("the compiled model would be faster if it were compiled "
                      "again: {}",
                      verdict.reason));
      return;
    case Compatibility::kNotApplicable:
    case Compatibility::kUnsupported:
      throw Error(ErrorCode::kFail,
                  fmt::format("the compiled model cannot run here: {}", verdict.reason));
  }
}

// Adds the file to what goes wrong.
template <typename Read>
auto reading(const CompiledFile& file, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (file.path.empty()) throw;
    throw error.with_context("'" + file.path + "'");
  }
}

void check_belongs(const EpContextNode& node, const ModelSource& source, const CompiledFile& file) {
  const std::string identity = artifact::identity_of(file.image.bytes);
  const std::string_view notes = node.notes;
  const bool is_named = notes.starts_with(kIdentityNote);
  // A part inside the model cannot be taken for another's.
  if (!is_named && file.path.empty()) return;
  if (is_named && notes.substr(kIdentityNote.size()) == identity) return;
  const std::string model =
      source.in_memory ? "the model" : fmt::format("'{}'", source.path.string());
  const std::string part =
      file.path.empty() ? "the compiled part inside it" : fmt::format("'{}'", file.path);
  throw NotTogether(Error(
      ErrorCode::kFail,
      fmt::format("{} and {} do not belong together: the first was {}, the second is {}; copy both "
                  "files from one place, or compile the source model again with --overwrite",
                  model, part,
                  is_named ? fmt::format("written with the container {}",
                                         notes.substr(kIdentityNote.size(), 40))
                           : "written without saying with which container",
                  identity)));
}

artifact::CompiledPart read_part(const EpContextNode* node, const ModelSource& source,
                                 const CompiledFile& file, const Options& options,
                                 std::vector<std::string>& warnings) {
  check_verdict(read_facets(node, source, file), warnings);
  artifact::ReadOptions read_options;
  read_options.verify_weights = options.verify_compiled == VerifyCompiled::kFull;
  return reading(file, [&] {
    artifact::CompiledPart part =
        artifact::read_artifact(file.image.bytes, file.image.owner, read_options);
    cpu::check_program(part.program);
    return part;
  });
}

CompiledModel to_model(artifact::CompiledPart part) {
  CompiledModel model;
  model.program = std::move(part.program);
  model.inputs = std::move(part.inputs);
  model.outputs = std::move(part.outputs);
  model.defaults = std::move(part.defaults);
  model.metadata = std::move(part.metadata);
  model.warnings = std::move(part.warnings);
  model.isa = cpu::target_of(part.facets);
  model.shapes = std::move(part.shapes);
  return model;
}

// `path`: of the part's own file; else it lies in the model, or was copied from it.
artifact::UncheckedWeights unchecked_weights(const artifact::CompiledPart& part,
                                             const std::string& path, const ModelSource& source,
                                             const ModelBytes& model) {
  if (!path.empty()) return {part, path};
  const std::byte* const begin = model.bytes.data();
  const bool is_mapped = !source.in_memory && part.image.data() >= begin &&
                         part.image.data() < begin + model.bytes.size();
  if (!is_mapped) return artifact::UncheckedWeights(part);
  return {part, source.path.string(), static_cast<uint64_t>(part.image.data() - begin)};
}

// What no part tells is what the ONNX file says.
void describe(const Model& wrapper, CompiledModel& model) {
  model.metadata = metadata_of(wrapper);
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    if (model.inputs[i].kind != ValueKind::kNone) continue;
    model.inputs[i] = value_info_of(*wrapper.graph, wrapper.graph->inputs()[i]);
  }
}

void warn_of_unused(const Options& options, std::vector<std::string>& warnings) {
  const bool is_used =
      options.level == Options().level && options.disabled_passes.empty() && options.max_edits < 0;
  if (is_used) return;
  warnings.emplace_back(
      "the model is compiled, so the level, disabled passes and limit of edits that were given do "
      "nothing; give them when it is compiled");
}

}  // namespace

void check_providers(const EpContextModel& found) {
  for (const EpContextNode& node : found.nodes) {
    if (node.source == cpu::kProviderName) continue;
    throw Error(ErrorCode::kNotImplemented,
                fmt::format("{} was compiled by '{}', which is not here; available: {}. Compile "
                            "the source model again, or load it instead",
                            label(node), node.source, cpu::kProviderName));
  }
}

void check_nodes(const EpContextModel& found) {
  for (const EpContextNode& node : found.nodes) {
    if (node.is_main) continue;
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{} has main_context 0; {} writes one context per node", label(node),
                            cpu::kProviderName));
  }
  if (found.other_nodes != 0 || found.initializers != 0) {
    throw Error(ErrorCode::kNotImplemented,
                fmt::format("the model has {} nodes and {} initializers beside its compiled parts; "
                            "{} compiles whole models only",
                            found.other_nodes, found.initializers, cpu::kProviderName));
  }
}

CompiledModel put_together(const EpContextModel* found, std::vector<artifact::CompiledPart> parts) {
  if (found == nullptr) return to_model(std::move(parts[0]));
  if (!is_whole(*found, parts[0])) return join_parts(*found, std::move(parts));
  for (size_t i = 0; i < parts[0].inputs.size(); ++i) {
    check_declared(found->graph_inputs[i], parts[0].inputs[i]);
  }
  return to_model(std::move(parts[0]));
}

ModelBytes open_model(const ModelSource& source) {
  if (source.in_memory) return {source.bytes, nullptr};
  return map(source.path.string()).image;
}

CompiledFile open_compiled(const EpContextNode& node, const ModelSource& source,
                           const ModelBytes& model, const std::filesystem::path& folder) {
  if (node.is_embedded) return {"", {node.cache_context, model.owner}};
  const std::string location(reinterpret_cast<const char*>(node.cache_context.data()),
                             node.cache_context.size());
  try {
    ModelFolder::check_location(location, kWhat);
    if (!source.in_memory) {
      return map(ModelFolder::beside_model(source.path.string()).resolve(location, kWhat));
    }
    if (!folder.empty()) return map(ModelFolder::of(folder.string()).resolve(location, kWhat));
  } catch (const Error& error) {
    throw error_of(node, error);
  }
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("{}: the model is read from memory and its compiled part lies in the file "
                  "'{}'; give the folder that holds it (external_data_folder), or embed "
                  "the part",
                  label(node), location));
}

artifact::Facets read_facets(const EpContextNode* node, const ModelSource& source,
                             const CompiledFile& file) {
  const artifact::Facets facets = reading(
      file, [&] { return artifact::read_facets(file.image.bytes, file.image.bytes.size()); });
  // Of another format nothing else is known; the verdict refuses it.
  if (node != nullptr && facets.format_major == artifact::kFormatMajor) {
    check_belongs(*node, source, file);
  }
  return facets;
}

namespace {

std::optional<CompiledModel> load(const ModelSource& source, const Options& options) {
  const ModelBytes bytes = open_model(source);
  std::vector<std::string> warnings;
  std::vector<artifact::CompiledPart> parts;
  std::vector<std::string> paths;  // "": not in a file of its own
  std::optional<EpContextModel> found;
  if (artifact::is_artifact(bytes.bytes)) {
    parts.push_back(read_part(nullptr, source, {"", keep(bytes)}, options, warnings));
    paths.emplace_back();
  } else {
    try {
      found = find_ep_context(bytes.bytes);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kInvalidProtobuf) return std::nullopt;  // the reader says more
      throw;
    }
    if (!found) return std::nullopt;
    check_providers(*found);
    check_nodes(*found);
    for (const EpContextNode& node : found->nodes) {
      CompiledFile file = open_compiled(node, source, bytes, options.external_data_folder);
      if (file.path.empty()) file.image = keep(file.image);
      try {
        parts.push_back(read_part(&node, source, file, options, warnings));
        paths.push_back(file.path);
      } catch (const NotTogether& error) {
        throw NotTogether(error_of(node, error));
      } catch (const Error& error) {
        throw error_of(node, error);
      }
    }
  }
  check_pass_names(options.disabled_passes);
  if (!options.free_dimensions.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "the model is compiled, its dimensions cannot be fixed any more; give them when it "
                "is compiled");
  }
  warn_of_unused(options, warnings);
  std::vector<artifact::UncheckedWeights> weights;
  const bool later = options.verify_compiled == VerifyCompiled::kBackground;
  for (size_t i = 0; later && i < parts.size(); ++i) {
    weights.push_back(unchecked_weights(parts[i], paths[i], source, bytes));
  }
  const bool is_joined = found && !is_whole(*found, parts[0]);
  CompiledModel model = put_together(found ? &*found : nullptr, std::move(parts));
  if (is_joined) describe(*read_model(bytes.bytes, bytes.owner), model);
  model.weights = std::move(weights);
  model.warnings.insert(model.warnings.begin(), warnings.begin(), warnings.end());
  return model;
}

}  // namespace

std::optional<CompiledModel> load_compiled_model(const ModelSource& source,
                                                 const Options& options) {
  return reading_pair(source, [&] { return load(source, options); });
}

}  // namespace sardonyx
