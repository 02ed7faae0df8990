#include "kernels/transpose/transpose.h"

#include <algorithm>
#include <numeric>

#include "kernels/test_util.h"

namespace sardonyx::kernels {
namespace {

class TransposeTest : public EachIsa {};
SDX_TEST_EACH_ISA(TransposeTest);

int64_t product(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// The definition, element by element.
std::vector<uint8_t> exact(const std::vector<int64_t>& shape, const std::vector<int64_t>& perm,
                           int size, const uint8_t* in) {
  const int64_t count = product(shape);
  std::vector<uint8_t> out(static_cast<size_t>(count * size));
  for (int64_t o = 0; o < count; ++o) {
    int64_t rest = o, source = 0;
    for (size_t i = perm.size(); i-- > 0;) {
      const int64_t axis = perm[i];
      int64_t stride = 1;
      for (size_t k = static_cast<size_t>(axis) + 1; k < shape.size(); ++k) stride *= shape[k];
      source += rest % shape[axis] * stride;
      rest /= shape[axis];
    }
    std::copy_n(in + source * size, size, out.data() + o * size);
  }
  return out;
}

void check(const TransposeKernels& kernels, const std::vector<int64_t>& shape,
           const std::vector<int64_t>& perm, int size) {
  SCOPED_TRACE(testing::PrintToString(shape) + testing::PrintToString(perm) + std::to_string(size));
  const int64_t bytes = product(shape) * size;
  GuardedBuffer<uint8_t> in(bytes), out(bytes);
  for (int64_t i = 0; i < bytes; ++i) in[i] = static_cast<uint8_t>(i * 151 + i / 256 * 7);
  TransposePlan plan;
  ASSERT_TRUE(make_transpose_plan(shape, perm, size, &plan));
  const std::vector<uint8_t> want = exact(shape, perm, size, in.data());
  for (int64_t step : {int64_t{1}, int64_t{3}, std::max<int64_t>(1, plan.units)}) {
    std::fill(out.begin(), out.end(), uint8_t{0});
    for (int64_t i = 0; i < plan.units; i += step) {
      kernels.run(plan, in.data(), out.data(), i, std::min(plan.units, i + step));
    }
    ASSERT_TRUE(std::equal(want.begin(), want.end(), out.data()));
  }
}

TEST_P(TransposeTest, EveryPermutationAndElementSize) {
  const TransposeKernels& kernels = transpose_kernels(GetParam());
  const std::vector<std::vector<int64_t>> shapes = {
      {},       {7},          {3, 5},       {1, 4},         {16, 8},
      {17, 33}, {40, 70},     {2, 3, 4},    {5, 1, 9},      {3, 8, 16},
      {0, 4},   {2, 3, 4, 5}, {1, 9, 2, 8}, {2, 40, 3, 37}, {2, 2, 3, 2, 3}};
  for (const auto& shape : shapes) {
    std::vector<int64_t> perm(shape.size());
    std::iota(perm.begin(), perm.end(), 0);
    do {
      for (int size : {1, 2, 4, 8, 16}) ASSERT_NO_FATAL_FAILURE(check(kernels, shape, perm, size));
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST_P(TransposeTest, MatricesOfEverySize) {
  const TransposeKernels& kernels = transpose_kernels(GetParam());
  for (int64_t rows = 1; rows <= 35; ++rows) {
    for (int64_t columns = 1; columns <= 35; columns += columns < 20 ? 1 : 5) {
      ASSERT_NO_FATAL_FAILURE(check(kernels, {rows, columns}, {1, 0}, 4));
    }
  }
}

TEST(TransposePlan, MergesAxesAndRefusesNonsense) {
  TransposePlan plan;
  // NCHW to NHWC is one matrix per image.
  ASSERT_TRUE(make_transpose_plan(std::vector<int64_t>{2, 3, 4, 5},
                                  std::vector<int64_t>{0, 2, 3, 1}, 4, &plan));
  EXPECT_EQ(plan.mode, TransposeMode::kTiles);
  EXPECT_EQ(plan.outer_rank, 1);
  EXPECT_EQ(plan.width, 3);
  EXPECT_EQ(plan.height, 20);
  ASSERT_TRUE(
      make_transpose_plan(std::vector<int64_t>{2, 3, 4}, std::vector<int64_t>{0, 1, 2}, 4, &plan));
  EXPECT_EQ(plan.outer_rank, 0);
  EXPECT_EQ(plan.width, 24);
  const std::vector<int64_t> shape = {2, 3};
  EXPECT_FALSE(make_transpose_plan(shape, std::vector<int64_t>{0, 0}, 4, &plan));
  EXPECT_FALSE(make_transpose_plan(shape, std::vector<int64_t>{0, 2}, 4, &plan));
  EXPECT_FALSE(make_transpose_plan(shape, std::vector<int64_t>{0, -1}, 4, &plan));
  EXPECT_FALSE(make_transpose_plan(shape, std::vector<int64_t>{0}, 4, &plan));
  EXPECT_FALSE(make_transpose_plan(shape, std::vector<int64_t>{1, 0}, 3, &plan));
}

}  // namespace
}  // namespace sardonyx::kernels
