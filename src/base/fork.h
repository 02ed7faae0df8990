// fork() copies a process with one of its threads: locks that others held stay held in the child
// and their threads are gone. A ForkHandler puts its owner right: before_fork is called ahead of
// every fork() of the process, then after_fork in the parent and in the child. A ForkMutex is a
// mutex that is never held by another thread when a child begins. Handlers run one after the other
// in no particular order, so a ForkMutex must be a leaf: no other is taken, made or destroyed under
// it.
#pragma once

#include <functional>
#include <mutex>

namespace sardonyx {

class ForkHandler {
 public:
  ForkHandler(std::function<void()> before_fork, std::function<void(bool in_child)> after_fork);
  ~ForkHandler();
  ForkHandler(const ForkHandler&) = delete;
  ForkHandler& operator=(const ForkHandler&) = delete;

 private:
  friend struct ForkRegistry;
  const std::function<void()> before_fork_;
  const std::function<void(bool)> after_fork_;
};

class ForkMutex {
 public:
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  ForkHandler handler_{[this] { lock(); }, [this](bool) { unlock(); }};
};

}  // namespace sardonyx
