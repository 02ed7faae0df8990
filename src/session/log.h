// The log of a session: lines with a level, to the function in Options::log or to stderr.
#pragma once

#include <optional>
#include <string_view>

#include "sardonyx/options.h"

namespace sardonyx {

// "verbose", "info", "warning", "error", "off".
const char* to_string(LogLevel level) noexcept;
std::optional<LogLevel> parse_log_level(std::string_view name);

// The level the options ask for, or SARDONYX_LOG_LEVEL, or kWarning. Throws Error(kInvalidArgument)
// when the variable holds an unknown name.
LogLevel log_level_of(const Options& options);

// Keeps a reference to the options.
class Log {
 public:
  explicit Log(const Options& options) : options_(options), level_(log_level_of(options)) {}

  // Would a line be kept? Ask before making an expensive one.
  bool wants(LogLevel level) const { return level >= level_ && level_ != LogLevel::kOff; }
  void write(LogLevel level, std::string_view line) const;

 private:
  const Options& options_;
  const LogLevel level_;
};

}  // namespace sardonyx
