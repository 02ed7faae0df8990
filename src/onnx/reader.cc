#include "onnx/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/mapped_file.h"
#include "onnx/graph_reader.h"
#include "onnx/value_info.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr size_t kMaxFunctions = 10000;
constexpr int kMaxCallDepth = 100;

[[noreturn]] void reject(const std::string& message) {
  throw Error(ErrorCode::kInvalidGraph, message);
}

bool starts_with(std::span<const std::byte> bytes, size_t at, std::string_view text) {
  return bytes.size() >= at + text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char c, std::byte b) { return std::byte(c) == b; });
}

// Files that are often taken for models.
void check_looks_like_a_model(std::span<const std::byte> bytes) {
  const auto fail = [](const char* message) { throw Error(ErrorCode::kInvalidProtobuf, message); };
  if (bytes.empty()) fail("the model is empty (0 bytes)");
  if (starts_with(bytes, 0, "version https://git-lfs")) {
    fail("this is a Git LFS pointer, not the model; fetch the file itself with `git lfs pull`");
  }
  if (starts_with(bytes, 4, "ORTM")) {
    fail("this is a model in ONNX Runtime's own .ort format; load the .onnx file it was made from");
  }
  if (starts_with(bytes, 0, "<!DOCTYPE") || starts_with(bytes, 0, "<html")) {
    fail("this is a web page, not a model; check how it was downloaded");
  }
}

struct FunctionProto {
  Function function;
  GraphReader::FunctionParts body;
  std::vector<WireCursor> defaults;
};

void add_opset(OpsetImports& imports, WireCursor cursor) {
  std::string domain;
  int64_t version = 0;
  while (cursor.next()) {
    if (cursor.field() == 1) domain = normal_domain(cursor.string());
    if (cursor.field() == 2) version = cursor.int64();
  }
  if (version < 1) {
    reject(fmt::format("opset_import of domain '{}' has version {}, expected 1 or more", domain,
                       version));
  }
  const auto [at, fresh] = imports.emplace(domain, version);
  if (!fresh && at->second != version) {
    reject(fmt::format("opset_import names domain '{}' with version {} and {}", domain, at->second,
                       version));
  }
}

FunctionProto split_function(WireCursor cursor) {
  FunctionProto result;
  Function& function = result.function;
  while (cursor.next()) {
    switch (cursor.field()) {
      case 1:
        function.name = cursor.string();
        break;
      case 4:
        result.body.inputs.push_back(cursor.string());
        break;
      case 5:
        result.body.outputs.push_back(cursor.string());
        break;
      case 6:
        function.attributes.push_back(cursor.string());
        break;
      case 7:
        result.body.nodes.push_back(cursor.message("NodeProto"));
        break;
      case 8:
        function.doc = cursor.string();
        break;
      case 9:
        add_opset(function.opset_imports, cursor.message("OperatorSetIdProto"));
        break;
      case 10:
        function.domain = normal_domain(cursor.string());
        break;
      case 11:
        result.defaults.push_back(cursor.message("AttributeProto"));
        break;
      case 12:
        result.body.value_infos.push_back(cursor.message("ValueInfoProto"));
        break;
      case 13:
        function.overload = cursor.string();
        break;
      case 14:
        function.metadata.push_back(read_string_entry(cursor.message("StringStringEntryProto")));
        break;
      default:
        cursor.append_raw_to(function.file_fields.node);
        break;
    }
  }
  result.body.name = function.name;
  return result;
}

std::string label(const Function& function) {
  return fmt::format("function '{}{}{}'", function.domain.empty() ? "" : function.domain + ".",
                     function.name, function.overload.empty() ? "" : ":" + function.overload);
}

using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;

// Functions must not call themselves, not even through others, nor nest without measure.
class CallCheck {
 public:
  explicit CallCheck(const std::vector<Function>& functions) : functions_(functions) {
    for (size_t i = 0; i < functions.size(); ++i) {
      const Function& f = functions[i];
      if (!index_.emplace(FunctionKey(f.domain, f.name, f.overload), i).second) {
        reject(label(f) + " is defined twice");
      }
    }
    depth_.resize(functions.size(), 0);
    open_.resize(functions.size(), false);
  }

  void run() {
    for (size_t i = 0; i < functions_.size(); ++i) depth_of(i, 1);
  }

 private:
  // Levels of calls below function `i`, itself included.
  int depth_of(size_t i, int level) {
    if (depth_[i] != 0) return depth_[i];
    if (open_[i]) reject(label(functions_[i]) + " calls itself, directly or through others");
    if (level > kMaxCallDepth) {
      reject(fmt::format("{} lies deeper than {} levels of function calls", label(functions_[i]),
                         kMaxCallDepth));
    }
    open_[i] = true;
    std::set<size_t> called;
    collect(*functions_[i].body, called);
    int below = 0;
    for (size_t callee : called) below = std::max(below, depth_of(callee, level + 1));
    open_[i] = false;
    depth_[i] = below + 1;
    if (depth_[i] > kMaxCallDepth) {
      reject(fmt::format("calls below {} are nested deeper than {} levels", label(functions_[i]),
                         kMaxCallDepth));
    }
    return depth_[i];
  }

  void collect(const Graph& graph, std::set<size_t>& called) const {
    for (NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      const auto at = index_.find(FunctionKey(node.domain, node.op, node.overload));
      if (at != index_.end()) called.insert(at->second);
      for_each_subgraph(node,
                        [&](const std::string&, const Graph& inner) { collect(inner, called); });
    }
  }

  const std::vector<Function>& functions_;
  std::map<FunctionKey, size_t> index_;
  std::vector<int> depth_;
  std::vector<bool> open_;
};

