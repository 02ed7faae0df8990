// fork() while other threads use sessions. Not for builds with sanitizers: their run times keep
// locks of their allocators in the child of a process whose threads allocate, so that programs
// without a session hang there, too.
#include <atomic>
#include <thread>

#include "tests/session/in_child.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

class ForkBusyTest : public ::testing::TestWithParam<int> {};

// Other threads are in the middle of creates, Runs and trims when the process forks.
TEST_P(ForkBusyTest, ChildrenWork) {
  Options options;
  options.threads = GetParam();
  const std::vector<std::byte> model = two_layers();
  const Value x = wave({64, 256});
  const Session session(model, options);
  const std::vector<float> expected = to_vector(session.run({{"x", x}})[0]);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      while (!done) {
        if (t == 0) session.trim();
        session.run({{"x", x}});
        if (t == 1) {
          const Session own(model, options);
          own.run({{"x", x}});
        }
      }
    });
  }
  for (int i = 0; i < 30 && !HasFailure(); ++i) {
    EXPECT_EQ(in_child([&] {
                for (int k = 0; k < 3; ++k) {
                  if (to_vector(session.run({{"x", x}})[0]) != expected) return 1;
                }
                const Session own(model, options);
                return to_vector(own.run({{"x", x}})[0]) == expected ? 0 : 2;
              }),
              0)
        << "child " << i;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Fork, ForkBusyTest, ::testing::Values(0, 1, 2),
                         [](const auto& test) { return "Threads" + std::to_string(test.param); });

}  // namespace
}  // namespace sardonyx
