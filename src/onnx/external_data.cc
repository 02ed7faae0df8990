#include "onnx/external_data.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/mapped_file.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidGraph, "external data: " + message);
}

size_t parse_count(const std::string& key, const std::string& text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, status] = std::from_chars(text.data(), end, value);
  if (status != std::errc() || at != end) {
    refuse(fmt::format("{} is '{}', expected a decimal number from 0 to 2^64 - 1", key,
                       text.substr(0, 40)));
  }
  return value;
}

struct Reference {
  std::string location;
  size_t offset = 0;
  std::optional<size_t> length;
};

Reference parse_entries(const ExternalData::Entries& entries) {
  Reference reference;
  std::optional<std::string> location;
  std::optional<size_t> offset;
  bool checksum = false;  // known to the standard, defined by no tool: not checked
  for (const auto& [key, value] : entries) {
    bool repeated;
    if (key == "location") {
      repeated = location.has_value();
      location = value;
    } else if (key == "offset") {
      repeated = offset.has_value();
      offset = parse_count(key, value);
    } else if (key == "length") {
      repeated = reference.length.has_value();
      reference.length = parse_count(key, value);
    } else if (key == "checksum") {
      repeated = std::exchange(checksum, true);
    } else {
      refuse(fmt::format("unknown key '{}'; known are location, offset, length, checksum",
                         key.substr(0, 40)));
    }
    if (repeated) refuse(fmt::format("key '{}' is given twice", key));
  }
  if (!location) refuse("there is no location");
  reference.location = *location;
  reference.offset = offset.value_or(0);
  return reference;
}

}  // namespace

ExternalData ExternalData::beside_model(const std::string& model_path) {
  ExternalData data;
  data.folder_ = ModelFolder::beside_model(model_path);
  return data;
}

ExternalData ExternalData::in_folder(const std::string& folder) {
  ExternalData data;
  data.folder_ = ModelFolder::of(folder);
  return data;
}

SharedBytes ExternalData::open(const std::string& location) {
  ModelFolder::check_location(location, "external data");
  if (const auto held = buffers_.find(location); held != buffers_.end()) return held->second;
  if (!folder_.exists()) {
    refuse(
        fmt::format("the model is read from memory and refers to the file '{}'; give the folder "
                    "that holds it (base folder) or its bytes",
                    location));
  }
  if (const auto known = opened_.find(location); known != opened_.end()) return known->second;
  const std::string path = folder_.resolve(location, "external data");
  try {
    const auto file = MappedFile::open(path, MappedFile::Links::kRefuse);
    return opened_[location] = {file->bytes(), file};
  } catch (const Error& error) {
    // The path is the model's, not an argument of the caller.
    if (error.code() == ErrorCode::kInvalidArgument) refuse(error.what());
    throw;
  }
}

SharedBytes ExternalData::find(const Entries& entries, size_t size_bytes) {
  const Reference reference = parse_entries(entries);
  if (reference.length && *reference.length != size_bytes) {
    refuse(fmt::format("length is {}, the tensor takes {} bytes", *reference.length, size_bytes));
  }
  const SharedBytes file = open(reference.location);
  const size_t file_bytes = file.bytes.size();
  if (reference.offset > file_bytes || size_bytes > file_bytes - reference.offset) {
    refuse(fmt::format("the tensor takes {} bytes from offset {} of '{}', which has {}", size_bytes,
                       reference.offset, reference.location, file_bytes));
  }
  return {file.bytes.subspan(reference.offset, size_bytes), file.owner};
}

}  // namespace sardonyx
