#include "onnx/wire_message.h"

namespace sardonyx {
namespace {

constexpr size_t kSmall = 4096;  // bytes that are cheaper to copy than to keep track of

}  // namespace

void WireMessage::message(uint32_t field, const WireMessage& value) {
  own_.begin_bytes(field, value.size());
  const size_t base = own_.result().size();
  own_.put(value.own_.result());
  for (const Borrowed& each : value.borrowed_) borrowed_.push_back({base + each.at, each.bytes});
  borrowed_bytes_ += value.borrowed_bytes_;
}

void WireMessage::borrow(uint32_t field, std::span<const std::byte> value) {
  if (value.size() < kSmall) {
    own_.bytes(field, value);
    return;
  }
  own_.begin_bytes(field, value.size());
  borrowed_.push_back({own_.result().size(), value});
  borrowed_bytes_ += value.size();
}

void WireMessage::for_each_piece(
    const std::function<void(std::span<const std::byte>)>& visit) const {
  const std::span<const std::byte> own(own_.result());
  size_t at = 0;
  for (const Borrowed& each : borrowed_) {
    if (each.at != at) visit(own.subspan(at, each.at - at));
    visit(each.bytes);
    at = each.at;
  }
  if (at != own.size()) visit(own.subspan(at));
}

std::vector<std::byte> WireMessage::join() const {
  std::vector<std::byte> out;
  out.reserve(static_cast<size_t>(size()));
  for_each_piece(
      [&](std::span<const std::byte> piece) { out.insert(out.end(), piece.begin(), piece.end()); });
  return out;
}

}  // namespace sardonyx
