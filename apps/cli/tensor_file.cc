#include "tensor_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "input_file.h"
#include "npy.h"
#include "onnx/value_proto.h"
#include "session/value_access.h"

namespace sardonyx::cli {
namespace {

namespace fs = std::filesystem;

size_t count_entries(const fs::path& folder) {
  std::error_code error;
  const auto count = std::distance(fs::directory_iterator(folder, error), fs::directory_iterator());
  if (!error) return static_cast<size_t>(count);
  throw Error(ErrorCode::kNoSuchFile,
              fmt::format("cannot read folder {}: {}", folder.string(), error.message()));
}

// FOLDER/I.npy or FOLDER/I.pb; "" when there is neither.
std::string numbered_file(const fs::path& folder, size_t i) {
  for (const char* suffix : {".npy", ".pb"}) {
    const fs::path file = folder / (std::to_string(i) + suffix);
    if (fs::is_regular_file(file)) return file.string();
  }
  return "";
}

}  // namespace

Value read_tensor(const std::filesystem::path& path, ElementType type) {
  const std::string suffix = path.extension().string();
  if (suffix == ".npy") return read_npy(path, type);
  if (suffix != ".pb") {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: a tensor comes from .npy or .pb, not '{}'", path.string(), suffix));
  }
  const InputFile file(path);  // says better than the reader of models what is wrong
  try {
    // The clone owns its bytes: a Value may outlive the file.
    return internal::ValueAccess::wrap(read_tensor_file(path.string()).tensor.clone());
  } catch (const Error& error) {
    throw error.with_context(path.string());
  }
}

std::vector<std::string> list_files(const std::string& text) {
  std::vector<std::string> files;
  if (text.empty()) return files;
  if (!fs::is_directory(text)) {
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find(',', at), text.size());
      files.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return files;
  }
  const size_t entries = count_entries(text);
  for (size_t i = 0; i < entries; ++i) {
    const std::string file = numbered_file(text, i);
    if (file.empty()) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("{} holds {} files, but neither {}.npy nor {}.pb", text, entries, i, i));
    }
    files.push_back(file);
  }
  return files;
}

Value read_value(const std::string& text, const ValueInfo& info,
                 const std::function<Value(const std::string&, const ValueInfo&)>& read) {
  const bool is_sequence = info.kind == ValueKind::kSequence;
  if (!is_sequence && info.kind != ValueKind::kOptional) return read(text, info);
  if (fs::path(text).extension() == ".pb" && text.find(',') == std::string::npos) {
    return internal::ValueAccess::wrap(
        read_values_file(text, is_sequence ? kSequenceType : kOptionalType));
  }
  const ValueInfo& item = info.item.at(0);
  if (!is_sequence) {
    return text.empty() ? Value::optional() : Value::optional(read_value(text, item, read));
  }
  std::vector<Value> items;
  for (const std::string& file : list_files(text)) items.push_back(read(file, item));
  return Value::sequence(items);
}

void write_value(const fs::path& folder, const std::string& stem, const Value& value) {
  if (value.kind() == ValueKind::kTensor) return write_tensor(folder, stem, value);
  const std::vector<Value> items = value.items();
  if (value.kind() == ValueKind::kOptional) {
    if (!items.empty()) write_value(folder, stem, items[0]);
    return;
  }
  const fs::path own = folder / stem;
  make_folder(own);
  for (size_t i = 0; i < items.size(); ++i) write_tensor(own, std::to_string(i), items[i]);
  // What an earlier and longer sequence has left there.
  for (size_t i = items.size(); !numbered_file(own, i).empty(); ++i) {
    std::error_code error;
    if (fs::remove(numbered_file(own, i), error)) continue;
    throw Error(ErrorCode::kFail,
                fmt::format("cannot remove {}: {}", numbered_file(own, i), error.message()));
  }
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return;
  throw Error(ErrorCode::kFail,
              fmt::format("cannot make folder {}: {}", folder.string(), error.message()));
}

void write_tensor(const std::filesystem::path& folder, const std::string& stem,
                  const Value& value) {
  if (has_npy_type(value.element_type())) return write_npy(folder / (stem + ".npy"), value);
  write_tensor_file((folder / (stem + ".pb")).string(), internal::ValueAccess::unwrap(value), stem);
}

}  // namespace sardonyx::cli
