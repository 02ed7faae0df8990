// However a process ends, it ends with the status it was given: sessions that live in static
// storage, that nobody releases, or that are in the middle of a Run. Each case is a process of its
// own.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

std::unique_ptr<Session> made(int threads) {
  Options options;
  options.threads = threads;
  auto session = std::make_unique<Session>(two_layers(), options);
  session->run({{"x", wave({64, 256})}});
  return session;
}

void run_for_ever(const Session& session) {
  const Value x = wave({64, 256});
  for (;;) session.run({{"x", x}});
}

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

class ExitTest : public ::testing::TestWithParam<int> {
 protected:
  // Forking with the threads of other tests would be another test.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_P(ExitTest, SessionInStaticStorage) {
  EXPECT_EXIT(
      {
        static std::unique_ptr<Session> session = made(GetParam());
        static Value output = session->run({{"x", wave({64, 256})}})[0];
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

// Made by a static object's destructor, when other statics are gone.
TEST_P(ExitTest, SessionMadeAfterMain) {
  EXPECT_EXIT(
      {
        struct Late {
          ~Late() { made(GetParam()); }
        };
        static Late late;
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_P(ExitTest, FromAnotherThread) {
  EXPECT_EXIT(
      {
        static std::unique_ptr<Session> session = made(GetParam());
        std::thread([] { std::exit(7); }).join();
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_P(ExitTest, SessionThatNobodyReleases) {
  EXPECT_EXIT(
      {
        static Session* session = made(GetParam()).release();
        session->run({{"x", wave({64, 256})}});
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_P(ExitTest, InTheMiddleOfARun) {
  EXPECT_EXIT(
      {
        static Session* session = made(GetParam()).release();
        for (int i = 0; i < 3; ++i) std::thread([] { run_for_ever(*session); }).detach();
        wait_a_little();
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

TEST_P(ExitTest, InTheMiddleOfACreate) {
  EXPECT_EXIT(
      {
        static const int threads = GetParam();
        for (int i = 0; i < 2; ++i) {
          std::thread([] {
            for (;;) made(threads);
          }).detach();
        }
        wait_a_little();
        std::exit(7);
      },
      ::testing::ExitedWithCode(7), "");
}

INSTANTIATE_TEST_SUITE_P(Exit, ExitTest, ::testing::Values(0, 1, 2),
                         [](const auto& test) { return "Threads" + std::to_string(test.param); });

}  // namespace
}  // namespace sardonyx
