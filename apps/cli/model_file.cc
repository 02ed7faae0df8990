#include "model_file.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/mapped_file.h"

namespace sardonyx::cli {
namespace {

struct Format {
  size_t at;  // of the signature in the file
  std::string_view signature;
  const char* what;
  const char* advice;
};

using namespace std::string_view_literals;
constexpr Format kFormats[] = {
    {0, "version https://git-lfs"sv, "a Git LFS pointer, not the file it stands for",
     "run `git lfs pull` where it came from"},
    {0, "PK\x03\x04"sv, "a zip archive, as PyTorch and Keras save models",
     "unpack it, or export the model with torch.onnx.export or tf2onnx"},
    {0, "\x80\x02"sv, "a Python pickle, as old PyTorch saves models",
     "export the model with torch.onnx.export"},
    {0, "\x89HDF\r\n"sv, "an HDF5 file, as Keras saves models", "export the model with tf2onnx"},
    {4, "TFL3"sv, "a TensorFlow Lite model", "convert it with tf2onnx"},
    {4, "ORTM"sv, "a model in ONNX Runtime's own format", "use the .onnx file it was made from"},
    {0, "GGUF"sv, "a GGUF model", "export the model to ONNX"},
    {8, "{\""sv, "a safetensors file: weights without a model", "export the model to ONNX"},
    {0, "\x1f\x8b"sv, "a gzip file", "unpack it first"},
    {0,
     "\xfd"
     "7zXZ"sv,
     "an xz file", "unpack it first"},
    {0, "\x28\xb5\x2f\xfd"sv, "a zstd file", "unpack it first"},
    {0, "\x93NUMPY"sv, "a NumPy array", "give it with --input"},
    {0, "\x89PNG"sv, "a picture", "give it with --input"},
    {0, "\xff\xd8\xff"sv, "a picture", "give it with --input"},
    {0,
     "\x7f"
     "ELF"sv,
     "a program or library", "give the model's .onnx file"},
    {0, "<"sv, "an XML or HTML page, as a failed download leaves", "download the file again"},
    {0, "{"sv, "a JSON file", "give the model's .onnx file"},
};

std::string first_bytes(const std::filesystem::path& path) {
  std::string bytes(64, '\0');
  const FileReader file(path.string());
  bytes.resize(file.read(0, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

// "; ..." or nothing.
std::string hint(const std::filesystem::path& model, ErrorCode code) {
  std::error_code ignored;
  if (code == ErrorCode::kNoSuchFile) {
    std::filesystem::path longer = model;
    longer += ".onnx";
    if (!std::filesystem::is_regular_file(longer, ignored)) return "";
    return fmt::format("; did you mean {}?", longer.string());
  }
  if (std::filesystem::is_directory(model, ignored)) {
    const std::filesystem::path inside = model / "model.onnx";
    if (!std::filesystem::is_regular_file(inside, ignored)) return "";
    return fmt::format("; did you mean {}?", inside.string());
  }
  if (code != ErrorCode::kInvalidProtobuf && code != ErrorCode::kInvalidGraph) return "";
  std::string bytes;
  try {
    bytes = first_bytes(model);
  } catch (const Error&) {
    return "";  // it has gone
  }
  if (bytes.empty()) return "; the file is empty";
  for (const Format& format : kFormats) {
    if (bytes.size() > format.at &&
        std::string_view(bytes).substr(format.at).starts_with(format.signature)) {
      return fmt::format("; it looks like {}: {}", format.what, format.advice);
    }
  }
  return "";
}

}  // namespace

CommandError model_error(const std::filesystem::path& model, const Error& error) {
  const bool is_named = std::string_view(error.what()).find(model.string()) != std::string::npos;
  const Error named = is_named ? error : error.with_context(model.string());
  // Only options, and paths that name no file, are invalid arguments.
  std::error_code ignored;
  const bool is_usage = error.code() == ErrorCode::kInvalidArgument &&
                        std::filesystem::is_regular_file(model, ignored);
  return CommandError(is_usage ? kExitUsage : kExitModel, named.code(),
                      named.what() + hint(model, named.code()));
}

}  // namespace sardonyx::cli
