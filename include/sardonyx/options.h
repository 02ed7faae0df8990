// Options of a Session and of one Run. Plain structs with defaults that suit most programs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sardonyx/allocator.h"

namespace sardonyx {

// How far the graph is rewritten before it runs. Outputs are the same up to float rounding.
enum class OptimizationLevel : int {
  kNone = 0,      // only what is needed to run
  kBasic = 1,     // folding, dead code, identities, exact fusions in standard operators
  kExtended = 2,  // fusions into internal operators
  kLayout = 3,    // blocked layouts for convolutional regions
  kAll = 99,
};

enum class LogLevel : int { kVerbose = 0, kInfo = 1, kWarning = 2, kError = 3, kOff = 4 };

// Asks a running create or Run to stop; may be set from any thread. Copies share the flag.
class CancelToken {
 public:
  CancelToken() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
  void cancel() noexcept { flag_->store(true, std::memory_order_relaxed); }
  bool is_cancelled() const noexcept { return flag_->load(std::memory_order_relaxed); }
  const std::atomic<bool>* flag() const noexcept { return flag_.get(); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

// When the weights of a compiled model are compared with their hash. All else of it always is
// before it is used.
enum class VerifyCompiled : int {
  kOff,
  // Once, after the first Run, on a thread of lowest priority. Damage is logged as an error and
  // shown by Session::weights_state(); the Runs so far may have given wrong numbers.
  kBackground,
  kFull,  // before the Session is there, which reads the whole file
};

struct Options {
  // Threads that a Run uses, the caller's included. 0: the cores that affinity and cgroup quota
  // allow; all Sessions with 0 share one set of threads, so that together they use no more. A
  // Session with a number of its own has threads of its own.
  int threads = 0;
  OptimizationLevel level = OptimizationLevel::kAll;
  // Names of passes or rules to leave out ("layout", "hard_swish"); `sardonyx inspect` lists those
  // that change a model.
  std::vector<std::string> disabled_passes;
  // Stops after this many graph edits; negative: no limit. For finding a guilty rewrite.
  int64_t max_edits = -1;
  // Upper bound for what one Run holds at once (arena, outputs, results whose sizes come out of
  // data), bytes; 0: none. A Run that wants more fails with kFail and says how much.
  size_t memory_limit_bytes = 0;
  // Supplies the memory of weights, arenas and outputs; null: the C library. Kept alive by the
  // Session and by the Values that hold its outputs.
  std::shared_ptr<Allocator> allocator;
  // Value of a symbolic dimension by its name in the model ("batch" -> 1): fixed at create.
  std::map<std::string, int64_t> free_dimensions;
  // Folder for external weights and compiled parts when the model comes from memory.
  std::filesystem::path external_data_folder;
  // Lines below this level are not logged. Not set: what the environment variable
  // SARDONYX_LOG_LEVEL names (verbose, info, warning, error, off), and kWarning without it.
  std::optional<LogLevel> log_level;
  VerifyCompiled verify_compiled = VerifyCompiled::kBackground;
  // Receives log lines, from the caller's thread and (kBackground) from one of the Session's own,
  // where it must not destroy the Session; by default they go to stderr.
  std::function<void(LogLevel, std::string_view)> log;
  // Called during create with a stage name and the fraction done in [0, 1].
  std::function<void(std::string_view, double)> progress;
  // A cancelled create ends with Error(kModelLoadCanceled).
  CancelToken cancel;
};

struct RunOptions {
  // A cancelled Run ends within milliseconds with Error(kFail); what it wrote into the caller's
  // outputs is undefined.
  CancelToken cancel;
};

}  // namespace sardonyx
