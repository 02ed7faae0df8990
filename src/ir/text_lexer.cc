#include "ir/text_lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/text_element.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), is_word);
}

std::string quote_string(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (c == '\r') {
      quoted += "\\r";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string quote_name(std::string_view text) {
  const bool plain = is_identifier(text) && !is_type_word(text) && text != "inf" && text != "nan";
  return plain ? std::string(text) : quote_string(text);
}

void TextLexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

char TextLexer::peek() {
  skip_space();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool TextLexer::accept(char c) {
  if (peek() != c || at_ >= text_.size()) return false;
  ++at_;
  return true;
}

void TextLexer::expect(char c) {
  if (!accept(c)) fail(fmt::format("expected '{}'", c));
}

bool TextLexer::accept(std::string_view symbol) {
  skip_space();
  if (text_.substr(at_, symbol.size()) != symbol) return false;
  at_ += symbol.size();
  return true;
}

void TextLexer::expect(std::string_view symbol) {
  if (!accept(symbol)) fail(fmt::format("expected '{}'", symbol));
}

bool TextLexer::peek_identifier() { return is_letter(peek()); }

bool TextLexer::peek_number() {
  const char c = peek();
  if (is_digit(c) || c == '-' || c == '+' || c == '.') return true;
  const std::string_view word = peek_word();
  return word == "inf" || word == "nan";
}

std::string_view TextLexer::peek_word() {
  if (!is_letter(peek())) return {};
  size_t end = at_;
  while (end < text_.size() && is_word(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

std::string_view TextLexer::identifier(const char* what) {
  const std::string_view word = peek_word();
  if (word.empty()) fail(fmt::format("expected {}", what));
  at_ += word.size();
  return word;
}

std::string TextLexer::name(const char* what) {
  if (peek() == '"') return string_literal();
  return std::string(identifier(what));
}

std::string TextLexer::string_literal() {
  if (!accept('"')) fail("expected a string in double quotes");
  std::string value;
  while (true) {
    if (at_ >= text_.size()) fail("the string has no closing quote");
    char c = text_[at_++];
    if (c == '"') return value;
    if (c == '\\') {
      if (at_ >= text_.size()) fail("the string has no closing quote");
      c = text_[at_++];
      if (c == 'n') {
        c = '\n';
      } else if (c == 't') {
        c = '\t';
      } else if (c == 'r') {
        c = '\r';
      } else if (c == 'x') {
        const int high = at_ < text_.size() ? hex_digit(text_[at_]) : -1;
        const int low = at_ + 1 < text_.size() ? hex_digit(text_[at_ + 1]) : -1;
        if (high < 0 || low < 0) fail("expected two hexadecimal digits after \\x");
        c = static_cast<char>(high * 16 + low);
        at_ += 2;
      } else if (c != '"' && c != '\\') {
        fail("unknown escape; known are \\\" \\\\ \\n \\t \\r \\xNN");
      }
    }
    value += c;
  }
}

std::string_view TextLexer::number() {
  skip_space();
  size_t end = at_;
  if (end < text_.size() && (text_[end] == '-' || text_[end] == '+')) ++end;
  const bool hex = text_.substr(end, 2) == "0x";
  const size_t digits = end;
  while (end < text_.size()) {
    const char c = text_[end];
    const bool exponent_sign = !hex && (c == '-' || c == '+') && end > digits &&
                               (text_[end - 1] == 'e' || text_[end - 1] == 'E');
    const bool ellipsis = c == '.' && text_.substr(end, 3) == "...";
    if (!is_word(c) && (c != '.' || ellipsis) && !exponent_sign) break;
    ++end;
  }
  if (end == digits) fail("expected a number");
  const std::string_view token = text_.substr(at_, end - at_);
  at_ = end;
  return token;
}

void TextLexer::fail(const std::string& message) {
  skip_space();
  const size_t line = static_cast<size_t>(std::count(text_.begin(), text_.begin() + at_, '\n')) + 1;
  const size_t line_start = at_ == 0 ? std::string_view::npos : text_.rfind('\n', at_ - 1);
  const size_t column = line_start == std::string_view::npos ? at_ + 1 : at_ - line_start;
  std::string found = "the end of the text";
  if (at_ < text_.size()) {
    size_t end = at_ + 1;
    while (end < text_.size() && end < at_ + 20 && is_word(text_[at_]) && is_word(text_[end]))
      ++end;
    found = fmt::format("'{}'", text_.substr(at_, end - at_));
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("line {}, column {}: {}, found {}", line, column, message, found));
}

}  // namespace sardonyx
