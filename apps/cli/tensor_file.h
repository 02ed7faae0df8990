// Tensors in files: .npy (NumPy) and .pb (ONNX TensorProto), told apart by suffix.
#pragma once

#include <filesystem>
#include <string>

#include "sardonyx/value.h"

namespace sardonyx::cli {

// `type`: what the model wants, for raw items of .npy. Throws Error(kNoSuchFile),
// Error(kInvalidArgument), Error(kInvalidProtobuf); messages name the file.
Value read_tensor(const std::filesystem::path& path, ElementType type = ElementType::kUndefined);

// FOLDER/STEM.npy, or STEM.pb for element types that NumPy does not have. Throws Error(kFail).
void write_tensor(const std::filesystem::path& folder, const std::string& stem, const Value& value);

}  // namespace sardonyx::cli
