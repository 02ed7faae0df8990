#include "session/log.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

// By number.
constexpr const char* kNames[] = {"verbose", "info", "warning", "error", "off"};

}  // namespace

const char* to_string(LogLevel level) noexcept { return kNames[static_cast<int>(level)]; }

std::optional<LogLevel> parse_log_level(std::string_view name) {
  for (int level = 0; level < static_cast<int>(std::size(kNames)); ++level) {
    if (name == kNames[level]) return static_cast<LogLevel>(level);
  }
  return std::nullopt;
}

LogLevel log_level_of(const Options& options) {
  if (options.log_level) return *options.log_level;
  const char* const name = std::getenv("SARDONYX_LOG_LEVEL");
  if (name == nullptr || *name == '\0') return LogLevel::kWarning;
  const std::optional<LogLevel> level = parse_log_level(name);
  if (level) return *level;
  throw Error(ErrorCode::kInvalidArgument,
              std::string("SARDONYX_LOG_LEVEL is '") + name +
                  "'; expected one of verbose, info, warning, error, off (or unset it)");
}

void Log::write(LogLevel level, std::string_view line) const {
  if (!wants(level)) return;
  if (options_.log) {
    options_.log(level, line);
  } else {
    std::fprintf(stderr, "sardonyx: %s: %.*s\n", to_string(level), static_cast<int>(line.size()),
                 line.data());
  }
}

}  // namespace sardonyx
