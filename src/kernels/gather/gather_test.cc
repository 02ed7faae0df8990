#include "kernels/gather/gather.h"

#include "kernels/test_util.h"

namespace sardonyx::kernels {
namespace {

template <typename Index>
void check_gather(int64_t row_bytes) {
  const int64_t rows = 7, in_stride = row_bytes + 3, out_stride = row_bytes + 1;
  const std::vector<Index> indices = {0, 6, 3, 3, -1, -7, 2};
  GuardedBuffer<uint8_t> in((rows - 1) * in_stride + row_bytes);
  GuardedBuffer<uint8_t> out((static_cast<int64_t>(indices.size()) - 1) * out_stride + row_bytes);
  for (int64_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 31 + 1);
  EXPECT_EQ(gather_rows(in.data(), rows, row_bytes, in_stride, indices.data(),
                        static_cast<int64_t>(indices.size()), out.data(), out_stride),
            -1);
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t row = indices[i] < 0 ? indices[i] + rows : indices[i];
    for (int64_t k = 0; k < row_bytes; ++k) {
      ASSERT_EQ(out[static_cast<int64_t>(i) * out_stride + k], in[row * in_stride + k]);
    }
  }
}

TEST(Gather, RowsOfEverySize) {
  for (int64_t bytes : {0, 1, 2, 3, 4, 7, 8, 12, 16, 17, 64, 1000}) {
    check_gather<int64_t>(bytes);
    check_gather<int32_t>(bytes);
  }
}

TEST(Gather, StopsAtAnIndexOutside) {
  const float in[3] = {1, 2, 3};
  for (int64_t bad : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN}) {
    const int64_t indices[3] = {1, bad, 0};
    GuardedBuffer<float> out(3);
    out[2] = 9;
    EXPECT_EQ(gather_rows(in, 3, 4, 4, indices, 3, out.data(), 4), 1);
    EXPECT_EQ(out[0], 2);
    EXPECT_EQ(out[2], 9);
    EXPECT_EQ(scatter_rows(in, 4, 4, indices, 3, out.data(), 3, 4), 1);
  }
  const int64_t zero = 0;
  EXPECT_EQ(gather_rows(nullptr, 0, 4, 4, &zero, 1, nullptr, 4), 0);
  EXPECT_EQ(gather_rows(nullptr, 0, 4, 4, &zero, 0, nullptr, 4), -1);
}

TEST(Gather, ScatterWritesRows) {
  const float in[4] = {1, 2, 3, 4};
  const int64_t indices[4] = {2, 0, -1, 2};
  GuardedBuffer<float> out(4);
  out[1] = 7;
  EXPECT_EQ(scatter_rows(in, 4, 4, indices, 4, out.data(), 4, 4), -1);
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[1], 7);
  EXPECT_EQ(out[2], 4);
  EXPECT_EQ(out[3], 3);
}

// Recursion over the axes, the definition of copy_nd.
void exact_copy(int64_t size, int rank, const int64_t* shape, const int64_t* in_strides,
                const int64_t* out_strides, const uint8_t* in, uint8_t* out) {
  if (rank == 0) {
    std::memcpy(out, in, static_cast<size_t>(size));
    return;
  }
  for (int64_t i = 0; i < *shape; ++i) {
    exact_copy(size, rank - 1, shape + 1, in_strides + 1, out_strides + 1,
               in + i * *in_strides * size, out + i * *out_strides * size);
  }
}

TEST(CopyNd, RandomViews) {
  std::mt19937 random(3);
  const auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  for (int round = 0; round < 3000; ++round) {
    const int rank = static_cast<int>(pick(0, 5));
    const int64_t sizes[] = {1, 2, 3, 4, 8, 16, 24};
    const int64_t size = sizes[pick(0, 6)];
    int64_t shape[5], in_strides[5], out_strides[5];
    int64_t in_first = 0, in_count = 1, out_first = 0, out_count = 1;
    // Innermost first: dense, padded, reversed or (input) broadcast axes.
    for (int i = rank; i-- > 0;) {
      shape[i] = pick(round % 50 == 0 ? 0 : 1, 4);
      const int64_t last = shape[i] > 0 ? shape[i] - 1 : 0;
      const auto lay_out = [&](int64_t kind, int64_t* stride, int64_t* first, int64_t* count) {
        const int64_t step = *count + (kind == 1 ? 2 : 0);
        *stride = kind == 3 ? 0 : kind == 2 ? -step : step;
        if (kind == 2) *first += step * last;
        if (kind != 3) *count += step * last;
      };
      lay_out(pick(0, 3), &in_strides[i], &in_first, &in_count);
      lay_out(pick(0, 2), &out_strides[i], &out_first, &out_count);
    }
    GuardedBuffer<uint8_t> in(in_count * size), out(out_count * size);
    for (int64_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(random());
    std::vector<uint8_t> want(out.begin(), out.end());
    copy_nd(size, rank, shape, in_strides, out_strides, in.data() + in_first * size,
            out.data() + out_first * size);
    exact_copy(size, rank, shape, in_strides, out_strides, in.data() + in_first * size,
               want.data() + out_first * size);
    ASSERT_TRUE(std::equal(want.begin(), want.end(), out.data())) << "round " << round;
  }
}

}  // namespace
}  // namespace sardonyx::kernels
