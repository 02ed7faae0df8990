#include "session/weights_check.h"

#include <fmt/format.h>

#include "session/log.h"

namespace sardonyx {
namespace {

Options log_options_of(const Options& options) {
  Options kept;
  kept.log = options.log;
  kept.log_level = log_level_of(options);
  return kept;
}

struct Findings {
  bool is_complete = true;
  std::string problems;
};

Findings check(const std::vector<artifact::UncheckedWeights>& all,
               const std::atomic<bool>& cancelled) {
  Findings found;
  for (const artifact::UncheckedWeights& weights : all) {
    try {
      if (!weights.check(cancelled)) found.is_complete = false;
    } catch (const std::exception& error) {
      if (!found.problems.empty()) found.problems += "; ";
      found.problems += weights.path().empty() ? "in memory" : fmt::format("'{}'", weights.path());
      found.problems += fmt::format(": {}", error.what());
    }
  }
  return found;
}

void log_damage(const Options& log_options, const std::string& problems) {
  try {
    Log(log_options)
        .write(LogLevel::kError,
               fmt::format("{}. Runs of this session may give wrong numbers; load the model with "
                           "verify_compiled = full to find such damage before the first Run",
                           problems));
  } catch (const std::exception&) {
    // A log that fails must not end the process.
  }
}

}  // namespace

WeightsCheck::WeightsCheck(std::vector<artifact::UncheckedWeights> weights, const Options& options)
    : task_([this, weights = std::move(weights),
             log_options = log_options_of(options)](BackgroundTask::Control& control) {
        const Findings found = check(weights, control.cancelled());
        control.tell([&] {
          if (!found.problems.empty()) {
            log_damage(log_options, found.problems);
            state_.store(WeightsState::kDamaged, std::memory_order_release);
          } else if (found.is_complete) {
            state_.store(WeightsState::kIntact, std::memory_order_release);
          }
        });
      }) {}

}  // namespace sardonyx