void check_unique_keys(const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::set<std::string_view> keys;
  for (const auto& [key, value] : metadata) {
    if (!keys.insert(key).second) reject(fmt::format("metadata_props has the key '{}' twice", key));
  }
}

class ModelReader {
 public:
  ModelReader(std::span<const std::byte> bytes, const ReadOptions& options, TensorSource source)
      : options_(options), source_(std::move(source)), model_(std::make_unique<Model>()) {
    check_looks_like_a_model(bytes);
    split(WireCursor(bytes, "ModelProto"));
  }

  // What can be said without the graph.
  void check() {
    check_versions();
    check_unique_keys(model_->metadata);
    if (graphs_.empty()) {
      throw Error(ErrorCode::kInvalidProtobuf,
                  "the model has no graph; the file is damaged or no ONNX model");
    }
    if (graphs_.size() != 1) {
      reject(fmt::format("the model has {} graphs, expected one", graphs_.size()));
    }
  }

  std::unique_ptr<Model> read() {
    check();
    GraphReader reader(*model_, options_, source_, std::make_shared<DimTable>());
    read_functions(reader);
    model_->graph = reader.main_graph(graphs_[0]);
    for (const auto& [domain, version] : model_->opset_imports) {
      if (!domain.empty() && !reader.used_domains().contains(domain)) {
        model_->warnings.push_back(fmt::format("opset_import of '{}' is not used", domain));
      }
    }
    return std::move(model_);
  }

 private:
  void split(WireCursor cursor) {
    while (cursor.next()) {
      switch (cursor.field()) {
        case 1:
          model_->ir_version = cursor.int64();
          break;
        case 2:
          model_->producer_name = cursor.string();
          break;
        case 3:
          model_->producer_version = cursor.string();
          break;
        case 4:
          model_->domain = cursor.string();
          break;
        case 5:
          model_->model_version = cursor.int64();
          break;
        case 6:
          model_->doc = cursor.string();
          break;
        case 7:
          graphs_.push_back(cursor.message("GraphProto"));
          break;
        case 8:
          add_opset(model_->opset_imports, cursor.message("OperatorSetIdProto"));
          break;
        case 14:
          model_->metadata.push_back(read_string_entry(cursor.message("StringStringEntryProto")));
          break;
        case 25:
          functions_.push_back(cursor.message("FunctionProto"));
          break;
        default: {  // training_info, device configurations, unknown fields
          training_ = training_ || cursor.field() == 20;
          cursor.append_raw_to(model_->other_fields);
          break;
        }
      }
    }
  }

  void check_versions() {
    if (model_->ir_version < 1) {
      throw Error(ErrorCode::kInvalidProtobuf,
                  fmt::format("ir_version is {}, expected 1 to {}; the file is damaged or no ONNX "
                              "model",
                              model_->ir_version, kNewestIrVersion));
    }
    if (model_->ir_version > kNewestIrVersion) {
      model_->warnings.push_back(fmt::format("ir_version {} is newer than {}, the newest known",
                                             model_->ir_version, kNewestIrVersion));
    }
    if (model_->opset_imports.empty()) {
      if (model_->ir_version >= 3) {
        reject("the model has no opset_import; say which version of the operators it means");
      }
      model_->opset_imports[""] = 1;
    }
    if (training_) model_->warnings.push_back("training_info is ignored");
  }

  void read_functions(GraphReader& reader) {
    if (functions_.size() > kMaxFunctions) {
      reject(fmt::format("the model has {} functions, the limit is {}", functions_.size(),
                         kMaxFunctions));
    }
    for (const WireCursor& cursor : functions_) {
      FunctionProto proto = split_function(cursor);
      Function& function = proto.function;
      if (function.name.empty()) reject("a function has no name");
      try {
        // Older files rely on the model's imports.
        if (function.opset_imports.empty()) function.opset_imports = model_->opset_imports;
        for (const WireCursor& value : proto.defaults) {
          auto [name, held] = reader.attribute_default(value, function.file_fields);
          function.attribute_defaults.set(name, std::move(held));
        }
        function.body = reader.function_body(proto.body);
      } catch (const Error& error) {
        throw error.with_context(label(function));
      }
      model_->functions.push_back(std::move(function));
    }
    CallCheck(model_->functions).run();
  }

  const ReadOptions& options_;
  TensorSource source_;
  std::unique_ptr<Model> model_;
  std::vector<WireCursor> graphs_, functions_;
  bool training_ = false;
};

}  // namespace

void check_is_model(std::span<const std::byte> bytes) {
  const ReadOptions options;
  ModelReader(bytes, options, {}).check();
}

std::unique_ptr<Model> read_model(const std::string& path, const ReadOptions& options) {
  const auto file = MappedFile::open(path);
  try {
    ExternalData external = ExternalData::beside_model(path);
    external.add_buffers(options.external_buffers);
    return ModelReader(file->bytes(), options, {file, &external}).read();
  } catch (const Error& error) {
    throw error.with_context(fmt::format("model '{}'", path));
  }
}

std::unique_ptr<Model> read_model(std::span<const std::byte> bytes,
                                  std::shared_ptr<const void> owner, const ReadOptions& options) {
  ExternalData external;
  if (!options.base_folder.empty()) external = ExternalData::in_folder(options.base_folder);
  external.add_buffers(options.external_buffers);
  try {
    return ModelReader(bytes, options, {std::move(owner), &external}).read();
  } catch (const Error& error) {
    throw error.with_context("model in memory");
  }
}

}  // namespace sardonyx
