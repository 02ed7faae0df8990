// The application's own allocator: what comes from it, what happens when it has nothing to give.
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>

#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

// Counts, checks what it is given back, and fails when told to.
class TestAllocator final : public Allocator {
 public:
  void* allocate(size_t size_bytes) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    EXPECT_GT(size_bytes, 0u);
    EXPECT_EQ(size_bytes % 64, 0u);
    if (calls_++ == fail_at_) return nullptr;
    void* memory = std::aligned_alloc(64, size_bytes + 64);
    auto* address = static_cast<std::byte*>(memory) + (misaligned ? 32 : 0);
    blocks_[address] = size_bytes;
    held_bytes_ += size_bytes;
    return address;
  }
  void free(void* memory, size_t size_bytes) noexcept override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = blocks_.find(memory);
    ASSERT_TRUE(found != blocks_.end()) << "memory that was not allocated here";
    EXPECT_EQ(found->second, size_bytes);
    held_bytes_ -= size_bytes;
    blocks_.erase(found);
    std::free(static_cast<std::byte*>(memory) - (misaligned ? 32 : 0));
  }

  int64_t calls() const { return calls_; }
  size_t held_bytes() const { return held_bytes_; }
  bool holds(const void* address) const {
    auto after = blocks_.upper_bound(const_cast<void*>(address));
    if (after == blocks_.begin()) return false;
    --after;
    return address < static_cast<const std::byte*>(after->first) + after->second;
  }
  // From now on the call number `n` fails, counted from 0.
  void fail_at(int64_t n) {
    calls_ = 0;
    fail_at_ = n;
  }

  bool misaligned = false;

 private:
  std::mutex mutex_;
  std::map<void*, size_t> blocks_;
  size_t held_bytes_ = 0;
  int64_t calls_ = 0;
  int64_t fail_at_ = -1;
};

class AllocatorTest : public ::testing::Test {
 protected:
  AllocatorTest() { options_.allocator = allocator_; }

  const std::shared_ptr<TestAllocator> allocator_ = std::make_shared<TestAllocator>();
  Options options_;
};

// Steps with known shapes, shapes that depend on data, both kinds of control flow, and strings.
const char* const kManyKinds = R"(g (float[N,256] x, bool c) => (float[N,256] y, float[M] z,
      float[K,4] s, string[2] t) <float[256,256] w = {1, ...}, int64 three = {3},
      string[2] words = {"one", "two"}> {
    h = MatMul(x, w) r = Relu(h) y = MatMul(r, w)
    where = NonZero(x) places = Transpose(where) z = GatherND(x, places)
    first = ReduceMax <keepdims = 0> (x) four = Expand(first, size)
    last, s = Loop(three, "", four) <body = b (int64 i, bool go, float[4] v) =>
        (bool on, float[4] next, float[4] out) {
      on = Identity(go) next = Add(v, v)
      out = If(c) <then_branch = p () => (q) { q = Neg(v) }, else_branch = e () => (q) { q = Abs(v) }> }>
    t = Identity(words) size = Constant <value = int64[1] {4}> () })";

std::string many_kinds() {
  std::string text = kManyKinds;
  // Nodes must be sorted: the size comes first.
  const std::string size = "size = Constant <value = int64[1] {4}> ()";
  text.erase(text.find(size), size.size());
  text.insert(text.find("h = MatMul"), size + " ");
  return text;
}

std::map<std::string, Value> inputs_of_many_kinds(int64_t n) {
  Value c = Value::tensor(ElementType::kBool, {});
  c.as<bool>()[0] = true;
  return {{"x", wave({n, 256})}, {"c", c}};
}

