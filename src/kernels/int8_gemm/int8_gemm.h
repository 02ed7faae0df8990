// 8-bit integer matrix multiply against a packed right-hand side, exact in 32 bits (modulo 2^32) on
// every row, one thread: sums of (a - a_zero) * (b - b_zero), stored as int32, scaled to float, or
// scaled, rounded and saturated to 8 bits again.
//
// Both operands may be signed or unsigned. Packing makes a unsigned and b signed by flipping their
// top bit, which moves the zero point by 128; zero points are applied to the sums, by way of the
// sums of rows of a and columns of b, so that products run over raw bytes.
//
// a is packed for one row of the table and used at once; b in a portable form that depends on the
// panel width nr only: ceil(n / nr) panels, each of nr column sums (int32), then for every four
// rows of b nr groups of four bytes, zeros beyond k and n. A caller splits the work by rows
// (advance packed_a, rows, c) or by panels (advance packed_b, c and the column arrays). Called by
// the integer and quantised matrix products and convolutions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.h"

namespace sardonyx::kernels {

// One row of the result.
struct Int8Row {
  int32_t sum = 0;       // of the packed row of a
  int32_t zero = 0;      // of a as packed: zero_of_packed_a()
  int32_t bias = 0;      // added to the integer sum
  float scale = 1.0f;    // of the sum
  int32_t out_zero = 0;  // zero point of an 8-bit result
};

enum class Int8Output : uint8_t { kInt32, kFloat, kUint8, kInt8 };

struct Int8GemmArgs {
  int64_t m = 0, n = 0, k = 0;
  const std::byte* packed_a = nullptr;  // m rows of packed_a_bytes(k)
  const Int8Row* rows = nullptr;        // [m]
  const std::byte* packed_b = nullptr;
  const int32_t* column_zero = nullptr;  // [n], of b as packed; null: all 0
  const float* column_scale = nullptr;   // [n] or null: times the row's
  const float* column_bias = nullptr;    // [n] or null: added to the scaled sum
  Int8Output output = Int8Output::kInt32;
  void* c = nullptr;  // [m, n] of the output type; 8-bit: NaN counts as 0
  int64_t ldc = 0;
};

struct Int8GemmKernels {
  int mr;             // rows of a tile
  int nr;             // columns of a panel, a multiple of 4
  int a_group_bytes;  // of four values of a packed row
  // Packs one row of a; `flip` is 0x80 for signed bytes, else 0. Returns the sum of what it packed.
  int32_t (*pack_a)(const uint8_t* a, int64_t k, uint8_t flip, std::byte* out);
  // Interleaves four rows of b, null: zeros, into the group at `out` of all panels of width
  // `width`; `flip` is 0x80 for unsigned bytes, else 0.
  void (*pack_b_rows)(const uint8_t* const rows[4], int64_t n, uint8_t flip, int64_t width,
                      int64_t panel_bytes, std::byte* out);
  // Fills in the column sums of one panel.
  void (*sum_columns)(int64_t k, int64_t width, std::byte* panel);
  void (*run)(const Int8GemmArgs& args);

  int64_t packed_a_bytes(int64_t k) const { return (k + 3) / 4 * a_group_bytes; }
};

// The fastest row of a level: on AVX-512 the one with VNNI where the machine has it.
const Int8GemmKernels& int8_gemm_kernels(Isa isa = best_isa());
// The row of a level without special instructions. Same nr.
const Int8GemmKernels& plain_int8_gemm_kernels(Isa isa);

inline constexpr int64_t kMaxInt8PanelWidth = 64;
inline int64_t int8_panel_bytes(int64_t k, int64_t nr) { return ((k + 3) / 4 + 1) * nr * 4; }
inline int64_t packed_int8_b_bytes(int64_t k, int64_t n, int64_t nr) {
  return (n + nr - 1) / nr * int8_panel_bytes(k, nr);
}

inline constexpr uint8_t flip_of_a(bool is_signed) { return is_signed ? 0x80 : 0; }
inline constexpr uint8_t flip_of_b(bool is_signed) { return is_signed ? 0 : 0x80; }
inline constexpr int32_t zero_of_packed_a(int32_t zero, bool is_signed) {
  return is_signed ? zero + 128 : zero;
}
inline constexpr int32_t zero_of_packed_b(int32_t zero, bool is_signed) {
  return is_signed ? zero : zero - 128;
}

// Packs panels [first_panel, last_panel) of b, element (i, j) at b[i * row_stride + j *
// col_stride], to out + panel * int8_panel_bytes(k, nr).
void pack_int8_b(const Int8GemmKernels& kernels, const uint8_t* b, bool is_signed,
                 int64_t row_stride, int64_t col_stride, int64_t k, int64_t n, int64_t nr,
                 std::byte* out, int64_t first_panel, int64_t last_panel);

}  // namespace sardonyx::kernels
