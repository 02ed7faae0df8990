// Sessions after fork(): the child's copy works, with threads and without.
#include <atomic>
#include <thread>

#include "tests/session/in_child.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

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
#if defined(__SANITIZE_THREAD__)
  // It takes the child's threads for the parent's when the C library gives them the same stacks.
  if (GetParam() != 1)
    GTEST_SKIP() << "ThreadSanitizer ends a child that starts threads (dup thread)";
#endif
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

INSTANTIATE_TEST_SUITE_P(Fork, ForkTest, ::testing::Values(0, 1, 2),
                         [](const auto& test) { return "Threads" + std::to_string(test.param); });

}  // namespace
}  // namespace sardonyx
