#include "utf8.h"

namespace sardonyx::cli {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

bool is_scalar_value(uint32_t code) {
  return code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
}

// Bytes that follow a first byte; -1: it cannot be first.
int following(uint8_t first) {
  if (first < 0x80) return 0;
  if (first >= 0xc2 && first < 0xe0) return 1;
  if (first >= 0xe0 && first < 0xf0) return 2;
  if (first >= 0xf0 && first < 0xf5) return 3;
  return -1;
}

}  // namespace

std::vector<uint32_t> decode_utf8(std::string_view text) {
  static constexpr uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
  std::vector<uint32_t> codes;
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at++]);
    const int count = following(first);
    if (count <= 0) {
      codes.push_back(count == 0 ? first : kReplacement);
      continue;
    }
    uint32_t code = first & (0x3fu >> count);
    int taken = 0;
    for (; taken < count && at < text.size(); ++taken, ++at) {
      const auto next = static_cast<uint8_t>(text[at]);
      if ((next & 0xc0) != 0x80) break;
      code = code << 6 | (next & 0x3f);
    }
    const bool is_good = taken == count && code >= kSmallest[count] && is_scalar_value(code);
    codes.push_back(is_good ? code : kReplacement);
  }
  return codes;
}

std::string encode_utf8(const std::vector<uint32_t>& code_points) {
  std::string text;
  for (uint32_t code : code_points) {
    if (!is_scalar_value(code)) code = kReplacement;
    if (code < 0x80) {
      text += static_cast<char>(code);
      continue;
    }
    const int count = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    text += static_cast<char>((0xf0u << (3 - count)) | (code >> (6 * count)));
    for (int i = count - 1; i >= 0; --i) {
      text += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f));
    }
  }
  return text;
}

}  // namespace sardonyx::cli
