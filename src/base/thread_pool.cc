#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/float_mode.h"

namespace sardonyx {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSpinAfterRun = std::chrono::microseconds(50);
constexpr int kPausesBetweenLooks = 32;
constexpr int kSpinsBeforeYield = 4096;

inline void cpu_relax() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class StdWorker : public ThreadPool::Worker {
 public:
  explicit StdWorker(std::function<void()> body) : thread_(std::move(body)) {}
  void join() override { thread_.join(); }

 private:
  std::thread thread_;
};

constexpr uint64_t make_ticket(uint32_t epoch, uint32_t next, uint32_t chunks) {
  return (uint64_t{epoch} << 32) | (uint64_t{next} << 16) | chunks;
}
constexpr uint32_t epoch_of(uint64_t ticket) { return static_cast<uint32_t>(ticket >> 32); }
constexpr uint32_t next_of(uint64_t ticket) { return (ticket >> 16) & 0xffff; }
constexpr uint32_t chunks_of(uint64_t ticket) { return ticket & 0xffff; }

}  // namespace

ThreadPool::ThreadPool(int threads, ThreadFactory factory)
    : threads_(std::max(1, threads)),
      factory_(std::move(factory)),
      fork_handler_([this] { start_mutex_.lock(); },
                    [this](bool in_child) {
                      if (in_child) {
                        begin_child();
                      } else {
                        start_mutex_.unlock();
                      }
                    }) {
  if (!factory_) {
    factory_ = [](std::function<void()> body) {
      return std::make_unique<StdWorker>(std::move(body));
    };
  }
}

ThreadPool::~ThreadPool() { stop_workers(); }

std::shared_ptr<ThreadPool> ThreadPool::of_process() {
  // Never destroyed: a static Session may be made or go at any time.
  static ForkMutex& mutex = *new ForkMutex;
  static std::weak_ptr<ThreadPool>& shared = *new std::weak_ptr<ThreadPool>;
  // Pools are made and go outside of the lock, as ForkMutex asks.
  auto fresh = std::make_shared<ThreadPool>(allowed_cores());
  std::shared_ptr<ThreadPool> current;
  const std::lock_guard<ForkMutex> lock(mutex);
  current = shared.lock();
  if (current && current->threads() == fresh->threads()) return current;
  shared = fresh;
  return fresh;
}

void ThreadPool::start_workers() {
  if (started_.load(std::memory_order_acquire)) return;
  const std::lock_guard<std::mutex> lock(start_mutex_);
  if (started_.load(std::memory_order_relaxed)) return;
  for (int i = 1; i < threads_; ++i) {
    try {
      workers_.push_back(factory_([this] { worker_loop(); }));
    } catch (...) {
      break;  // fewer workers only make a Run slower
    }
  }
  started_.store(true, std::memory_order_release);
}

// The threads of the parent process do not exist in a child, nor the Run that may have held them.
void ThreadPool::begin_child() {
  // Their handles must not be joined or destroyed.
  static auto& lost = *new std::vector<std::unique_ptr<Worker>>;
  for (auto& worker : workers_) lost.push_back(std::move(worker));
  workers_.clear();
  started_.store(false);
  parked_.store(0);
  if ((held_.load() & 1) != 0) held_.fetch_add(1);
  ticket_.store(make_ticket(epoch_of(ticket_.load()) + 1, 0, 0));
  start_mutex_.unlock();
}

void ThreadPool::stop_workers() {
  const std::lock_guard<std::mutex> lock(start_mutex_);
  stopping_.store(true);
  held_.fetch_add(2);
  held_.notify_all();
  for (auto& worker : workers_) worker->join();
  workers_.clear();
}

bool ThreadPool::try_chunk() {
  uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (next_of(ticket) < chunks_of(ticket)) {
    if (ticket_.compare_exchange_weak(ticket, ticket + (uint64_t{1} << 16),
                                      std::memory_order_acq_rel, std::memory_order_acquire)) {
      // The step cannot end, nor the next be published, before this chunk is counted as done.
      body_(context_, static_cast<int>(next_of(ticket)));
      done_.fetch_add(1, std::memory_order_release);
      return true;
    }
  }
  return false;
}

void ThreadPool::worker_loop() {
  const FloatModeScope float_mode;  // a new thread has that of its maker
  while (!stopping_.load(std::memory_order_relaxed)) {
    const uint32_t seen = held_.load(std::memory_order_acquire);
    if ((seen & 1) == 0) {
      // Nobody holds the pool: linger a little, since Runs often follow each other, then park.
      const auto deadline = Clock::now() + kSpinAfterRun;
      bool again = false;
      do {
        for (int i = 0; i < kPausesBetweenLooks; ++i) cpu_relax();
        again = held_.load(std::memory_order_acquire) != seen;
      } while (!again && Clock::now() < deadline);
      if (again) continue;
      parked_.fetch_add(1);
      held_.wait(seen);
      parked_.fetch_sub(1);
      continue;
    }
    int idle = 0;
    while (held_.load(std::memory_order_acquire) == seen) {
      if (try_chunk()) {
        idle = 0;
      } else if (++idle < kSpinsBeforeYield) {
        cpu_relax();
      } else {
        sched_yield();
      }
    }
  }
}

void ThreadPool::wake() {
  if (parked_.load() != 0) held_.notify_all();
}

ThreadPool::Team::Team(ThreadPool* pool) : pool_(pool) {
  if (pool_ == nullptr) return;
  if (pool_->threads_ < 2) {
    pool_ = nullptr;
    return;
  }
  uint32_t seen = pool_->held_.load(std::memory_order_relaxed);
  if ((seen & 1) != 0 || !pool_->held_.compare_exchange_strong(seen, seen + 1)) {
    pool_ = nullptr;  // taken by another Run
  }
}

ThreadPool::Team::~Team() {
  if (pool_ != nullptr) pool_->held_.fetch_add(1, std::memory_order_release);
}

void ThreadPool::Team::run(int chunks, Body body, void* context) {
  if (pool_ == nullptr || chunks < 2) {
    for (int chunk = 0; chunk < chunks; ++chunk) body(context, chunk);
    return;
  }
  if (!awake_) {
    // Workers are started and woken by the first parallel step only.
    pool_->start_workers();
    pool_->wake();
    awake_ = true;
  }
  pool_->body_ = body;
  pool_->context_ = context;
  pool_->done_.store(0, std::memory_order_relaxed);
  const uint32_t epoch = epoch_of(pool_->ticket_.load(std::memory_order_relaxed)) + 1;
  pool_->ticket_.store(make_ticket(epoch, 0, static_cast<uint32_t>(chunks)),
                       std::memory_order_release);
  while (pool_->try_chunk()) {
  }
  int idle = 0;
  while (pool_->done_.load(std::memory_order_acquire) != chunks) {
    if (++idle < kSpinsBeforeYield) {
      cpu_relax();
    } else {
      sched_yield();
    }
  }
}

}  // namespace sardonyx
