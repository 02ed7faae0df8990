// WireCursor: the fields of one protobuf message, read from bytes without copying. Lengths are
// 64-bit and checked against the bytes that exist before anything is allocated; messages nest at
// most kMaxWireDepth deep; errors are Error(kInvalidProtobuf) with the byte offset in the file and
// the name of the message. Unknown fields, groups included, are skipped by asking for the next one.
// WireWriter is the inverse. Used by the readers and writers of ONNX files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx {

inline constexpr int kMaxWireDepth = 256;

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kGroup = 3, kFixed32 = 5 };

class WireCursor {
 public:
  WireCursor() = default;
  // `message` names the message in errors and must be a literal; `offset` is where `bytes` lie in
  // the file.
  WireCursor(std::span<const std::byte> bytes, const char* message, uint64_t offset = 0)
      : bytes_(bytes), offset_(offset), message_(message) {}

  // Goes to the next field; false at the end.
  bool next();

  uint32_t field() const { return field_; }
  WireType type() const { return type_; }

  // The value of the current field; fails when its wire type is another one.
  uint64_t varint() const;
  int64_t int64() const { return static_cast<int64_t>(varint()); }
  int32_t int32() const { return static_cast<int32_t>(varint()); }  // as protobuf: the low 32 bits
  float float32() const;
  double float64() const;
  std::span<const std::byte> bytes() const;
  std::string_view text() const;
  std::string string() const { return std::string(text()); }
  WireCursor message(const char* name) const;

  // A repeated scalar: one element or a packed run of them.
  void append_to(std::vector<int64_t>& values) const;
  void append_to(std::vector<uint64_t>& values) const;
  void append_to(std::vector<int32_t>& values) const;
  void append_to(std::vector<float>& values) const;
  void append_to(std::vector<double>& values) const;

  // The current field as it lies in the file, tag included.
  std::span<const std::byte> raw_field() const { return bytes_.subspan(start_, at_ - start_); }
  void append_raw_to(std::vector<std::byte>& fields) const {
    fields.insert(fields.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(start_),
                  bytes_.begin() + static_cast<std::ptrdiff_t>(at_));
  }
  std::span<const std::byte> all() const { return bytes_; }
  uint64_t offset() const { return offset_ + start_; }  // of the current field in the file
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void expect(WireType type) const;
  uint64_t read_varint(const char* what);
  void take(uint64_t count, const char* what);
  void skip_group();
  template <typename T, typename F>
  void append_varints(std::vector<T>& values, F&& convert) const;
  template <typename T>
  void append_fixed(std::vector<T>& values, WireType type) const;

  std::span<const std::byte> bytes_;
  uint64_t offset_ = 0;
  const char* message_ = "message";
  int depth_ = 0;
  size_t start_ = 0;    // of the current field's tag
  size_t payload_ = 0;  // of the current field's value
  size_t at_ = 0;       // behind the current field
  uint64_t value_ = 0;  // of a varint field
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
};

class WireWriter {
 public:
  void varint(uint32_t field, uint64_t value);
  void fixed32(uint32_t field, uint32_t value);
  void fixed64(uint32_t field, uint64_t value);
  void bytes(uint32_t field, std::span<const std::byte> value);
  void text(uint32_t field, std::string_view value);
  // Of a length-delimited field whose `size` bytes the caller adds.
  void begin_bytes(uint32_t field, uint64_t size);
  void message(uint32_t field, const WireWriter& value) { bytes(field, value.out_); }
  void put(std::span<const std::byte> raw) { out_.insert(out_.end(), raw.begin(), raw.end()); }
  void put_varint(uint64_t value);

  const std::vector<std::byte>& result() const { return out_; }
  std::vector<std::byte> take() { return std::move(out_); }

 private:
  void tag(uint32_t field, WireType type);
  std::vector<std::byte> out_;
};

}  // namespace sardonyx
