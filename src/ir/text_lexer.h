// TextLexer: characters to words for the text syntax of graphs, tensors and nodes. White space and
// `# comments` are skipped. Errors are Error(kInvalidArgument) with line and column. Used by
// the parser and by readers of case files, which put their own syntax around it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sardonyx {

class TextLexer {
 public:
  explicit TextLexer(std::string_view text) : text_(text) {}

  // The next character that is neither space nor comment; '\0' at the end.
  char peek();
  bool at_end() { return peek() == '\0' && at_ >= text_.size(); }
  bool accept(char c);
  void expect(char c);
  // "=>", "...".
  bool accept(std::string_view symbol);
  void expect(std::string_view symbol);

  bool peek_identifier();  // [A-Za-z_]
  bool peek_number();      // digit, sign, '.', or one of inf, nan
  std::string_view identifier(const char* what);
  // The identifier that follows, without taking it; empty when there is none.
  std::string_view peek_word();
  // An identifier or a quoted string.
  std::string name(const char* what);
  std::string string_literal();
  // The characters of a number: 12, -1.5e3, inf, -inf, nan, 0x7fc0.
  std::string_view number();

  size_t position() const { return at_; }
  void rewind(size_t position) { at_ = position; }
  // Throws: "line 3, column 7: <message>, found '<next word>'".
  [[noreturn]] void fail(const std::string& message);

 private:
  void skip_space();
  std::string_view text_;
  size_t at_ = 0;
};

bool is_identifier(std::string_view text);

// `text` as it is when it is an identifier, else quoted with escapes.
std::string quote_name(std::string_view text);
// "text" with \" \\ \n \t \r \xNN escapes.
std::string quote_string(std::string_view text);

}  // namespace sardonyx
