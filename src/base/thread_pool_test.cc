#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>

namespace sardonyx {
namespace {

struct Counts {
  std::array<std::atomic<int>, 64> hits{};
};

void count_chunk(void* context, int chunk) { ++static_cast<Counts*>(context)->hits[chunk]; }

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

TEST(ThreadPool, EveryChunkRunsExactlyOnce) {
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int chunks : {1, 2, 3, 17, 64}) {
      for (int repeat = 0; repeat < 200; ++repeat) {
        Counts counts;
        ThreadPool::Team team(&pool);
        for (int step = 0; step < 5; ++step) team.run(chunks, count_chunk, &counts);
        for (int i = 0; i < 64; ++i) ASSERT_EQ(counts.hits[i], i < chunks ? 5 : 0);
      }
    }
  }
}

TEST(ThreadPool, SecondTeamWorksAlone) {
  ThreadPool pool(2);
  ThreadPool::Team first(&pool);
  ThreadPool::Team second(&pool);
  EXPECT_TRUE(first.has_workers());
  EXPECT_FALSE(second.has_workers());
  Counts counts;
  second.run(8, count_chunk, &counts);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(counts.hits[i], 1);
}

TEST(ThreadPool, ConcurrentRunsShareThePool) {
  ThreadPool pool(2);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 300; ++repeat) {
        Counts counts;
        ThreadPool::Team team(&pool);
        team.run(16, count_chunk, &counts);
        for (int i = 0; i < 16; ++i) wrong += counts.hits[i] != 1;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, ParksWhenIdle) {
  constexpr double kIdle = 0.01;  // seconds of CPU in 0.1 s
  ThreadPool pool(2);
  double least = 1;
  // Another process may steal the time in which a worker goes to sleep: the best of some tries.
  for (int i = 0; i < 50 && least >= kIdle; ++i) {
    Counts counts;
    {
      ThreadPool::Team team(&pool);
      team.run(16, count_chunk, &counts);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const double before = cpu_seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    least = std::min(least, cpu_seconds() - before);
  }
  EXPECT_LT(least, kIdle);
}

TEST(ThreadPool, WorksInAForkedChild) {
  ThreadPool pool(2);
  Counts counts;
  {
    ThreadPool::Team team(&pool);
    team.run(16, count_chunk, &counts);
  }
  const pid_t child = fork();
  if (child == 0) {
    Counts mine;
    {
      ThreadPool::Team team(&pool);
      for (int i = 0; i < 100; ++i) team.run(16, count_chunk, &mine);
    }
    int total = 0;
    for (auto& hit : mine.hits) total += hit;
    _exit(total == 1600 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ThreadPool, AllowedCoresIsPositiveAndRespectsAffinity) {
  EXPECT_GE(allowed_cores(), 1);
  cpu_set_t saved, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(saved), &saved), 0);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &saved)) {
      CPU_SET(i, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(allowed_cores(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(saved), &saved), 0);
}

}  // namespace
}  // namespace sardonyx
