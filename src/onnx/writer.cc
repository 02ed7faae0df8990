#include "onnx/writer.h"

#include <fmt/format.h>

#include <optional>

#include "base/staged_file.h"
#include "ir/verify.h"
#include "onnx/graph_writer.h"
#include "onnx/opset_fit.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

void check(const Model& model, const WriteOptions& options) {
  if (model.graph == nullptr) refuse("the model has no graph and cannot be written");
  if (options.alignment < 1) {
    refuse(
        fmt::format("the alignment of external data is {}, expected 1 or more", options.alignment));
  }
  const std::string& file = options.external_data_file;
  if (file == "." || file == ".." ||
      file.find_first_of(std::string_view("/\\\0", 3)) != file.npos) {
    refuse(
        fmt::format("'{}' is no name for external data; expected a file name without folders, "
                    "because the file lies beside the model",
                    file));
  }
  verify(*model.graph, NameRule::kIgnored);
  for (const Function& function : model.functions) {
    if (function.body == nullptr) refuse(fmt::format("function '{}' has no body", function.name));
    verify(*function.body, NameRule::kIgnored);
  }
}

WireMessage message_of(const Model& model, const WriteOptions& options, ExternalLayout* external) {
  WireMessage out;
  out.varint(1, static_cast<uint64_t>(model.ir_version));
  out.optional_text(2, model.producer_name);
  out.optional_text(3, model.producer_version);
  out.optional_text(4, model.domain);
  if (model.model_version != 0) out.varint(5, static_cast<uint64_t>(model.model_version));
  out.optional_text(6, model.doc);
  const GraphWriter writer(model.ir_version, model.graph->dims(), external);
  out.message(7, writer.main_graph(*model.graph));
  add_opset_imports(8, fitting_imports(*model.graph, model.opset_imports, model, options), out);
  add_entries(14, model.metadata, out);
  for (const Function& function : model.functions) {
    const OpsetImports imports =
        fitting_imports(*function.body, function.opset_imports, model, options);
    out.message(25, writer.function(function, imports));
  }
  out.put(model.other_fields);
  return out;
}

bool is_too_large(const WireMessage& message, const WriteOptions& options) {
  return message.size() > static_cast<uint64_t>(options.max_model_bytes);
}

void check_size(const WireMessage& message, const WriteOptions& options, const char* advice) {
  if (!is_too_large(message, options)) return;
  refuse(fmt::format("the model takes {} bytes, a model file holds at most {}; {}", message.size(),
                     options.max_model_bytes, advice));
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::vector<std::byte> write_model(const Model& model, const WriteOptions& options) {
  if (!options.external_data_file.empty()) {
    refuse("a model that is written to memory has no folder for external data; write it to a path");
  }
  check(model, options);
  const WireMessage message = message_of(model, options, nullptr);
  check_size(message, options, "write it to a path, so that its weights can lie beside it");
  return message.join();
}

void write_model(const Model& model, const std::string& path, const WriteOptions& options) {
  check(model, options);
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  std::optional<ExternalLayout> external;
  const auto use_external = [&](const std::string& file) {
    if (file == file_name(path)) {
      refuse(fmt::format("'{}' cannot be both the model and its external data", path));
    }
    external.emplace(file, options.external_threshold_bytes, options.alignment);
    return message_of(model, options, &*external);
  };
  WireMessage message = options.external_data_file.empty()
                            ? message_of(model, options, nullptr)
                            : use_external(options.external_data_file);
  if (!external && is_too_large(message, options))
    message = use_external(file_name(path) + ".data");
  check_size(message, options,
             "lower the size from which initializers are written as external data; tensors in "
             "attributes, strings and documentation cannot leave the model");

  StagedFile model_file(path);
  std::optional<StagedFile> data_file;
  if (external && !external->empty()) {
    external->write(data_file.emplace(folder + external->location()));
  }
  message.for_each_piece([&](std::span<const std::byte> piece) { model_file.write(piece); });
  if (data_file) {
    StagedFile::publish_both(*data_file, model_file);
  } else {
    model_file.publish();
  }
}

}  // namespace sardonyx
