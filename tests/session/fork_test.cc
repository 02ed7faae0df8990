// Sessions after fork(): the child's copy works, with threads and without, whatever other threads
// of the parent were doing.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

constexpr unsigned kSecondsToHang = 60;

// The exit status of `body` in a child, which ends without running the parent's exit handlers.
template <typename Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSecondsToHang);  // a child that hangs dies of SIGALRM
    int status = 99;
    try {
      status = body();
    } catch (const std::exception& error) {
      (void)!write(2, error.what(), std::strlen(error.what()));
    }
    _exit(status);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class ForkTest : public ::testing::TestWithParam<int> {
 protected:
  ForkTest() { options_.threads = GetParam(); }

  const std::vector<std::byte> model_ = two_layers();
  const Value x_ = wave({64, 256});
  Options options_;
};

TEST_P(ForkTest, ASessionOfTheParentWorks) {
  const Session session(model_, options_);
  EXPECT_EQ(in_child([&] {
              return session.run({{"x", x_}}).size() == 1 ? 0 : 1;
            }),
            0)
      << "before the first Run";
  const std::vector<float> expected = to_vector(session.run({{"x", x_}})[0]);
  const auto right = [&] { return to_vector(session.run({{"x", x_}})[0]) == expected; };
  EXPECT_EQ(in_child([&] {
              for (int i = 0; i < 20; ++i) {
                if (!right()) return 1;
              }
              std::atomic<int> wrong{0};
              std::vector<std::thread> threads;
              for (int t = 0; t < 4; ++t) {
                threads.emplace_back([&] {
                  for (int i = 0; i < 5; ++i) wrong += !right();
                });
              }
              for (std::thread& thread : threads) thread.join();
              return wrong.load();
            }),
            0);
  // And in a child of the child, while the parent goes on.
  EXPECT_EQ(in_child([&] { return in_child([&] { return right() ? 0 : 1; }); }), 0);
  EXPECT_TRUE(right());
}

TEST_P(ForkTest, AChildMakesAndDestroysSessions) {
  auto session = std::make_unique<Session>(model_, options_);
  const std::vector<float> expected = to_vector(session->run({{"x", x_}})[0]);
  EXPECT_EQ(in_child([&] {
              session.reset();
              const Session own(model_, options_);
              return to_vector(own.run({{"x", x_}})[0]) == expected ? 0 : 1;
            }),
            0);
  EXPECT_EQ(to_vector(session->run({{"x", x_}})[0]), expected);
}

// Other threads are in the middle of creates, Runs and trims when the process forks.
TEST_P(ForkTest, WhileOtherThreadsAreBusy) {
#ifdef __SANITIZE_ADDRESS__
  // Programs without a line of ours hang there, too, when threads allocate during a fork().
  GTEST_SKIP() << "the allocator of g++ 12's address sanitizer keeps a lock in the child";
#endif
  const Session session(model_, options_);
  const std::vector<float> expected = to_vector(session.run({{"x", x_}})[0]);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      while (!done) {
        if (t == 0) session.trim();
        session.run({{"x", x_}});
        if (t == 1) {
          const Session own(model_, options_);
          own.run({{"x", x_}});
        }
      }
    });
  }
  for (int i = 0; i < 30 && !HasFailure(); ++i) {
    EXPECT_EQ(in_child([&] {
                for (int k = 0; k < 3; ++k) {
                  if (to_vector(session.run({{"x", x_}})[0]) != expected) return 1;
                }
                const Session own(model_, options_);
                return to_vector(own.run({{"x", x_}})[0]) == expected ? 0 : 2;
              }),
              0)
        << "child " << i;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Fork, ForkTest, ::testing::Values(0, 1, 2),
                         [](const auto& test) { return "Threads" + std::to_string(test.param); });

}  // namespace
}  // namespace sardonyx
