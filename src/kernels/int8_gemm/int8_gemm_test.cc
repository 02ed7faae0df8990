#include "kernels/int8_gemm/int8_gemm.h"

#include <algorithm>

#include "kernels/test_util.h"

namespace sardonyx::kernels {
namespace {

// Each level twice: the fastest row and the one without special instructions.
class Int8GemmTest : public testing::TestWithParam<std::pair<Isa, bool>> {
 protected:
  static const Int8GemmKernels& kernels() {
    const auto [isa, plain] = GetParam();
    return plain ? plain_int8_gemm_kernels(isa) : int8_gemm_kernels(isa);
  }
};

std::vector<std::pair<Isa, bool>> all_rows() {
  std::vector<std::pair<Isa, bool>> rows;
  for (Isa isa : supported_isas()) {
    rows.emplace_back(isa, false);
    if (&plain_int8_gemm_kernels(isa) != &int8_gemm_kernels(isa)) rows.emplace_back(isa, true);
  }
  return rows;
}
INSTANTIATE_TEST_SUITE_P(All, Int8GemmTest, testing::ValuesIn(all_rows()), [](const auto& info) {
  return std::string(to_string(info.param.first)) + (info.param.second ? "_plain" : "");
});

struct Case {
  int64_t m, n, k;
  bool a_signed = false, b_signed = true;
  Int8Output output = Int8Output::kInt32;
  bool columns = true;  // zero points of b
  bool extremes = false;
};

int value_of(uint8_t byte, bool is_signed) {
  return is_signed ? static_cast<int8_t>(byte) : static_cast<int>(byte);
}

// What the product leaves at (i, j), from unpacked operands.
struct Problem {
  explicit Problem(const Case& test)
      : a(test.m * test.k),
        b(test.k * test.n),
        a_zero(test.m),
        b_zero(test.n),
        scale(test.n),
        bias(test.n) {
    std::mt19937 random(static_cast<uint32_t>(test.m * 7919 + test.n * 131 + test.k));
    const auto byte = [&] {
      const uint32_t bits = random();
      return static_cast<uint8_t>(test.extremes ? (bits & 1   ? 0x80
                                                   : bits & 2 ? 0xFF
                                                              : 0x7F)
                                                : bits);
    };
    std::generate(a.begin(), a.end(), byte);
    std::generate(b.begin(), b.end(), byte);
    for (int32_t& zero : a_zero) zero = value_of(byte(), test.a_signed);
    for (int32_t& zero : b_zero) zero = test.columns ? value_of(byte(), test.b_signed) : 0;
    fill_uniform(scale, 1e-3f, 4e-3f, 5);
    fill_uniform(bias, -20, 20, 6);
  }
  int32_t sum(const Case& test, int64_t i, int64_t j) const {
    uint32_t sum = 0;
    for (int64_t p = 0; p < test.k; ++p) {
      const int left = value_of(a[i * test.k + p], test.a_signed) - a_zero[static_cast<size_t>(i)];
      const int right = value_of(b[p * test.n + j], test.b_signed) - b_zero[static_cast<size_t>(j)];
      sum += static_cast<uint32_t>(left * right);
    }
    return static_cast<int32_t>(sum);
  }

