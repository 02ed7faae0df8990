// BackgroundTask: one piece of work on a thread of lowest priority, beside what the process is
// there for. It starts when it is asked to, at most once, and is asked to end when its owner goes,
// who does not wait for it: on a busy machine such a thread may not run for long. In a child after
// fork() it has not been started. Called by session.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "base/fork.h"

namespace sardonyx {

class BackgroundTask {
 public:
  // What the work can ask and tell while it runs.
  class Control {
   public:
    const std::atomic<bool>& cancelled() const { return cancelled_; }
    // Calls `report` unless the owner has gone, who cannot go meanwhile.
    template <typename Report>
    void tell(Report&& report) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!cancelled_.load()) report();
    }

   private:
    friend class BackgroundTask;
    std::atomic<bool> cancelled_{false};
    std::mutex mutex_;
  };

  // `work` owns all it touches, but for what it does in tell(). It looks at cancelled() every
  // millisecond or so, and returns soon after that has become true. It must not throw.
  using Work = std::function<void(Control& control)>;

  explicit BackgroundTask(Work work);
  // Cancels. Waits only for a tell() that has begun.
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  // From any thread, any number of times. Where no thread can be had nothing happens.
  void start() {
    if (!started_.load(std::memory_order_relaxed)) start_thread();
  }

 private:
  void start_thread();

  const std::shared_ptr<const Work> work_;
  const std::shared_ptr<Control> control_;
  std::atomic<bool> started_{false};
  ForkHandler fork_handler_;  // last: the first to go
};

}  // namespace sardonyx