TEST_F(AllocatorTest, SuppliesWeightsArenaAndOutputs) {
  std::vector<Value> results;
  {
    const Session session(two_layers(), options_);
    EXPECT_GE(allocator_->held_bytes(), 1u << 20) << "the weights";
    const size_t weights = allocator_->held_bytes();
    results = session.run({{"x", wave({64, 256})}});
    EXPECT_GE(allocator_->held_bytes(), weights + session.arena_bytes() + results[0].size_bytes());
    EXPECT_TRUE(allocator_->holds(results[0].data()));
    session.trim();
    EXPECT_EQ(allocator_->held_bytes(), weights + results[0].size_bytes());
    EXPECT_EQ(to_vector(session.run({{"x", wave({64, 256})}})[0]), to_vector(results[0]));
  }
  EXPECT_GE(allocator_->held_bytes(), results[0].size_bytes()) << "an output outlives its session";
  results.clear();
  EXPECT_EQ(allocator_->held_bytes(), 0u);
}

TEST_F(AllocatorTest, SuppliesOutputsOfEveryOrigin) {
  const Session session(model_bytes(many_kinds()), options_);
  const std::vector<Value> results = session.run(inputs_of_many_kinds(3));
  for (size_t i : {0, 1, 2}) EXPECT_TRUE(allocator_->holds(results[i].data())) << i;
  EXPECT_EQ(elements<std::string>(results[3]), (Strings{"one", "two"}));
}

TEST_F(AllocatorTest, LeavesOtherMemoryAlone) {
  const Session other(two_layers());
  const Session session(two_layers(), options_);
  const int64_t calls = allocator_->calls();
  const Value x = wave({2, 256});
  other.run({{"x", x}});
  EXPECT_EQ(allocator_->calls(), calls);
}

// Whichever allocation fails, the error is clear, nothing leaks and nothing is left broken.
TEST_F(AllocatorTest, AnyAllocationOfCreateMayFail) {
  const std::vector<std::byte> model = model_bytes(many_kinds());
  int64_t n = 0;
  for (;; ++n) {
    allocator_->fail_at(n);
    try {
      const Session session(model, options_);
      if (allocator_->calls() <= n) break;  // a failed folding is only an optimisation less
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kFail) << error.what();
      expect_mentions(error.what(), {"out of memory"});
    }
    ASSERT_EQ(allocator_->held_bytes(), 0u) << "after failure " << n;
  }
  EXPECT_GT(n, 5);
}

TEST_F(AllocatorTest, AnyAllocationOfARunMayFail) {
  const Session session(model_bytes(many_kinds()), options_);
  const auto inputs = inputs_of_many_kinds(70);  // outputs that the pool keeps
  std::vector<std::vector<float>> expected;
  {
    const std::vector<Value> results = session.run(inputs);
    for (size_t i : {0, 1, 2}) expected.push_back(to_vector(results[i]));
  }
  session.trim();
  const size_t idle = allocator_->held_bytes();
  int64_t n = 0, failures = 0;
  for (;; ++n) {
    allocator_->fail_at(n);
    try {
      const std::vector<Value> results = session.run(inputs);
      for (size_t i : {0, 1, 2}) ASSERT_EQ(to_vector(results[i]), expected[i]);
      if (allocator_->calls() <= n) break;
    } catch (const Error& error) {
      ++failures;
      EXPECT_EQ(error.code(), ErrorCode::kFail) << error.what();
      expect_mentions(error.what(), {"out of memory"});
    }
    allocator_->fail_at(-1);
    session.trim();
    ASSERT_EQ(allocator_->held_bytes(), idle) << "after failure " << n;
  }
  EXPECT_GT(failures, 5);
}

TEST_F(AllocatorTest, SaysWhenMemoryIsNotAligned) {
  allocator_->misaligned = true;
  expect_mentions(message_of(ErrorCode::kFail, [&] { Session(two_layers(), options_); }),
                  {"allocator", "not aligned to 64"});
  EXPECT_EQ(allocator_->held_bytes(), 0u);
}

TEST_F(AllocatorTest, LivesAsLongAsItsMemory) {
  std::weak_ptr<TestAllocator> alive;
  Value y;
  {
    auto own = std::make_shared<TestAllocator>();
    alive = own;
    Options options;
    options.allocator = std::move(own);
    y = Session(two_layers(), options).run({{"x", wave({64, 256})}})[0];
  }
  EXPECT_FALSE(alive.expired());
  y = Value();
  EXPECT_TRUE(alive.expired());
}

}  // namespace
}  // namespace sardonyx
