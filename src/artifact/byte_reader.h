// ByteReader: takes little-endian fields from hostile bytes. Everything is checked against what is
// left before it is used or allocated for. Throws Error(kFail) naming the section and the offset.
// Called by the readers of this module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace sardonyx::artifact {

class ByteReader {
 public:
  // `section` is a literal: "program".
  ByteReader(std::span<const std::byte> bytes, const char* section)
      : bytes_(bytes), section_(section) {}

  template <typename T>
  T get() {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  // 0 or 1.
  bool flag() { return below(2, "flag") != 0; }
  // One byte below `limit`.
  uint8_t below(unsigned limit, const char* what);
  // A list length: entries take at least `entry_bytes` each.
  uint32_t count(size_t entry_bytes);
  // An index below `limit`.
  uint32_t index(size_t limit, const char* what);
  std::string_view text();
  std::string_view name();
  std::span<const std::byte> take(uint64_t size);
  void align(size_t to);

  size_t left() const { return bytes_.size() - offset_; }
  void expect_end() const;
  [[noreturn]] void fail(std::string_view what) const;

 private:
  std::span<const std::byte> bytes_;
  const char* section_;
  size_t offset_ = 0;
};

}  // namespace sardonyx::artifact
