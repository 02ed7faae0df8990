// PackInt8GemmB and PackedInt8Gemm against plain integers, on every level, and bit for bit however
// the work is split.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/int8_gemm/int8_gemm.h"
#include "ops/op.h"
#include "ops/run_node.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

Tensor random_bytes(DataType type, const Shape& shape, uint32_t seed) {
  std::mt19937 generator(seed);
  Tensor tensor = Tensor::allocate(type, shape);
  auto* bytes = static_cast<uint8_t*>(tensor.raw());
  for (int64_t i = 0; i < tensor.size(); ++i) bytes[i] = static_cast<uint8_t>(generator());
  return tensor;
}

int value_of(const Tensor& tensor, int64_t i) {
  const auto* bytes = static_cast<const uint8_t*>(tensor.raw());
  return tensor.type() == DataType::kInt8 ? static_cast<int8_t>(bytes[i]) : bytes[i];
}

Tensor floats(const Shape& shape, std::vector<float> values) {
  Tensor tensor = Tensor::allocate(DataType::kFloat, shape);
  std::copy(values.begin(), values.end(), tensor.data<float>());
  return tensor;
}

Node internal_node(const char* op, const std::vector<Tensor>& inputs, Attributes attributes) {
  Node node;
  node.domain = kInternalDomain;
  node.op = op;
  node.version = 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    node.inputs.push_back(inputs[i].is_defined() ? static_cast<ValueId>(i) : ValueId::kNone);
  }
  node.outputs.push_back(static_cast<ValueId>(inputs.size()));
  node.attributes = std::move(attributes);
  return node;
}

Tensor pack(const Tensor& b, int nr) {
  Attributes attributes;
  attributes.set("nr", int64_t{nr});
  return run_node(internal_node("PackInt8GemmB", {b}, attributes), {{b}})[0];
}

Attributes gemm_attributes(int64_t k, int64_t n, int nr, bool b_signed) {
  Attributes attributes;
  attributes.set("k", k);
  attributes.set("n", n);
  attributes.set("nr", int64_t{nr});
  attributes.set("b_signed", int64_t{b_signed});
  return attributes;
}

// Element (i, j) of (a - a_zero) x (b - b_zero); b is matrix `matrix` of its tensor.
int32_t sum_of(const Tensor& a, int a_zero, const Tensor& b, int b_zero, int64_t matrix, int64_t i,
               int64_t j, int64_t n, int64_t k) {
  int32_t sum = 0;
  for (int64_t l = 0; l < k; ++l) {
    sum += (value_of(a, i * k + l) - a_zero) * (value_of(b, (matrix * k + l) * n + j) - b_zero);
  }
  return sum;
}

TEST(PackedInt8Gemm, MatchesPlainArithmetic) {
  for (Isa isa : supported_isas()) {
    const int nr = kernels::int8_gemm_kernels(isa).nr;
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1}, {7, 37, 19}, {33, 65, 400}}) {
      for (DataType type : {DataType::kInt8, DataType::kUint8}) {
        const bool is_signed = type == DataType::kInt8;
        const Tensor a = random_bytes(is_signed ? DataType::kUint8 : DataType::kInt8, {m, k}, 1);
        const Tensor b = random_bytes(type, {k, n}, 2);
        const Tensor a_zero = random_bytes(a.type(), {}, 3), b_zero = random_bytes(type, {}, 4);
        const Tensor a_scale = floats({}, {0.25f}), b_scale = floats({}, {0.125f});
        const Tensor bias = floats({n}, std::vector<float>(static_cast<size_t>(n), -1.5f));
        const Tensor packed = pack(b, nr);
        const auto run = [&](const std::vector<Tensor>& inputs) {
          const Attributes attributes = gemm_attributes(k, n, nr, is_signed);
          return run_node(internal_node("PackedInt8Gemm", inputs, attributes), inputs,
                          {.isa = isa})[0];
        };
        const Tensor sums = run({a, packed, a_zero, b_zero});
        const Tensor scaled = run({a, packed, a_zero, b_zero, a_scale, b_scale, {}, {}, bias});
        const Tensor rounded = run({a, packed, a_zero, b_zero, a_scale, b_scale, floats({}, {8.0f}),
                                    random_bytes(DataType::kInt8, {}, 5)});
        const int y_zero = value_of(random_bytes(DataType::kInt8, {}, 5), 0);
        ASSERT_EQ(sums.type(), DataType::kInt32);
        ASSERT_EQ(scaled.type(), DataType::kFloat);
        ASSERT_EQ(rounded.type(), DataType::kInt8);
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            const int32_t sum =
                sum_of(a, value_of(a_zero, 0), b, value_of(b_zero, 0), 0, i, j, n, k);
            ASSERT_EQ(sums.data<int32_t>()[i * n + j], sum) << i << ", " << j;
            ASSERT_EQ(scaled.data<float>()[i * n + j], static_cast<float>(sum) / 32.0f - 1.5f);
            const double value = std::nearbyint(static_cast<double>(sum) / 256.0) + y_zero;
            ASSERT_EQ(rounded.data<int8_t>()[i * n + j],
                      static_cast<int8_t>(std::clamp(value, -128.0, 127.0)));
          }
        }
      }
    }
  }
}

