#include "npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sardonyx/error.h"

namespace sardonyx::cli {
namespace {

constexpr size_t kMaxRank = 64;  // as NumPy

struct TypeRow {
  const char* descriptor;
  ElementType type;
  size_t item_bytes;
};

constexpr TypeRow kTypes[] = {
    {"<f4", ElementType::kFloat, 4},      {"<f8", ElementType::kDouble, 8},
    {"<f2", ElementType::kFloat16, 2},    {"|b1", ElementType::kBool, 1},
    {"|i1", ElementType::kInt8, 1},       {"|u1", ElementType::kUint8, 1},
    {"<i2", ElementType::kInt16, 2},      {"<u2", ElementType::kUint16, 2},
    {"<i4", ElementType::kInt32, 4},      {"<u4", ElementType::kUint32, 4},
    {"<i8", ElementType::kInt64, 8},      {"<u8", ElementType::kUint64, 8},
    {"<c8", ElementType::kComplex64, 8},  {"<c16", ElementType::kComplex128, 16},
    {"<V2", ElementType::kBfloat16, 2},   {"|V1", ElementType::kFloat8E4M3FN, 1},
    {"|V1", ElementType::kFloat8E5M2, 1}, {"|V1", ElementType::kFloat8E4M3FNUZ, 1},
    {"|V1", ElementType::kFloat8E8M0, 1}, {"|V1", ElementType::kFloat8E5M2FNUZ, 1},
};

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "not a valid .npy header: " + message);
}

// Reads the dictionary that numpy.lib.format writes; not a parser of Python.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool seen[3] = {};
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        mark(seen[0], key);
        header.descriptor = quoted();
      } else if (key == "fortran_order") {
        mark(seen[1], key);
        header.fortran_order = boolean();
      } else if (key == "shape") {
        mark(seen[2], key);
        header.shape = tuple();
      } else {
        refuse(fmt::format("unknown key '{:.40}'", key));
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (!rest_.empty()) refuse("text after the dictionary");
    if (!seen[0] || !seen[1] || !seen[2]) refuse("descr, fortran_order or shape is missing");
    return header;
  }

 private:
  static void mark(bool& seen, const std::string& key) {
    if (seen) refuse(fmt::format("'{}' appears twice", key));
    seen = true;
  }

  void skip_blanks() {
    const size_t at = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
  }

  bool take(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) refuse(fmt::format("'{}' expected before \"{:.20}\"", wanted, rest_));
  }

  std::string quoted() {
    skip_blanks();
    if (rest_.starts_with('[')) refuse("structured types are not supported");
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') refuse(fmt::format("text expected at \"{:.20}\"", rest_));
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) refuse("a quote is not closed");
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return word == "True";
      }
    }
    refuse("fortran_order is neither True nor False");
  }

  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      int64_t value = -1;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (error != std::errc() || value < 0) {
        refuse(fmt::format("a dimension expected at \"{:.20}\"", rest_));
      }
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      if (rest_.starts_with('L')) rest_.remove_prefix(1);  // written by Python 2
      if (values.size() == kMaxRank) refuse(fmt::format("more than {} dimensions", kMaxRank));
      values.push_back(value);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  std::string_view rest_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) { return Parser(text).parse(); }

NpyType parse_npy_descriptor(const std::string& descriptor) {
  for (const TypeRow& row : kTypes) {
    const std::string_view name(row.descriptor);
    if (name[1] == 'V') continue;
    // Items of one byte have no order; some writers say '<' all the same.
    const bool same = row.item_bytes == 1 ? descriptor.size() == 3 && descriptor[0] != '>' &&
                                                descriptor.substr(1) == name.substr(1)
                                          : descriptor == name;
    if (same) return {row.type, row.item_bytes};
  }
  const char order = descriptor.empty() ? '\0' : descriptor[0];
  const char kind = descriptor.size() < 2 ? '\0' : descriptor[1];
  uint32_t count = 0;
  const char* const end = descriptor.data() + descriptor.size();
  const bool counted = descriptor.size() > 2 && descriptor.size() < 12 &&
                       std::from_chars(descriptor.data() + 2, end, count).ptr == end;
  if (order != '>' && counted && count <= (1u << 24)) {
    if (kind == 'V' && (count == 1 || count == 2)) return {ElementType::kUndefined, count};
    if (kind == 'U') return {ElementType::kString, size_t{count} * 4, NpyType::Text::kUtf32};
    if (kind == 'S') return {ElementType::kString, count, NpyType::Text::kBytes};
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("type '{:.40}' of the .npy file is not supported{}", descriptor,
                          order == '>' ? ": it is big-endian; save it as little-endian" : ""));
}

std::string npy_descriptor(ElementType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.descriptor;
  }
  return "";
}

std::string make_npy_header(const std::string& descriptor, const std::vector<int64_t>& shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 descriptor, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  constexpr size_t kPrefix = 10;  // magic, version, length
  const size_t padded = (kPrefix + text.size() + 1 + 63) / 64 * 64;
  text.append(padded - kPrefix - text.size() - 1, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace sardonyx::cli
