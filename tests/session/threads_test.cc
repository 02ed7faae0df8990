// How many threads a session uses, and that they rest when there is nothing to do.
#include <sched.h>
#include <time.h>

#include <chrono>
#include <thread>

#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

int threads_of_process() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    (void)entry;
    ++count;
  }
  return count;
}

// A thread that has been joined may be listed a little longer.
int settled_threads() {
  int count = threads_of_process();
  for (int same = 0; same < 20; ++same) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const int now = threads_of_process();
    if (now != count) same = 0;
    count = now;
  }
  return count;
}

bool threads_become(int count) {
  for (int i = 0; i < 3000 && threads_of_process() != count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return threads_of_process() == count;
}

double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Session session_with(int threads) {
  Options options;
  options.threads = threads;
  return Session(two_layers(), options);
}

TEST(Threads, RestAMillisecondAfterARun) {
  const Session session = session_with(2);
  const Value x = wave({256, 256});
  constexpr double kIdle = 0.002;  // seconds of CPU in 0.1 s
  double least = 1;
  // Another process may steal the time in which a worker goes to sleep: the best of some tries.
  for (int i = 0; i < 50 && least >= kIdle; ++i) {
    session.run({{"x", x}});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const double before = cpu_seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    least = std::min(least, cpu_seconds() - before);
  }
  EXPECT_LT(least, kIdle);
}

// Runs with pauses between them cost about what they cost without.
TEST(Threads, PausesCostNothing) {
  const Session session = session_with(2);
  const Value x = wave({256, 256});
  const auto cost_of_runs = [&](std::chrono::milliseconds pause) {
    const double before = cpu_seconds();
    for (int i = 0; i < 10; ++i) {
      session.run({{"x", x}});
      std::this_thread::sleep_for(pause);
    }
    return cpu_seconds() - before;
  };
  cost_of_runs(std::chrono::milliseconds(0));
  double least = 1, with_pauses = 1;
  for (int i = 0; i < 5; ++i) {
    least = std::min(least, cost_of_runs(std::chrono::milliseconds(0)));
    with_pauses = std::min(with_pauses, cost_of_runs(std::chrono::milliseconds(30)));
  }
  EXPECT_LT(with_pauses, 2 * least + 0.005) << "seconds of CPU; without pauses " << least;
}

TEST(Threads, SessionsWithTheDefaultShareTheirThreads) {
  const Value x = wave({256, 256});
  const int before = settled_threads();
  {
    std::vector<Session> sessions;
    for (int i = 0; i < 5; ++i) {
      sessions.push_back(session_with(0));
      sessions.back().run({{"x", x}});
    }
    EXPECT_LE(threads_of_process(), before + sessions[0].threads() - 1);
    // A number of one's own means threads of one's own.
    sessions.push_back(session_with(3));
    const int shared = threads_of_process();
    sessions.back().run({{"x", x}});
    EXPECT_EQ(threads_of_process(), shared + 2);
    EXPECT_EQ(sessions.back().threads(), 3);
  }
  EXPECT_TRUE(threads_become(before));
}

TEST(Threads, FollowTheAffinityOfTheTimeOfCreate) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  CPU_ZERO(&one);
  int last = -1;  // CPU 1 on a machine of two: not the first one
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &all)) last = cpu;
  }
  CPU_SET(last, &one);
  const Session wide = session_with(0);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const Session narrow = session_with(0);
  EXPECT_EQ(narrow.threads(), 1);
  const Value x = wave({64, 256});
  EXPECT_EQ(to_vector(narrow.run({{"x", x}})[0]), to_vector(wide.run({{"x", x}})[0]));
  ASSERT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
  EXPECT_EQ(session_with(0).threads(), wide.threads());
  Options options;
  options.threads = -1;
  expect_mentions(message_of(ErrorCode::kInvalidArgument, [&] { Session(two_layers(), options); }),
                  {"options.threads is -1"});
}

}  // namespace
}  // namespace sardonyx
