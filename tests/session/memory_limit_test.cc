// Options::memory_limit_bytes: whatever a Run comes to hold counts, planned or not, and the session
// works on after a Run that was refused.
#include <gtest/gtest.h>

#include "ir/text_parse.h"
#include "session/value_access.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

Value tensor(const char* text) { return internal::ValueAccess::wrap(parse_tensor_text(text)); }

// A model whose first input, an int64, says how much it takes.
struct Row {
  const char* name;
  const char* model;
  int64_t few;   // runs within 1 MiB
  int64_t many;  // does not
  // What the error says beside the limit: who asked for the memory.
  const char* words;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

constexpr int64_t kForever = INT64_MAX;

const Row kRows[] = {
    {"Planned", "m (int64[N] n) => (int64[N] y) { y = Neg(n) }", 1000, 200000,
     "bytes for its outputs"},
    {"NonZero",
     "m (int64 n) => (int64[A,B] y) <int64[1] one = {1}> {"
     " s = Reshape(n, one) x = ConstantOfShape <value = float[1] {1}> (s) y = NonZero(x) }",
     1000, 200000, "NonZero"},
    {"InTheMiddle",
     "m (int64 n) => (int64 y) <int64[1] one = {1}> {"
     " s = Reshape(n, one) x = ConstantOfShape <value = int8[1] {1}> (s) z = NonZero(x)"
     " q = Mul(z, z) y = ReduceSum <keepdims = 0> (q) }",
     1000, 65000, "Mul"},
    {"StackedForEver",
     "m (int64 n) => (float[M,1024] y) <float[1024] x = {1, ...}> {"
     " y = Loop(n, \"\") <body = b (int64 i, bool go) => (bool on, float[1024] v) {"
     " on = Identity(go) f = Cast <to = 1> (i) v = Add(x, f) }> }",
     3, kForever, "Loop"},
    {"StackedOfUnknownSize",
     "m (int64 n) => (int64[M,A,B] y) <float[512] x = {1, ...}> {"
     " y = Loop(n, \"\") <body = b (int64 i, bool go) => (bool on, int64[A,B] v) {"
     " on = Identity(go) v = NonZero(x) }> }",
     3, kForever, "Loop"},
    {"StackedInTheEnd",  // the pieces fit, both together do not
     "m (int64 n) => (float[M,1024] y) <float[1024] x = {1, ...}> {"
     " y = Loop(n, \"\") <body = b (int64 i, bool go) => (bool on, float[1024] v) {"
     " on = Identity(go) f = Cast <to = 1> (i) v = Add(x, f) }> }",
     100, 200, "Loop"},
    {"StackedInside",
     "m (int64 n) => (float y) <int64 few = {2}, float[1024] x = {1, ...}, float zero = {0}> {"
     " y = Loop(few, \"\", zero) <body = b (int64 i, bool go, float s) => (bool on, float t) {"
     "  on = Identity(go)"
     "  all = Loop(n, \"\") <body = c (int64 k, bool h) => (bool hh, float[1024] v) {"
     "   hh = Identity(h) f = Cast <to = 1> (k) v = Add(x, f) }>"
     "  r = ReduceMax <keepdims = 0> (all) t = Add(r, s) }> }",
     20, kForever, "Loop"},
    {"Doubling",
     "m (int64 n) => (float[?] y) <float[4] x = {1, ...}> {"
     " y = Loop(n, \"\", x) <body = b (int64 i, bool go, float[?] v) => (bool on, float[?] w) {"
     " on = Identity(go) w = Concat <axis = 0> (v, v) }> }",
     5, kForever, "Loop"},
    {"Sequence",
     "m (int64 n) => (int64 y) <float[1024] x = {1, ...}> {"
     " e = SequenceEmpty()"
     " s = Loop(n, \"\", e) <body = b (int64 i, bool go, seq(float[?]) q)"
     "  => (bool on, seq(float[?]) r) {"
     "  on = Identity(go) f = Cast <to = 1> (i) v = Add(x, f) r = SequenceInsert(q, v) }>"
     " y = SequenceLength(s) }",
     5, kForever, "Loop"},
    {"Strings",
     "m (int64 n) => (string[?] y) <string[1] x = {\"a\"}, int64[1] one = {1}> {"
     " s = Reshape(n, one) z = Loop(n, \"\", x) <body = b (int64 i, bool go, string[?] v)"
     "  => (bool on, string[?] w) { on = Identity(go) w = Concat <axis = 0> (v, v) }>"
     " y = Identity(z) }",
     5, kForever, "Loop"},
};

class MemoryLimit : public ::testing::TestWithParam<Row> {};

TEST_P(MemoryLimit, CoversWhatARunHolds) {
  const Row& row = GetParam();
  const auto input = [&](int64_t n) {
    if (std::string_view(row.name) != "Planned")
      return tensor(("int64 {" + std::to_string(n) + "}").c_str());
    return Value::tensor(ElementType::kInt64, std::vector<int64_t>{n});
  };
  for (const OptimizationLevel level : {OptimizationLevel::kNone, OptimizationLevel::kAll}) {
    Options options;
    options.threads = 1;
    options.level = level;
    options.memory_limit_bytes = 1 << 20;
    const Session session(model_bytes(row.model), options);
    // Alike in every Run, also when memory of the last one is there.
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(session.run({{"n", input(row.few)}}).size(), 1u);
      const std::string message = message_of(ErrorCode::kFail, [&] {
        session.run({{"n", input(row.many)}});
      });
      expect_mentions(message,
                      {"the memory limit is 1048576", "raise memory_limit_bytes", row.words});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Memory, MemoryLimit, ::testing::ValuesIn(kRows),
                         [](const auto& test) { return std::string(test.param.name); });

// To the byte: the same limit is enough or not in every Run.
TEST(MemoryLimit, IsExact) {
  const std::vector<std::byte> model =
      model_bytes("m (float[N] x) => (int64[A,B] y) { y = NonZero(x) }");
  const Value x = wave({1024});  // no zeros: 8192 bytes
  for (const size_t limit : {8191, 8192}) {
    Options options;
    options.threads = 1;
    options.memory_limit_bytes = limit;
    const Session session(model, options);
    std::vector<Value> kept;  // of a Run that has ended: not the next one's
    for (int i = 0; i < 3; ++i) {
      if (limit == 8192) {
        kept.push_back(session.run({{"x", x}})[0]);
        continue;
      }
      expect_mentions(message_of(ErrorCode::kFail,
                                 [&] {
                                   session.run({{"x", x}});
                                 }),
                      {"NonZero", "wants 8192 more", "the memory limit is 8191"});
    }
  }
}

}  // namespace
}  // namespace sardonyx
