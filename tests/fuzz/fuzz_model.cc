// Fuzz target: bytes taken for an ONNX model are read, compiled without and with all optimisations,
// and run once on inputs of zeros. Whatever the bytes say, the outcome is a result or an Error.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "sardonyx/sardonyx.h"

namespace sardonyx {
namespace {

constexpr size_t kMemoryLimitBytes = size_t{64} << 20;
constexpr int64_t kMostInputElements = int64_t{1} << 16;
constexpr std::chrono::seconds kRunTime{1};  // of one Run; then it is cancelled

// Sets a token when the time is over; a model may loop for ever and be right.
class Deadline {
 public:
  Deadline(CancelToken token, std::chrono::seconds time)
      : watcher_([this, token = std::move(token), time]() mutable {
          std::unique_lock<std::mutex> lock(mutex_);
          if (!finished_.wait_for(lock, time, [this] { return done_; })) token.cancel();
        }) {}
  ~Deadline() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      done_ = true;
    }
    finished_.notify_one();
    watcher_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable finished_;
  bool done_ = false;
  std::thread watcher_;
};

// Zeros for every input, a dimension that is not fixed taken as 1; nothing when an input is no
// tensor or too large to be worth a run.
std::optional<std::vector<Value>> zero_inputs(const Session& session) {
  std::vector<Value> values;
  for (const ValueInfo& info : session.inputs()) {
    if (info.is_optional) {
      values.emplace_back();
      continue;
    }
    if (info.element_type == ElementType::kUndefined) return std::nullopt;
    std::vector<int64_t> shape = info.shape;
    int64_t elements = 1;
    for (int64_t& dim : shape) {
      if (dim < 0) dim = 1;
      if (dim > kMostInputElements) return std::nullopt;
      elements *= dim;
      if (elements > kMostInputElements) return std::nullopt;
    }
    values.push_back(Value::tensor(info.element_type, shape));
  }
  return values;
}

void load_and_run(std::span<const std::byte> model, OptimizationLevel level) {
  Options options;
  options.threads = 1;
  options.level = level;
  options.memory_limit_bytes = kMemoryLimitBytes;
  options.log_level = LogLevel::kOff;
  try {
    const Session session(model, options);
    const std::optional<std::vector<Value>> inputs = zero_inputs(session);
    if (!inputs) return;
    const RunOptions run_options;
    const Deadline deadline(run_options.cancel, kRunTime);
    session.run(*inputs, run_options);
  } catch (const Error&) {
    // The expected answer to bad bytes; anything else that is thrown ends the process.
  }
}

}  // namespace
}  // namespace sardonyx

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto model = std::as_bytes(std::span(data, size));
  sardonyx::load_and_run(model, sardonyx::OptimizationLevel::kNone);
  sardonyx::load_and_run(model, sardonyx::OptimizationLevel::kAll);
  return 0;
}