  GuardedBuffer<uint8_t> a, b;
  std::vector<int32_t> a_zero, b_zero;
  GuardedBuffer<float> scale, bias;
};

template <typename T>
void check(const Int8GemmKernels& kernels, const Case& test) {
  SCOPED_TRACE(testing::Message() << "m " << test.m << " n " << test.n << " k " << test.k << " a "
                                  << test.a_signed << " b " << test.b_signed << " output "
                                  << static_cast<int>(test.output));
  Problem problem(test);
  const int64_t row_bytes = kernels.packed_a_bytes(test.k);
  GuardedBuffer<std::byte> packed_a(test.m * row_bytes);
  GuardedBuffer<std::byte> packed_b(packed_int8_b_bytes(test.k, test.n, kernels.nr));
  pack_int8_b(kernels, problem.b.data(), test.b_signed, test.n, 1, test.k, test.n, kernels.nr,
              packed_b.data(), 0, (test.n + kernels.nr - 1) / kernels.nr);
  std::vector<Int8Row> rows(static_cast<size_t>(test.m));
  for (int64_t i = 0; i < test.m; ++i) {
    Int8Row& row = rows[static_cast<size_t>(i)];
    row.sum = kernels.pack_a(problem.a.data() + i * test.k, test.k, flip_of_a(test.a_signed),
                             packed_a.data() + i * row_bytes);
    row.zero = zero_of_packed_a(problem.a_zero[static_cast<size_t>(i)], test.a_signed);
    row.bias = static_cast<int32_t>(i * 3 - 1);
    row.scale = 0.5f + static_cast<float>(i % 3);
    row.out_zero = static_cast<int32_t>(i % 5) + 2;
  }
  GuardedBuffer<int32_t> column_zero(test.n);
  for (int64_t j = 0; j < test.n; ++j) {
    column_zero[j] = zero_of_packed_b(problem.b_zero[static_cast<size_t>(j)], test.b_signed);
  }
  const int64_t ldc = test.n + 3;
  GuardedBuffer<T> c(test.m == 0 || test.n == 0 ? 0 : (test.m - 1) * ldc + test.n);
  for (T& value : c) value = 77;
  Int8GemmArgs args;
  args.m = test.m, args.n = test.n, args.k = test.k;
  args.packed_a = packed_a.data(), args.rows = rows.data(), args.packed_b = packed_b.data();
  args.column_zero = test.columns || !test.b_signed ? column_zero.data() : nullptr;
  args.column_scale = problem.scale.data(), args.column_bias = problem.bias.data();
  args.output = test.output, args.c = c.data(), args.ldc = ldc;
  kernels.run(args);
  for (int64_t i = 0; i < test.m; ++i) {
    const Int8Row& row = rows[static_cast<size_t>(i)];
    for (int64_t j = 0; j < ldc && i * ldc + j < c.size(); ++j) {
      if (j >= test.n) {
        ASSERT_EQ(c[i * ldc + j], T(77)) << "padding of row " << i;
        continue;
      }
      const int32_t sum = problem.sum(test, i, j) + row.bias;
      float value = static_cast<float>(sum) * (row.scale * problem.scale[j]) + problem.bias[j];
      if constexpr (std::is_same_v<T, int32_t>) {
        ASSERT_EQ(c[i * ldc + j], sum) << i << ", " << j;
      } else if constexpr (std::is_same_v<T, float>) {
        ASSERT_TRUE(same_bits(c[i * ldc + j], value)) << i << ", " << j;
      } else {
        value = std::nearbyint(value) + static_cast<float>(row.out_zero);
        value =
            std::clamp<float>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
        ASSERT_EQ(c[i * ldc + j], static_cast<T>(value)) << i << ", " << j;
      }
    }
  }
}

constexpr std::pair<bool, bool> kSigns[] = {
    {false, true}, {true, true}, {false, false}, {true, false}};

TEST_P(Int8GemmTest, SizesAroundTiles) {
  const int64_t mr = kernels().mr, nr = kernels().nr;
  for (int64_t m :
       {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, mr - 1, mr, mr + 1, 2 * mr + 1}) {
    for (int64_t n : {int64_t{0}, int64_t{1}, nr - 1, nr, nr + 1, 4 * nr, 5 * nr + 3}) {
      for (int64_t k : {0, 1, 3, 4, 5, 16, 31, 67}) {
        check<int32_t>(kernels(), {m, n, k});
      }
    }
  }
}

TEST_P(Int8GemmTest, SignsAndOutputs) {
  for (const auto& [a, b] : kSigns) {
    for (int64_t m : {1, 2, 5, 29}) {
      for (int64_t n : {1, 7, 70}) {
        for (bool columns : {false, true}) {
          check<int32_t>(kernels(), {m, n, 37, a, b, Int8Output::kInt32, columns});
          check<float>(kernels(), {m, n, 37, a, b, Int8Output::kFloat, columns});
          check<uint8_t>(kernels(), {m, n, 37, a, b, Int8Output::kUint8, columns});
          check<int8_t>(kernels(), {m, n, 37, a, b, Int8Output::kInt8, columns});
        }
      }
    }
  }
}

// Products at the ends of the ranges, whose 16-bit sums overflow.
TEST_P(Int8GemmTest, ExtremesAreExact) {
  for (const auto& [a, b] : kSigns) {
    check<int32_t>(kernels(), {15, 40, 384, a, b, Int8Output::kInt32, true, true});
    check<int32_t>(kernels(), {3, 40, 5000, a, b, Int8Output::kInt32, false, true});
  }
}

// 255 * 127 * 140000 is beyond 2^31: sums are exact modulo 2^32.
TEST_P(Int8GemmTest, SumsWrap) {
  const int64_t k = 140000;
  const std::vector<uint8_t> a(static_cast<size_t>(k), 255), b(static_cast<size_t>(k), 127);
  std::vector<std::byte> packed_a(static_cast<size_t>(kernels().packed_a_bytes(k)));
  std::vector<std::byte> packed_b(static_cast<size_t>(packed_int8_b_bytes(k, 1, kernels().nr)));
  pack_int8_b(kernels(), b.data(), true, 1, 1, k, 1, kernels().nr, packed_b.data(), 0, 1);
  Int8Row row;
  row.sum = kernels().pack_a(a.data(), k, 0, packed_a.data());
  int32_t c = 0;
  Int8GemmArgs args;
  args.m = 1, args.n = 1, args.k = k, args.packed_a = packed_a.data(), args.rows = &row;
  args.packed_b = packed_b.data(), args.c = &c, args.ldc = 1;
  kernels().run(args);
  EXPECT_EQ(c, static_cast<int32_t>(static_cast<uint32_t>(255u * 127u * 140000u)));
}

TEST_P(Int8GemmTest, NotANumberCountsAsZero) {
  const uint8_t a = 1, b = 1;
  std::vector<std::byte> packed_a(static_cast<size_t>(kernels().packed_a_bytes(1)));
  std::vector<std::byte> packed_b(static_cast<size_t>(packed_int8_b_bytes(1, 1, kernels().nr)));
  pack_int8_b(kernels(), &b, true, 1, 1, 1, 1, kernels().nr, packed_b.data(), 0, 1);
  Int8Row row;
  row.sum = kernels().pack_a(&a, 1, 0, packed_a.data());
  row.out_zero = 9;
  for (const auto& [scale, expected] : {std::pair<float, int>{std::nanf(""), 9},
                                        {HUGE_VALF, 255},
                                        {-HUGE_VALF, 0},
                                        {0.49999997f, 9},
                                        {0.5f, 9},
                                        {1.5f, 11}}) {
    row.scale = scale;
    uint8_t c = 1;
    Int8GemmArgs args;
    args.m = 1, args.n = 1, args.k = 1, args.packed_a = packed_a.data(), args.rows = &row;
    args.packed_b = packed_b.data(), args.c = &c, args.ldc = 1, args.output = Int8Output::kUint8;
    kernels().run(args);
    EXPECT_EQ(c, expected) << scale;
  }
}

// A packed weight depends on the width only: rows of b, columns of b and single panels, packed by
// any level, give the same bytes.
TEST_P(Int8GemmTest, PackedFormIsPortable) {
  const Int8GemmKernels& plain = plain_int8_gemm_kernels(Isa::kBaseline);
  for (int64_t nr : {4, 8, 16, 32, 64}) {
    for (int64_t n : {1, 16, 37, 64, 65}) {
      const int64_t k = 23, panels = (n + nr - 1) / nr;
      GuardedBuffer<uint8_t> b(k * n), transposed(k * n);
      for (int64_t i = 0; i < k; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          b[i * n + j] = transposed[j * k + i] = static_cast<uint8_t>(i * 37 + j * 11);
        }
      }
      for (bool is_signed : {false, true}) {
        const int64_t bytes = packed_int8_b_bytes(k, n, nr);
        GuardedBuffer<std::byte> expected(bytes), whole(bytes), turned(bytes), parts(bytes);
        pack_int8_b(plain, b.data(), is_signed, n, 1, k, n, nr, expected.data(), 0, panels);
        pack_int8_b(kernels(), b.data(), is_signed, n, 1, k, n, nr, whole.data(), 0, panels);
        pack_int8_b(kernels(), transposed.data(), is_signed, 1, k, k, n, nr, turned.data(), 0,
                    panels);
        for (int64_t p = 0; p < panels; ++p) {
          pack_int8_b(kernels(), b.data(), is_signed, n, 1, k, n, nr, parts.data(), p, p + 1);
        }
        const auto same = [&](GuardedBuffer<std::byte>& other) {
          return std::equal(other.begin(), other.end(), expected.begin());
        };
        EXPECT_TRUE(same(whole)) << nr << " " << n;
        EXPECT_TRUE(same(turned)) << nr << " " << n;
        EXPECT_TRUE(same(parts)) << nr << " " << n;
      }
    }
  }
  // Two columns of three values: sums, then one group each, in panels of four.
  const uint8_t b[] = {1, 2, 3, 4, 5, 6};
  std::vector<std::byte> packed(32);
  pack_int8_b(kernels(), b, true, 2, 1, 3, 2, 4, packed.data(), 0, 1);
  const uint8_t expected[32] = {9, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0,
                                0, 0, 0, 0, 1,  3, 5, 0, 2, 4, 6};
  EXPECT_EQ(std::memcmp(packed.data(), expected, 32), 0);
}

}  // namespace
}  // namespace sardonyx::kernels
