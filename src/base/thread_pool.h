// ThreadPool: the workers that Runs share. A Run takes the pool with a Team and hands it one
// parallel step after another; a step ends when its chunks are done, whether or not any worker
// came. A Run that finds the pool taken works alone (Team::run then loops over the chunks). Workers
// spin while a Team is held, give way when nothing comes for a while, and park at most 50 us after
// it is released: an idle process burns nothing. After fork() the child starts workers of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/fork.h"

namespace sardonyx {

// Cores that this process may use: the affinity mask and the CPU quota of its cgroups (v1 and v2,
// rounded up, every level up to the root), whichever is less. At least 1.
int allowed_cores();

class ThreadPool {
 public:
  // Something that can be joined; made by a factory so that an application supplies its own
  // threads.
  class Worker {
   public:
    virtual ~Worker() = default;
    virtual void join() = 0;
  };
  using ThreadFactory = std::function<std::unique_ptr<Worker>(std::function<void()> body)>;

  // threads: how many work on a Run, the caller's own included (>= 1). Workers start on first use.
  explicit ThreadPool(int threads, ThreadFactory factory = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The pool that everybody shares who asks for no number of threads of their own: as many as
  // allowed_cores(). It lives while somebody uses it.
  static std::shared_ptr<ThreadPool> of_process();

  int threads() const { return threads_; }

  using Body = void (*)(void* context, int chunk);

  // A Run's hold on the workers.
  class Team {
   public:
    // pool may be null: works alone.
    explicit Team(ThreadPool* pool);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    bool has_workers() const { return pool_ != nullptr; }
    // Calls body(context, chunk) for every chunk in [0, chunks); returns when all are done. The
    // body must not throw.
    void run(int chunks, Body body, void* context);

   private:
    ThreadPool* pool_;
    bool awake_ = false;
  };

 private:
  void start_workers();
  void stop_workers();
  void begin_child();
  void worker_loop();
  bool try_chunk();
  void wake();

  // ticket_: epoch (32 bits) | next chunk (16) | chunks (16). A worker claims a chunk by a
  // compare-exchange on the whole word, so it never takes one of an older step.
  alignas(64) std::atomic<uint64_t> ticket_{0};
  Body body_ = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<int> done_{0};
  alignas(64) std::atomic<uint32_t> held_{
      0};  // bit 0: a Team holds the pool; the rest counts holds
  std::atomic<int> parked_{0};
  std::atomic<bool> stopping_{false};

  const int threads_;
  ThreadFactory factory_;
  std::mutex start_mutex_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<bool> started_{false};
  ForkHandler fork_handler_;  // last: the first to go
};

}  // namespace sardonyx
