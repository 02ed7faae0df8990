// WireMessage: a protobuf message under construction whose large contents stay where they are.
// Weights are borrowed, not copied, until the message is written out, so that writing a model
// takes little more memory than the model has. Used by the ONNX writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "onnx/wire.h"

namespace sardonyx {

class WireMessage {
 public:
  void varint(uint32_t field, uint64_t value) { own_.varint(field, value); }
  void fixed32(uint32_t field, uint32_t value) { own_.fixed32(field, value); }
  void text(uint32_t field, std::string_view value) { own_.text(field, value); }
  // Nothing when the text is empty.
  void optional_text(uint32_t field, std::string_view value) {
    if (!value.empty()) own_.text(field, value);
  }
  void bytes(uint32_t field, std::span<const std::byte> value) { own_.bytes(field, value); }
  void message(uint32_t field, const WireWriter& value) { own_.message(field, value); }
  void message(uint32_t field, const WireMessage& value);
  // Whole fields, tags included.
  void put(std::span<const std::byte> raw) { own_.put(raw); }
  // Large values are borrowed: they must live until the message is written out.
  void borrow(uint32_t field, std::span<const std::byte> value);

  uint64_t size() const { return own_.result().size() + borrowed_bytes_; }
  // The bytes of the message, piece after piece.
  void for_each_piece(const std::function<void(std::span<const std::byte>)>& visit) const;
  std::vector<std::byte> join() const;

 private:
  struct Borrowed {
    size_t at;  // in own_
    std::span<const std::byte> bytes;
  };
  WireWriter own_;
  std::vector<Borrowed> borrowed_;
  uint64_t borrowed_bytes_ = 0;
};

}  // namespace sardonyx
