// Values in files: tensors as .npy (NumPy) and .pb (ONNX TensorProto), told apart by suffix;
// sequences and optionals as lists or folders of those, or as .pb (SequenceProto, OptionalProto).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sardonyx/session.h"

namespace sardonyx::cli {

// `type`: what the model wants, for raw items of .npy. Throws Error(kNoSuchFile),
// Error(kInvalidArgument), Error(kInvalidProtobuf); messages name the file.
Value read_tensor(const std::filesystem::path& path, ElementType type = ElementType::kUndefined);

// The files that `text` names: a list with commas; or those in the folder that it is, 0.npy, 1.npy
// and so on, each .npy or .pb. Empty text: none. Throws Error(kInvalidArgument) for a folder that
// holds something else.
std::vector<std::string> list_files(const std::string& text);

// The value that `info` wants from `text`, which is one file for a tensor, a .pb file, or
// list_files() of tensors; an empty text is an optional that holds nothing. read: reads one tensor.
// Throws as above.
Value read_value(const std::string& text, const ValueInfo& info,
                 const std::function<Value(const std::string& path, const ValueInfo& info)>& read);

// A tensor as below; a sequence as FOLDER/STEM/0.npy and so on, with nothing else of that kind left
// in that folder; an optional as what it holds, which may be no file at all. Throws Error(kFail).
void write_value(const std::filesystem::path& folder, const std::string& stem, const Value& value);

// Throws Error(kFail).
void make_folder(const std::filesystem::path& folder);

// FOLDER/STEM.npy, or STEM.pb for element types that NumPy does not have. Throws Error(kFail).
void write_tensor(const std::filesystem::path& folder, const std::string& stem, const Value& value);

}  // namespace sardonyx::cli
