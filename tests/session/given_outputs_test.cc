// run_into: outputs in the caller's memory, of every element type; what does not fit; memory that
// outputs share with inputs and with one another.
#include <cstring>

#include "tensor/tensor.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

using Shape64 = std::vector<int64_t>;

// Of a type and shape, filled with bytes that are valid for it (bool: 0 and 1).
std::vector<std::byte> pattern(ElementType type, size_t size, uint32_t seed) {
  std::vector<std::byte> bytes(size);
  for (std::byte& each : bytes) {
    seed = seed * 1664525u + 1013904223u;
    each = static_cast<std::byte>(type == ElementType::kBool ? seed >> 31 : seed >> 24);
  }
  return bytes;
}

TEST(GivenOutputs, OfEveryType) {
  for (int number = 1; number < kDataTypeCount; ++number) {
    const auto type = static_cast<ElementType>(number);
    if (type == ElementType::kString) continue;  // below
    const std::string name = to_string(type);
    SCOPED_TRACE(name);
    // A step that writes its output in place, and an output that is an input.
    const Session session(model_bytes("<ir_version: 12, opset_import: [\"\": 25]> g (" + name +
                                      "[4,6] x) => (" + name + "[6,4] y, " + name +
                                      "[4,6] x) { y = Transpose(x) }"));
    const Shape64 shape = {4, 6}, turned = {6, 4};
    Value x = Value::tensor(type, shape);
    const std::vector<std::byte> bytes = pattern(type, x.size_bytes(), 1);
    std::memcpy(x.data(), bytes.data(), bytes.size());
    const std::vector<Value> expected = session.run(std::vector<Value>{x});
    std::vector<std::byte> first(x.size_bytes() + 64), second(x.size_bytes() + 64);
    std::vector<Value> given = {Value::view(type, turned, first.data(), first.size()),
                                Value::view(type, shape, second.data(), second.size())};
    session.run_into(std::vector<Value>{x}, given);
    EXPECT_EQ(given[0].data(), first.data());
    EXPECT_EQ(std::memcmp(first.data(), expected[0].data(), expected[0].size_bytes()), 0);
    EXPECT_EQ(std::memcmp(second.data(), expected[1].data(), expected[1].size_bytes()), 0);
    for (size_t i = x.size_bytes(); i < first.size(); ++i) {
      ASSERT_EQ(first[i], std::byte{0}) << "written behind the end";
      ASSERT_EQ(second[i], std::byte{0}) << "written behind the end";
    }
  }
}

TEST(GivenOutputs, OfStrings) {
  const Session session(model_bytes(R"(g (string[2,2] x) => (string[2,2] y, string[2,2] x) {
    t = Transpose(x) u = Identity(t) y = Transpose <perm = [0, 1]> (u) })"));
  const Strings words = {"a", "a long word that does not fit into the object", "", "d"};
  const Shape64 shape = {2, 2};
  const Value x = Value::copy_of<std::string>(words, shape);
  Strings first(4, "old"), second(4, "another old text that is longer than the object");
  std::vector<Value> given = {
      Value::view(ElementType::kString, shape, first.data(), sizeof(std::string) * 4),
      Value::view(ElementType::kString, shape, second.data(), sizeof(std::string) * 4)};
  for (int i = 0; i < 2; ++i) session.run_into(std::vector<Value>{x}, given);
  EXPECT_EQ(first, (Strings{words[0], words[2], words[1], words[3]}));
  EXPECT_EQ(second, words);
  // Over the input itself.
  Strings both = words;
  const Value over = Value::view(ElementType::kString, shape, both.data(), sizeof(std::string) * 4);
  std::vector<Value> outputs = {over, Value()};
  session.run_into(std::vector<Value>{over}, outputs);
  EXPECT_EQ(both, first);
  EXPECT_EQ(elements<std::string>(outputs[1]), words);
}

class GivenFloatsTest : public ::testing::Test {
 protected:
  // y = x^2 + sum of x, z = -x; x is read after y's first step.
  const Session session_{model_bytes(R"(g (float[N] x) => (float[N] y, float[N] z) {
    q = Mul(x, x) s = ReduceSum <keepdims = 1> (x) y = Add(q, s) z = Neg(x) })")};
  const std::vector<float> x_ = {1, 2, 3, 4};
  const std::vector<float> y_ = {11, 14, 19, 26}, z_ = {-1, -2, -3, -4};
  const Shape64 shape_ = {4};

  Value view(float* data, int64_t n = 4) {
    const Shape64 shape = {n};
    return Value::view(ElementType::kFloat, shape, data, static_cast<size_t>(n) * sizeof(float));
  }
};

