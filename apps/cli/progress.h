// How far a long command is, on stderr: one line that is rewritten on a terminal, else lines of
// their own. Shown on a terminal once a command has taken a moment, or always with --progress.
#pragma once

#include <string_view>

namespace sardonyx::cli {

enum class ProgressMode {
  kAuto,    // on a terminal, after a moment
  kAlways,  // at once, terminal or not
  kNever,
};
void set_progress_mode(ProgressMode mode);

// done: 0 to 1. Cheap when there is nothing to show. One thread at a time.
void show_progress(std::string_view stage, double done);

// Takes the line off the terminal: call before anything else is printed.
void clear_progress();

}  // namespace sardonyx::cli
