// Operators on tensors large enough to be split into many chunks, against plain loops.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/text_parse.h"
#include "ops/resolve.h"
#include "ops/run_node.h"

namespace sardonyx {
namespace {

Tensor numbered(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DataType::kFloat, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.data<float>()[i] = static_cast<float>(i % 9973);
  return tensor;
}

std::vector<Tensor> run(const std::string& text, const std::vector<Tensor>& inputs) {
  const NodeText parsed = parse_node_text(text);
  Node node;
  node.op = parsed.op;
  node.attributes = parsed.attributes;
  for (size_t i = 0; i < inputs.size(); ++i) node.inputs.push_back(static_cast<ValueId>(i));
  for (size_t i = 0; i < parsed.outputs.size(); ++i) {
    node.outputs.push_back(static_cast<ValueId>(100 + i));
  }
  bind_node(node, {{"", 21}});
  return run_node(node, inputs);
}

constexpr int64_t kA = 37, kB = 53, kC = 211;

int64_t at(int64_t i, int64_t j, int64_t k) { return (i * kB + j) * kC + k; }

// Calls check(i, j, k) for every element of [kA, kB, kC] until one fails.
template <typename Check>
void for_each_element(Check check) {
  for (int64_t i = 0; i < kA; ++i) {
    for (int64_t j = 0; j < kB; ++j) {
      for (int64_t k = 0; k < kC; ++k) ASSERT_TRUE(check(i, j, k)) << i << ' ' << j << ' ' << k;
    }
  }
}

TEST(Chunks, BroadcastInTheMiddle) {
  const Tensor a = numbered({kA, kB, kC});
  const Tensor b = numbered({kA, 1, kC});
  const Tensor y = run("y = Add(a, b)", {a, b})[0];
  for_each_element([&](int64_t i, int64_t j, int64_t k) {
    return y.data<float>()[at(i, j, k)] ==
           a.data<float>()[at(i, j, k)] + b.data<float>()[i * kC + k];
  });
}

TEST(Chunks, FoldOfBroadcastOperands) {
  const Tensor a = numbered({kB, 1});
  const Tensor b = numbered({kA, kB, kC});
  const Tensor c = numbered({kC});
  const Tensor y = run("y = Max(a, b, c)", {a, b, c})[0];
  for_each_element([&](int64_t i, int64_t j, int64_t k) {
    const float largest =
        std::max({a.data<float>()[j], b.data<float>()[at(i, j, k)], c.data<float>()[k]});
    return y.data<float>()[at(i, j, k)] == largest;
  });
}

TEST(Chunks, Where) {
  const Tensor x = numbered({kA, kB, kC});
  const Tensor zero = Tensor::from<float>(DataType::kFloat, {}, std::vector<float>{-1});
  Tensor c = Tensor::allocate(DataType::kBool, {kB, 1});
  for (int64_t j = 0; j < kB; ++j) c.data<bool>()[j] = j % 3 == 0;
  const Tensor y = run("y = Where(c, x, z)", {c, x, zero})[0];
  for_each_element([&](int64_t i, int64_t j, int64_t k) {
    return y.data<float>()[at(i, j, k)] == (j % 3 == 0 ? x.data<float>()[at(i, j, k)] : -1.0f);
  });
}

TEST(Chunks, Transposes) {
  const Tensor x = numbered({kA, kB, kC});
  const Tensor y = run("y = Transpose <perm = [2, 0, 1]> (x)", {x})[0];
  const Tensor z = run("z = Transpose <perm = [1, 0, 2]> (x)", {x})[0];
  for_each_element([&](int64_t i, int64_t j, int64_t k) {
    const float value = x.data<float>()[at(i, j, k)];
    return y.data<float>()[(k * kA + i) * kB + j] == value &&
           z.data<float>()[(j * kA + i) * kC + k] == value;
  });
}

TEST(Chunks, SliceBackwards) {
  const Tensor x = numbered({kA, kB, kC});
  const auto ints = [](std::vector<int64_t> values) { return Tensor::of_int64(values); };
  const Tensor y = run("y = Slice(x, s, e, a, t)",
                       {x, ints({-1, 0}), ints({INT64_MIN, kC}), ints({1, 2}), ints({-1, 1})})[0];
  for_each_element([&](int64_t i, int64_t j, int64_t k) {
    return y.data<float>()[at(i, j, k)] == x.data<float>()[at(i, kB - 1 - j, k)];
  });
}

TEST(Chunks, ExpandAndGather) {
  const Tensor row = numbered({kB, 1});
  const Tensor y =
      run("y = Expand(x, s)", {row, Tensor::of_int64(std::vector<int64_t>{kA, kB, kC})})[0];
  for_each_element([&](int64_t i, int64_t j, int64_t k) {
    return y.data<float>()[at(i, j, k)] == row.data<float>()[j];
  });
  const Tensor x = numbered({kA, kB, kC});
  std::vector<int64_t> indices;
  for (int64_t j = 0; j < kB; ++j) indices.push_back((j * 7) % kB - kB);
  const Tensor z = run("z = Gather <axis = 1> (x, i)", {x, Tensor::of_int64(indices)})[0];
  for_each_element([&](int64_t i, int64_t j, int64_t k) {
    return z.data<float>()[at(i, j, k)] == x.data<float>()[at(i, (j * 7) % kB, k)];
  });
}

TEST(Chunks, SplitThenConcat) {
  const Tensor x = numbered({kA, kB, kC});
  for (int axis : {0, 1, 2}) {
    const auto parts =
        run(fmt::format("a, b, c = Split <axis = {}, num_outputs = 3> (x)", axis), {x});
    const Tensor y = run(fmt::format("y = Concat <axis = {}> (a, b, c)", axis), parts)[0];
    EXPECT_TRUE(bitwise_equal(x, y)) << "axis " << axis;
  }
}

TEST(Chunks, CastThereAndBack) {
  const Tensor x = numbered({kA, kB, kC});
  for (int to : {11, 7, 6, 12}) {
    const Tensor y = run(fmt::format("y = Cast <to = {}> (x)", to), {x})[0];
    EXPECT_TRUE(bitwise_equal(run("z = Cast <to = 1> (y)", {y})[0], x)) << to;
  }
  const Tensor packed = run("y = Cast <to = 22> (x)", {x})[0];
  const Tensor wide = run("y = Cast <to = 3> (x)", {packed})[0];
  for (int64_t i = 0; i < x.size(); ++i) {
    const int low = static_cast<int>(x.data<float>()[i]) & 15;
    ASSERT_EQ(wide.data<int8_t>()[i], low < 8 ? low : low - 16) << i;
  }
}

}  // namespace
}  // namespace sardonyx