TEST(PackedInt8Gemm, MultipliesBatches) {
  const int nr = kernels::int8_gemm_kernels().nr;
  const int64_t m = 5, n = 41, k = 9;
  const Tensor a = random_bytes(DataType::kUint8, {2, 3, m, k}, 1);
  const Tensor b = random_bytes(DataType::kInt8, {3, k, n}, 2);
  const std::vector<Tensor> inputs = {a, pack(b, nr)};
  const Tensor y =
      run_node(internal_node("PackedInt8Gemm", inputs, gemm_attributes(k, n, nr, true)), inputs)[0];
  ASSERT_EQ(y.shape(), (Shape{2, 3, m, n}));
  for (int64_t row = 0; row < 6 * m; ++row) {
    for (int64_t j = 0; j < n; ++j) {
      ASSERT_EQ(y.data<int32_t>()[row * n + j], sum_of(a, 0, b, 0, row / m % 3, row, j, n, k));
    }
  }
}

TEST(PackedInt8Gemm, RefusesWhatDoesNotFit) {
  const int nr = kernels::int8_gemm_kernels().nr;
  const Tensor a = random_bytes(DataType::kUint8, {2, 4}, 1);
  const Tensor b = random_bytes(DataType::kInt8, {4, 3}, 2);
  const auto message = [&](std::vector<Tensor> inputs, Attributes attributes) -> std::string {
    try {
      run_node(internal_node("PackedInt8Gemm", inputs, std::move(attributes)), inputs);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(contains(message({a, pack(b, 4)}, gemm_attributes(4, 3, 4, true)),
                       "packed for tiles of 4 columns"));
  EXPECT_TRUE(contains(message({a, pack(b, nr)}, gemm_attributes(4, 3 + nr, nr, true)),
                       "bytes; k, n and nr need"));
  EXPECT_TRUE(contains(message({a, pack(b, nr)}, gemm_attributes(int64_t{1} << 62, 3, nr, true)),
                       "describe no packed matrix"));
  EXPECT_TRUE(contains(message({a, pack(b, nr), {}, {}, {}, {}, {}, {}, floats({3}, {1, 2, 3})},
                               gemm_attributes(4, 3, nr, true)),
                       "a bias needs scales"));
  EXPECT_TRUE(
      contains(message({a, pack(b, nr), {}, {}, floats({}, {1}), {}, {}, {}, floats({2}, {1, 2})},
                       gemm_attributes(4, 3, nr, true)),
               "one value for each column"));
}

TEST(PackedInt8Gemm, BitsDoNotDependOnTheSplit) {
  const auto& gemm = kernels::int8_gemm_kernels();
  const int64_t m = 70, n = 350, k = 500;
  const Tensor a = random_bytes(DataType::kInt8, {m, k}, 1);
  const Tensor packed = pack(random_bytes(DataType::kUint8, {k, n}, 2), gemm.nr);
  const Node node =
      internal_node("PackedInt8Gemm", {a, packed}, gemm_attributes(k, n, gemm.nr, false));
  const Tensor expected = run_node(node, {{a, packed}})[0];

  const ValueType a_type = ValueType::tensor(a.type(), to_dims(a.shape()));
  const ValueType b_type = ValueType::tensor(packed.type(), to_dims(packed.shape()));
  const ValueType y_type = ValueType::tensor(expected.type(), to_dims(expected.shape()));
  const std::array<const ValueType*, 2> types = {&a_type, &b_type};
  const std::array<const Tensor*, 2> constants = {nullptr, nullptr};
  const std::array<const ValueType*, 1> output_types = {&y_type};
  const std::unique_ptr<Kernel> kernel =
      find_op(kInternalDomain, "PackedInt8Gemm")
          ->prepare({node, types, constants, output_types, best_isa()});
  Tensor y = Tensor::allocate(DataType::kInt32, {m, n});
  const TensorView a_view{a.type(), a.shape(), const_cast<void*>(a.raw())};
  const TensorView b_view{packed.type(), packed.shape(), const_cast<void*>(packed.raw())};
  TensorView y_view{y.type(), y.shape(), y.raw()};
  const std::array<const TensorView*, 2> inputs = {&a_view, &b_view};
  const std::array<const TensorView*, 1> resolve_outputs = {&y_view};
  const std::array<TensorView*, 1> outputs = {&y_view};
  StepPlan plan;
  ASSERT_TRUE(kernel->resolve(ResolveContext(node, inputs, resolve_outputs), plan).is_ok());
  ASSERT_EQ(plan.phases, 2);
  ASSERT_GT(plan.chunks[1], 2);
  for (int chunks : {1, 2, plan.chunks[1]}) {
    std::fill_n(y.data<int32_t>(), y.size(), -1);
    std::vector<std::byte> scratch(static_cast<size_t>(plan.scratch_bytes));
    std::vector<std::byte> own(static_cast<size_t>(plan.scratch_bytes_per_chunk));
    for (int phase = 0; phase < 2; ++phase) {
      for (int chunk = chunks; chunk-- > 0;) {
        RunContext context;
        context.inputs = inputs;
        context.outputs = outputs;
        context.state = plan.state.get();
        context.scratch = scratch.data();
        context.chunk_scratch = own.data();
        context.phase = phase;
        context.chunk = chunk;
        context.chunks = chunks;
        ASSERT_TRUE(kernel->run(context).is_ok());
      }
    }
    EXPECT_TRUE(bitwise_equal(y, expected)) << chunks << " chunks";
  }
}

}  // namespace
}  // namespace sardonyx
