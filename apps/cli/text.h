// Small texts that several verbs print.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sardonyx::cli {

// Names from files may hold anything: control characters, marks that turn the direction of writing,
// and bytes that are no UTF-8 become \xNN, so that a line stays a line and a terminal obeys nobody.
std::string one_line(std::string_view text);

// one_line of each line of a text.
std::string lines(std::string_view text);

template <typename T>
decltype(auto) printable(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return one_line(value);
  } else {
    return value;
  }
}

template <typename T>
using Printable = std::decay_t<decltype(printable(std::declval<const T&>()))>;

// fmt::print to standard output with one_line of all arguments that are text. What is a text of
// many lines goes through fmt::print, and is made of one_lines.
template <typename... T>
void print(fmt::format_string<Printable<T>...> format, const T&... values) {
  fmt::print(fmt::runtime(fmt::string_view(format)), printable(values)...);
}

// To standard error, of which nobody can be told that it is full.
template <typename... T>
void print_error(fmt::format_string<T...> format, T&&... values) {
  std::fputs(fmt::format(format, std::forward<T>(values)...).c_str(), stderr);
}

// "17 B", "2.5 KiB", "301.0 MiB".
std::string byte_text(int64_t bytes);

// The candidate that differs from `word` in the fewest letters; empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sardonyx::cli
