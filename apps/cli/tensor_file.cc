#include "tensor_file.h"

#include <fmt/format.h>

#include "npy.h"
#include "onnx/tensor_proto.h"
#include "session/value_access.h"

namespace sardonyx::cli {

Value read_tensor(const std::filesystem::path& path, ElementType type) {
  const std::string suffix = path.extension().string();
  if (suffix == ".npy") return read_npy(path, type);
  if (suffix != ".pb") {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: a tensor comes from .npy or .pb, not '{}'", path.string(), suffix));
  }
  if (!std::filesystem::is_regular_file(path)) {
    throw Error(ErrorCode::kNoSuchFile, fmt::format("cannot read {}", path.string()));
  }
  try {
    // The clone owns its bytes: a Value may outlive the file.
    return internal::ValueAccess::wrap(read_tensor_file(path.string()).tensor.clone());
  } catch (const Error& error) {
    throw error.with_context(path.string());
  }
}

void write_tensor(const std::filesystem::path& folder, const std::string& stem,
                  const Value& value) {
  if (has_npy_type(value.element_type())) return write_npy(folder / (stem + ".npy"), value);
  write_tensor_file((folder / (stem + ".pb")).string(), internal::ValueAccess::unwrap(value), stem);
}

}  // namespace sardonyx::cli
