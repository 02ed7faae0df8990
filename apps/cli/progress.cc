#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

#include "text.h"

namespace sardonyx::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kBeforeFirst{300};
constexpr std::chrono::milliseconds kBetween{100};
constexpr const char* kEraseLine = "\r\x1b[2K";

bool is_terminal() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

struct State {
  ProgressMode mode = ProgressMode::kAuto;
  const bool on_terminal = is_terminal();
  const Clock::time_point started = Clock::now();
  Clock::time_point shown{};
  int last_percent = -1;
  bool is_visible = false;
  std::mutex mutex;  // a session may log from a thread of its own

  bool wants(int percent) const {
    switch (mode) {
      case ProgressMode::kNever:
        return false;
      case ProgressMode::kAlways:
        return percent != last_percent;
      case ProgressMode::kAuto:
        break;
    }
    const Clock::time_point now = Clock::now();
    return on_terminal && now - started >= kBeforeFirst && now - shown >= kBetween;
  }
};

State& state() {
  static State state;
  return state;
}

}  // namespace

void set_progress_mode(ProgressMode mode) {
  const std::lock_guard lock(state().mutex);
  state().mode = mode;
}

void show_progress(std::string_view stage, double done) {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  const int percent = static_cast<int>(std::lround(100 * std::clamp(done, 0.0, 1.0)));
  if (!now.wants(percent)) return;
  const std::string line = fmt::format("{:3} %  {}", percent, one_line(stage));
  if (now.on_terminal) {
    // A line that wraps could not be erased.
    print_error("{}{}", kEraseLine, line.substr(0, 70));
  } else {
    print_error("{}\n", line);
  }
  std::fflush(stderr);
  now.is_visible = now.on_terminal;
  now.last_percent = percent;
  now.shown = Clock::now();
}

void clear_progress() {
  State& now = state();
  const std::lock_guard lock(now.mutex);
  if (!now.is_visible) return;
  std::fputs(kEraseLine, stderr);
  std::fflush(stderr);
  now.is_visible = false;
}

}  // namespace sardonyx::cli
