// ByteWriter: little-endian fields appended to a buffer. Called by the writer of artifacts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sardonyx::artifact {

class ByteWriter {
 public:
  // An integer, enum or float, in its own width.
  template <typename T>
  void put(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    bytes(std::as_bytes(std::span(&value, 1)));
  }
  // A count or index below 2^32; throws Error(kInvalidGraph) for a larger one.
  void put_count(size_t count);
  // Length in four bytes, then the text.
  void text(std::string_view value);
  // Length in one byte; throws Error(kInvalidGraph) for more than 255 bytes.
  void name(std::string_view value);
  void bytes(std::span<const std::byte> value) {
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void align(size_t to) { bytes_.resize((bytes_.size() + to - 1) / to * to); }

  size_t size() const { return bytes_.size(); }
  std::span<const std::byte> view() const { return bytes_; }
  std::vector<std::byte>& buffer() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace sardonyx::artifact
