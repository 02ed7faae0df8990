// PackGemmB and PackedGemm against plain double arithmetic, on every level, and bit for bit however
// the work is split.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/gemm/gemm.h"
#include "ops/op.h"
#include "ops/run_node.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

Tensor random_tensor(const Shape& shape, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  Tensor tensor = Tensor::allocate(DataType::kFloat, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.data<float>()[i] = uniform(generator);
  return tensor;
}

Node internal_node(const char* op, size_t inputs, Attributes attributes) {
  Node node;
  node.domain = kInternalDomain;
  node.op = op;
  node.version = 1;
  for (size_t i = 0; i < inputs; ++i) node.inputs.push_back(static_cast<ValueId>(i));
  node.outputs.push_back(static_cast<ValueId>(inputs));
  node.attributes = std::move(attributes);
  return node;
}

Tensor pack(const Tensor& b, bool transpose, int nr) {
  Attributes attributes;
  attributes.set("nr", int64_t{nr});
  attributes.set("transpose", int64_t{transpose});
  return run_node(internal_node("PackGemmB", 1, attributes), {{b}})[0];
}

Attributes gemm_attributes(int64_t k, int64_t n, int nr) {
  Attributes attributes;
  attributes.set("k", k);
  attributes.set("n", n);
  attributes.set("nr", int64_t{nr});
  return attributes;
}

// relu(a x b + bias + residual) of one matrix; b is [k, n].
void expect_product(const float* a, const float* b, const float* bias, const float* residual,
                    const float* y, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = static_cast<double>(bias[j]) + static_cast<double>(residual[i * n + j]);
      for (int64_t l = 0; l < k; ++l) {
        sum += static_cast<double>(a[i * k + l]) * static_cast<double>(b[l * n + j]);
      }
      ASSERT_NEAR(static_cast<double>(y[i * n + j]), std::max(sum, 0.0), 1e-4) << i << ", " << j;
    }
  }
}

TEST(PackedGemm, MatchesPlainArithmetic) {
  for (Isa isa : supported_isas()) {
    const int nr = kernels::gemm_kernels(isa).nr;
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1}, {7, 37, 19}, {33, 65, 400}}) {
      const Tensor a = random_tensor({m, k}, 1), b = random_tensor({k, n}, 2);
      const Tensor bias = random_tensor({n}, 3), residual = random_tensor({m, n}, 4);
      Attributes attributes = gemm_attributes(k, n, nr);
      attributes.set("activation", std::string("Relu"));
      const Node node = internal_node("PackedGemm", 4, attributes);
      for (int in_place : {-1, 3}) {
        const Tensor y = run_node(node, {{a, pack(b, false, nr), bias, residual}},
                                  {.isa = isa, .in_place = in_place})[0];
        ASSERT_EQ(y.shape(), (Shape{m, n}));
        expect_product(a.data<float>(), b.data<float>(), bias.data<float>(), residual.data<float>(),
                       y.data<float>(), m, n, k);
      }
    }
  }
}

TEST(PackedGemm, TransposedWeightPacksAlike) {
  const Tensor b = random_tensor({19, 37}, 2);
  Tensor transposed = Tensor::allocate(DataType::kFloat, {37, 19});
  for (int64_t i = 0; i < 19; ++i) {
    for (int64_t j = 0; j < 37; ++j) {
      transposed.data<float>()[j * 19 + i] = b.data<float>()[i * 37 + j];
    }
  }
  EXPECT_TRUE(bitwise_equal(pack(b, false, 16), pack(transposed, true, 16)));
}

TEST(PackedGemm, MultipliesBatches) {
  const int nr = kernels::gemm_kernels().nr;
  const int64_t m = 5, n = 21, k = 9;
  const Tensor a = random_tensor({2, 3, m, k}, 1), b = random_tensor({3, k, n}, 2);
  const Tensor bias = random_tensor({n}, 3), residual = random_tensor({2, 3, m, n}, 4);
  Attributes attributes = gemm_attributes(k, n, nr);
  attributes.set("activation", std::string("Relu"));
  const Tensor y = run_node(internal_node("PackedGemm", 4, attributes),
                            {{a, pack(b, false, nr), bias, residual}})[0];
  ASSERT_EQ(y.shape(), (Shape{2, 3, m, n}));
  for (int64_t i = 0; i < 6; ++i) {
    expect_product(a.data<float>() + i * m * k, b.data<float>() + i % 3 * k * n, bias.data<float>(),
                   residual.data<float>() + i * m * n, y.data<float>() + i * m * n, m, n, k);
  }
}

TEST(PackedGemm, RefusesTheTilesOfAnotherMachine) {
  const int nr = kernels::gemm_kernels().nr + 1;
  const Tensor a = random_tensor({2, 4}, 1), b = random_tensor({4, 3}, 2);
  const Node node = internal_node("PackedGemm", 2, gemm_attributes(4, 3, nr));
  try {
    run_node(node, {{a, pack(b, false, nr)}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotImplemented);
    EXPECT_NE(std::string(error.what()).find("packed for tiles of"), std::string::npos);
  }
}

TEST(PackedGemm, BitsDoNotDependOnTheSplit) {
  const auto& gemm = kernels::gemm_kernels();
  const int64_t m = 70, n = 150, k = 500;
  const Tensor a = random_tensor({m, k}, 1);
  const Tensor packed = pack(random_tensor({k, n}, 2), false, gemm.nr);
  const Node node = internal_node("PackedGemm", 2, gemm_attributes(k, n, gemm.nr));
  const Tensor expected = run_node(node, {{a, packed}})[0];

  const ValueType a_type = ValueType::tensor(a.type(), to_dims(a.shape()));
  const ValueType b_type = ValueType::tensor(packed.type(), to_dims(packed.shape()));
  const std::array<const ValueType*, 2> types = {&a_type, &b_type};
  const std::array<const Tensor*, 2> constants = {nullptr, nullptr};
  const std::array<const ValueType*, 1> output_types = {&a_type};
  const std::unique_ptr<Kernel> kernel =
      find_op(kInternalDomain, "PackedGemm")
          ->prepare({node, types, constants, output_types, best_isa()});
  Tensor y = Tensor::allocate(DataType::kFloat, {m, n});
  const TensorView a_view{a.type(), a.shape(), const_cast<void*>(a.raw())};
  const TensorView b_view{packed.type(), packed.shape(), const_cast<void*>(packed.raw())};
  TensorView y_view{y.type(), y.shape(), y.raw()};
  const std::array<const TensorView*, 2> inputs = {&a_view, &b_view};
  const std::array<const TensorView*, 1> resolve_outputs = {&y_view};
  const std::array<TensorView*, 1> outputs = {&y_view};
  StepPlan plan;
  ASSERT_TRUE(kernel->resolve(ResolveContext(node, inputs, resolve_outputs), plan).is_ok());
  ASSERT_GT(plan.chunks[0], 2);
  for (int chunks : {1, 2, plan.chunks[0]}) {
    std::fill_n(y.data<float>(), y.size(), -1.0f);
    for (int chunk = chunks; chunk-- > 0;) {
      RunContext context;
      context.inputs = inputs;
      context.outputs = outputs;
      context.state = plan.state.get();
      context.chunk = chunk;
      context.chunks = chunks;
      ASSERT_TRUE(kernel->run(context).is_ok());
    }
    EXPECT_TRUE(bitwise_equal(y, expected)) << chunks << " chunks";
  }
}

}  // namespace
}  // namespace sardonyx
