// WeightsCheck: the weights of a compiled model are compared with their hashes once, in the
// background after the first Run, so that a start need not read them. Called by Session.
#pragma once

#include <atomic>
#include <vector>

#include "artifact/artifact.h"
#include "base/background_task.h"
#include "sardonyx/session.h"

namespace sardonyx {

class WeightsCheck {
 public:
  // Keeps copies of what the options say of the log.
  WeightsCheck(std::vector<artifact::UncheckedWeights> weights, const Options& options);

  void start() { task_.start(); }
  WeightsState state() const { return state_.load(std::memory_order_acquire); }

 private:
  std::atomic<WeightsState> state_{WeightsState::kUnchecked};
  BackgroundTask task_;  // last: the first to go
};

}  // namespace sardonyx
