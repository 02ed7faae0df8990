// Small texts that several verbs print.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::cli {

// Names from files may hold anything: control characters become \xNN, so that a line stays a line.
std::string one_line(std::string_view text);

// "17 B", "2.5 KiB", "301.0 MiB".
std::string byte_text(int64_t bytes);

// The candidate that differs from `word` in the fewest letters; empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sardonyx::cli
