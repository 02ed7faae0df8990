#include "text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "utf8.h"

namespace sardonyx::cli {
namespace {

// Letters to insert, delete or replace (Levenshtein).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

// Bytes of the UTF-8 character at the start; 0: there is none.
size_t character_size(std::string_view text) {
  for (size_t size = 1; size <= std::min<size_t>(4, text.size()); ++size) {
    const std::vector<uint32_t> codes = decode_utf8(text.substr(0, size));
    if (codes.size() == 1 && encode_utf8(codes) == text.substr(0, size)) return size;
  }
  return 0;
}

// Control characters, line and paragraph separators, and marks of the direction of writing.
bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t size = character_size(text.substr(at));
    const std::string_view character = text.substr(at, std::max<size_t>(1, size));
    const bool is_shown = size > 0 && !is_control(decode_utf8(character)[0]);
    for (const char each : character) {
      line += is_shown ? std::string(1, each)
                       : fmt::format("\\x{:02x}", static_cast<unsigned char>(each));
    }
    at += character.size();
  }
  return line;
}

std::string lines(std::string_view text) {
  std::string result;
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    result += one_line(text.substr(0, end)) + '\n';
  }
  return result + one_line(text);
}

std::string byte_text(int64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double amount = static_cast<double>(bytes);
  size_t unit = 0;
  for (amount /= 1024; amount >= 1024 && unit + 1 < std::size(kUnits); ++unit) amount /= 1024;
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t least = word.size() / 3 + 1;  // beyond this it is another word
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < least || (distance == least && best.empty())) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace sardonyx::cli
