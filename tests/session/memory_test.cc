// What a process holds: after a huge Run and trim(), after many sessions have come and gone.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <thread>

#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kResidentIsOurs = false;  // sanitizers keep freed memory back
#else
constexpr bool kResidentIsOurs = true;
#endif

constexpr double kMegabyte = 1 << 20;

double resident_megabytes() {
  long total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / kMegabyte;
}

// How much more is resident after a round of `work`: the least of four rounds, since the allocator
// and the system take more now and then, but what is lost is lost in every round.
template <typename Work>
double growth_of(Work work) {
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 4; ++round) {
    const double before = resident_megabytes();
    work();
    least = std::min(least, resident_megabytes() - before);
  }
  return least;
}

class CountingAllocator final : public Allocator {
 public:
  void* allocate(size_t size_bytes) noexcept override {
    held += static_cast<int64_t>(size_bytes);
    return std::aligned_alloc(64, size_bytes);
  }
  void free(void* memory, size_t size_bytes) noexcept override {
    held -= static_cast<int64_t>(size_bytes);
    std::free(memory);
  }
  std::atomic<int64_t> held{0};
};

// A chain of whose values several are alive at once, and a loop, whose body has arenas of its own.
const char* const kGrowing = R"(g (float[N,1024] x) => (float[N,1024] y) <int64 two = {2}> {
    a = Exp(x) b = Sin(a) d = Mul(a, b)
    y = Loop(two, "", d) <body = t (int64 i, bool go, float[N,1024] v) => (bool on, float[N,1024] w) {
      on = Identity(go) e = Tanh(v) f = Softmax(e) w = Mul(e, f) }> })";

TEST(Memory, TrimGivesTheMemoryOfAHugeRunBack) {
  const auto allocator = std::make_shared<CountingAllocator>();
  for (bool own : {false, true}) {
    Options options;
    if (own) options.allocator = allocator;
    const Session session(model_bytes(kGrowing), options);
    const Value small = wave({4, 1024});
    session.run({{"x", small}});
    session.trim();
    session.run({{"x", small}});
    const double resident = resident_megabytes();
    const int64_t held = allocator->held;

    session.run({{"x", wave({20000, 1024})}});  // 80 MB a value
    const double huge = resident_megabytes();
    const int64_t huge_held = allocator->held;
    for (int i = 0; i < 3; ++i) {
      session.run({{"x", small}});
      session.trim();
    }
    session.run({{"x", small}});
    if (own) {
      EXPECT_GT(huge_held, held + 150 * (1 << 20));
      EXPECT_LT(allocator->held, held + 4096);
    } else if (kResidentIsOurs) {
      EXPECT_GT(huge, resident + 150);
      EXPECT_LT(resident_megabytes(), resident + 8);
    }
  }
}

// Runs of many threads leave several arenas behind; trim() takes them all.
TEST(Memory, TrimReachesEveryIdleArena) {
  const auto allocator = std::make_shared<CountingAllocator>();
  Options options;
  options.allocator = allocator;
  const Session session(model_bytes(kGrowing), options);
  const int64_t weights = allocator->held;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] { session.run({{"x", wave({256, 1024})}}); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(allocator->held, weights);
  session.trim();
  EXPECT_EQ(allocator->held, weights);
}

// The keys of a decoder, which are the next step's input and one position longer then.
TEST(Memory, AGrowingOutputTakesOnlyItsNewPages) {
  Options options;
  options.threads = 1;
  const Session session(model_bytes("g (float[1,P,512] past, float[1,1,512] x) => (float keys) "
                                    "{ a = Exp(x) keys = Concat <axis = 1> (past, a) }"),
                        options);
  const auto page_faults = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
  };
  const Value x = wave({1, 1, 512});
  Value keys = wave({1, 8, 512});
  int slow = 0;
  for (int step = 0; step < 400; ++step) {
    const auto before = page_faults();
    keys = session.run({{"past", keys}, {"x", x}})[0];
    // In the first steps all memory is fresh.
    if (step > 8) slow += page_faults() - before > 6;
  }
  EXPECT_EQ(keys.shape()[1], 408);
  if (kResidentIsOurs) {
    EXPECT_LE(slow, 2);
  }
}

TEST(Memory, SessionsComeAndGo) {
  const std::vector<std::byte> model = two_layers();
  ASSERT_GE(model.size(), 1u << 20);
  const Value x = wave({8, 256});
  const auto once = [&](int threads) {
    Options options;
    options.threads = threads;
    const Session session(model, options);
    session.run({{"x", x}});
  };
  for (int i = 0; i < 20; ++i) once(i % 3);
  const double growth = growth_of([&] {
    for (int i = 0; i < 250; ++i) once(i % 3);
  });
  if (kResidentIsOurs) {
    EXPECT_LT(growth, 1);
  }
}

// A create that fails leaves nothing either.
TEST(Memory, FailedCreatesLeaveNothing) {
  std::vector<std::byte> model = two_layers();
  const std::vector<std::byte> cut(model.begin(), model.begin() + 700000);
  const std::vector<std::byte> unknown = model_bytes(
      "g (float[64,64] x) => (y) <float[64,64] w = {1, ...}> { t = MatMul(x, w) y = Relus(t) }");
  const auto once = [&] {
    message_of(ErrorCode::kInvalidProtobuf, [&] { Session{std::span(cut)}; });
    message_of(ErrorCode::kNotImplemented, [&] { Session{std::span(unknown)}; });
  };
  for (int i = 0; i < 20; ++i) once();
  const double growth = growth_of([&] {
    for (int i = 0; i < 125; ++i) once();
  });
  if (kResidentIsOurs) {
    EXPECT_LT(growth, 1);
  }
}

TEST(Memory, LimitOfARun) {
  Options options;
  options.memory_limit_bytes = 1 << 20;
  const Session session(model_bytes(kGrowing), options);
  EXPECT_EQ(session.run({{"x", wave({4, 1024})}}).size(), 1u);
  const std::string message = message_of(ErrorCode::kFail, [&] {
    session.run({{"x", wave({1000, 1024})}});
  });
  expect_mentions(message, {"memory limit", "1048576", "raise memory_limit_bytes"});
  EXPECT_EQ(session.run({{"x", wave({4, 1024})}}).size(), 1u);
}

}  // namespace
}  // namespace sardonyx