TEST_F(GivenFloatsTest, OverAnInput) {
  // Each output exactly over the input.
  for (size_t which : {0, 1}) {
    std::vector<float> memory = x_;
    std::vector<Value> outputs(2);
    outputs[which] = view(memory.data());
    session_.run_into(std::vector<Value>{view(memory.data())}, outputs);
    EXPECT_EQ(memory, which == 0 ? y_ : z_);
    EXPECT_EQ(outputs[which].data(), memory.data());
    EXPECT_EQ(to_vector(outputs[1 - which]), which == 0 ? z_ : y_);
  }
  // Shifted by some elements to either side.
  for (int shift : {-3, -1, 1, 3}) {
    std::vector<float> memory(10, 0);
    float* input = memory.data() + 3;
    std::copy(x_.begin(), x_.end(), input);
    std::vector<Value> outputs = {view(input + shift), Value()};
    session_.run_into(std::vector<Value>{view(input)}, outputs);
    EXPECT_EQ(to_vector(outputs[0]), y_) << shift;
    EXPECT_EQ(to_vector(outputs[1]), z_) << shift;
  }
  // Side by side is no overlap; the output is written in place.
  std::vector<float> memory(8, 0);
  std::copy(x_.begin(), x_.end(), memory.begin());
  std::vector<Value> outputs = {view(memory.data() + 4), Value()};
  session_.run_into(std::vector<Value>{view(memory.data())}, outputs);
  EXPECT_EQ(to_vector(outputs[0]), y_);
  EXPECT_TRUE(std::equal(x_.begin(), x_.end(), memory.begin()));
}

TEST_F(GivenFloatsTest, TheSameBytesTwice) {
  std::vector<float> memory(7, -5);
  for (int shift : {0, 1, 3}) {
    std::vector<Value> outputs = {view(memory.data()), view(memory.data() + shift)};
    expect_mentions(
        message_of(ErrorCode::kInvalidArgument,
                   [&] { session_.run_into(std::vector<Value>{floats({4}, x_)}, outputs); }),
        {"'y'", "'z'", "overlaps"});
    EXPECT_EQ(memory, std::vector<float>(7, -5));
  }
  // One Value for two outputs is the same.
  const Value one = Value::tensor(ElementType::kFloat, shape_);
  std::vector<Value> outputs = {one, one};
  message_of(ErrorCode::kInvalidArgument,
             [&] { session_.run_into(std::vector<Value>{floats({4}, x_)}, outputs); });
  // Nothing can be shared of empty ones.
  outputs = {view(memory.data(), 0), view(memory.data(), 0)};
  session_.run_into(std::vector<Value>{floats({0}, {})}, outputs);
}

TEST_F(GivenFloatsTest, WrongTypeOrShape) {
  std::vector<float> memory(16, -5);
  const Shape64 shapes[] = {{3}, {5}, {4, 1}, {2, 2}, {}};
  for (const Shape64& shape : shapes) {
    for (size_t which : {0, 1}) {
      std::vector<Value> outputs(2);
      outputs[which] = Value::view(ElementType::kFloat, shape, memory.data(), 64);
      expect_mentions(
          message_of(ErrorCode::kInvalidArgument,
                     [&] { session_.run_into(std::vector<Value>{floats({4}, x_)}, outputs); }),
          {which == 0 ? "'y'" : "'z'", "float[4]", "the given buffer is a float["});
    }
  }
  std::vector<Value> outputs = {Value(),
                                Value::view(ElementType::kInt32, shape_, memory.data(), 16)};
  expect_mentions(
      message_of(ErrorCode::kInvalidArgument,
                 [&] { session_.run_into(std::vector<Value>{floats({4}, x_)}, outputs); }),
      {"'z'", "float[4]", "int32[4]"});
  EXPECT_EQ(memory, std::vector<float>(16, -5));
  std::vector<Value> few(1), many(3);
  message_of(ErrorCode::kInvalidArgument,
             [&] { session_.run_into(std::vector<Value>{floats({4}, x_)}, few); });
  message_of(ErrorCode::kInvalidArgument,
             [&] { session_.run_into(std::vector<Value>{floats({4}, x_)}, many); });
  // The session works on.
  EXPECT_EQ(to_vector(session_.run({{"x", floats({4}, x_)}})[0]), y_);
}

// Shapes that are only known while running are checked then.
TEST(GivenOutputs, OfShapesThatDependOnData) {
  const Session session(model_bytes(R"(g (float[N] x) => (int64[1,K] y) { y = NonZero(x) })"));
  const Value x = floats({4}, {0, 1, 0, 2});
  std::vector<int64_t> memory(3, -5);
  const Shape64 right = {1, 2}, wrong = {1, 3};
  std::vector<Value> outputs = {Value::view(ElementType::kInt64, right, memory.data(), 24)};
  session.run_into(std::vector<Value>{x}, outputs);
  EXPECT_EQ(memory, (std::vector<int64_t>{1, 3, -5}));
  outputs = {Value::view(ElementType::kInt64, wrong, memory.data(), 24)};
  expect_mentions(message_of(ErrorCode::kInvalidArgument,
                             [&] { session.run_into(std::vector<Value>{x}, outputs); }),
                  {"int64[1,2]", "int64[1,3]"});
}

}  // namespace
}  // namespace sardonyx
