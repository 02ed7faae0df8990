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

// Chunks begin and end within planes, and a plane alone is split as well.
TEST(Chunks, Pools) {
  constexpr int64_t kH = 301, kW = 203;
  for (const int64_t planes : {1, 3}) {
    const Tensor x = numbered({1, planes, kH, kW});
    const std::string window = "<kernel_shape = [2,3], strides = [1,2]>(x)";
    const std::vector<Tensor> most = run("y, i = MaxPool" + window, {x});
    const Tensor mean = run("y = AveragePool" + window, {x})[0];
    const int64_t rows = kH - 1, columns = (kW - 3) / 2 + 1;
    ASSERT_EQ(mean.shape(), (Shape{1, planes, rows, columns}));
    for (int64_t i = 0; i < mean.size(); ++i) {
      const int64_t plane = i / (rows * columns), row = i / columns % rows, column = i % columns;
      float largest = -1, sum = 0;
      int64_t where = -1;
      for (int64_t cell = 0; cell < 6; ++cell) {
        const int64_t at = (plane * kH + row + cell / 3) * kW + 2 * column + cell % 3;
        sum += x.data<float>()[at];
        if (x.data<float>()[at] > largest) where = at;
        largest = std::max(largest, x.data<float>()[at]);
      }
      ASSERT_EQ(most[0].data<float>()[i], largest) << i;
      ASSERT_EQ(most[1].data<int64_t>()[i], where) << i;
      ASSERT_EQ(mean.data<float>()[i], sum / 6) << i;
    }
  }
}

// A Run that is cancelled waits for a chunk: none may be long, however large the window is.
TEST(Chunks, APoolOfOnePlaneHasMany) {
  struct Case {
    int64_t window;
    int at_least;
  };
  for (const char* op : {"MaxPool", "AveragePool"}) {
    for (const Case& c : {Case{2, 50}, Case{301, 20000}, Case{2000, 2}}) {
      Node node;
      node.op = op;
      node.attributes.set("kernel_shape", std::vector<int64_t>{c.window, c.window});
      node.inputs.push_back(static_cast<ValueId>(0));
      node.outputs.push_back(static_cast<ValueId>(1));
      bind_node(node, {{"", 21}});
      const ValueType type = ValueType::tensor(DataType::kFloat, std::nullopt);
      const std::vector<const ValueType*> types = {&type};
      const std::vector<const Tensor*> constants = {nullptr};
      const auto kernel = find_op("", op)->prepare({node, types, constants, types, best_isa()});
      const int64_t positions = 2001 - c.window + 1;
      const TensorView x{DataType::kFloat, {1, 1, 2001, 2001}, nullptr};
      const TensorView y{DataType::kFloat, {1, 1, positions, positions}, nullptr};
      const std::vector<const TensorView*> in = {&x}, out = {&y};
      StepPlan plan;
      kernel->resolve(ResolveContext(node, in, out), plan).throw_if_failed();
      EXPECT_GE(plan.chunks[0], c.at_least) << op << c.window;
      EXPECT_LE(plan.chunks[0], positions * positions);
    }
  }
}

}  // namespace
}  // namespace sardonyx
