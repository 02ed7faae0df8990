#include "base/background_task.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

namespace sardonyx {
namespace {

void nap() { std::this_thread::sleep_for(std::chrono::microseconds(100)); }

TEST(BackgroundTask, RunsOnceAndPolitely) {
  const auto runs = std::make_shared<std::atomic<int>>(0);
  const auto priority = std::make_shared<std::atomic<int>>(-100);
  BackgroundTask task([=](BackgroundTask::Control&) {
    *priority = getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
    ++*runs;
  });
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) callers.emplace_back([&] { task.start(); });
  for (std::thread& caller : callers) caller.join();
  while (*runs == 0) nap();
  task.start();
  for (int i = 0; i < 20; ++i) nap();
  EXPECT_EQ(*runs, 1);
  EXPECT_EQ(*priority, 19);
  EXPECT_LT(getpriority(PRIO_PROCESS, static_cast<id_t>(gettid())), 19) << "of its thread alone";
}

TEST(BackgroundTask, NotStartedDoesNothing) {
  BackgroundTask([](BackgroundTask::Control&) { FAIL(); });
}

TEST(BackgroundTask, ItsOwnerCancelsAndHearsNoMore) {
  struct State {
    std::atomic<bool> running{false}, ended{false}, told{false};
  };
  const auto state = std::make_shared<State>();
  {
    BackgroundTask task([state](BackgroundTask::Control& control) {
      state->running = true;
      while (!control.cancelled()) nap();
      control.tell([&] { state->told = true; });
      state->ended = true;
    });
    task.start();
    while (!state->running) nap();
  }
  while (!state->ended) nap();
  EXPECT_FALSE(state->told);
}

TEST(BackgroundTask, ItsOwnerWaitsForWhatItTells) {
  struct State {
    std::atomic<bool> telling{false}, told{false};
  };
  const auto state = std::make_shared<State>();
  {
    BackgroundTask task([state](BackgroundTask::Control& control) {
      control.tell([&] {
        state->telling = true;
        for (int i = 0; i < 100; ++i) nap();
        state->told = true;
      });
    });
    task.start();
    while (!state->telling) nap();
  }
  EXPECT_TRUE(state->told);
}

// In the child the thread is gone; what owns it goes in peace, and the work can start anew.
TEST(BackgroundTask, AChildHasNotStartedIt) {
  const auto runs = std::make_shared<std::atomic<int>>(0);
  auto task = std::make_unique<BackgroundTask>([runs](BackgroundTask::Control& control) {
    ++*runs;
    while (!control.cancelled()) nap();
  });
  task->start();
  while (*runs == 0) nap();
  const pid_t child = fork();
  if (child == 0) {
    alarm(400);
    task->start();
    while (*runs == 1) nap();
    task.reset();
    _exit(*runs == 2 ? 7 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace sardonyx
