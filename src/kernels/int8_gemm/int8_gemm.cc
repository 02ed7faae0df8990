#include "kernels/int8_gemm/int8_gemm.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8_gemm/int8_gemm.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "kernels/dispatch.h"
#include "kernels/hwy_compat-inl.h"

#if HWY_ARCH_X86
#include <immintrin.h>
#endif

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

// Rows multiply 16-bit pairs (pmaddwd), which cannot overflow: bytes of a are split into even and
// odd ones when they are packed, those of b when they are loaded. Targets without it loop.
#if HWY_TARGET == HWY_AVX3
constexpr size_t kTileRows = 12, kVnniTileRows = 14, kPanelVectors = 2, kLanes = 16;
#elif HWY_TARGET == HWY_AVX2
constexpr size_t kTileRows = 4, kPanelVectors = 2, kLanes = 8;
#elif HWY_TARGET == HWY_SSE4
constexpr size_t kTileRows = 4, kPanelVectors = 2, kLanes = 4;
#else
constexpr size_t kTileRows = 2, kPanelVectors = 8, kLanes = 1;
#endif
#undef SDX_INT8_PAIRS
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
#define SDX_INT8_PAIRS 1
constexpr size_t kGroupBytes = 8;
#else
#define SDX_INT8_PAIRS 0
constexpr size_t kGroupBytes = 4;
#endif
constexpr size_t kPanelColumns = kPanelVectors * kLanes;
constexpr size_t kMaxTileRows = 14, kMaxPanels = 4;

using D32 = hn::CappedTag<int32_t, kLanes>;
using DF = hn::CappedTag<float, kLanes>;
using V32 = hn::Vec<D32>;

// Sums of one tile, [rows, panels * kPanelColumns], before zero points.
struct Int8Tile {
  const std::byte* a;
  int64_t a_stride;
  const std::byte* b;    // first group of the first panel
  int64_t panel_stride;  // bytes between panels
  int64_t groups;
  int32_t* sums;  // aligned
};

// --- tiles ---------------------------------------------------------------------------------------

template <typename T>
HWY_INLINE T load_as(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

#if SDX_INT8_PAIRS
using D16 = hn::Repartition<int16_t, D32>;

template <size_t kRows, size_t kPanels>
HWY_NOINLINE void run_tile(const Int8Tile& t) {
  const D32 d;
  const D16 d16;
  constexpr size_t kVectors = kPanels * kPanelVectors;
  V32 sum[kRows][kVectors];
  SDX_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    SDX_UNROLL
    for (size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  const std::byte* HWY_RESTRICT a = t.a;
  const std::byte* HWY_RESTRICT b = t.b;
  const int64_t a_stride = t.a_stride, panel_stride = t.panel_stride;
  V32 unused = hn::Zero(d);
  for (int64_t g = 0; g < t.groups; ++g, a += kGroupBytes, b += kPanelColumns * 4) {
    hn::Vec<D16> even[kVectors], odd[kVectors];
    SDX_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      const std::byte* at = b + static_cast<int64_t>(v / kPanelVectors) * panel_stride +
                            v % kPanelVectors * kLanes * 4;
      const auto bytes = hn::LoadU(d16, reinterpret_cast<const int16_t*>(at));
      even[v] = hn::ShiftRight<8>(hn::ShiftLeft<8>(bytes));
      odd[v] = hn::ShiftRight<8>(bytes);
    }
    SDX_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      const std::byte* at = a + static_cast<int64_t>(r) * a_stride;
      const auto a_even = hn::BitCast(d16, hn::Set(d, load_as<int32_t>(at)));
      const auto a_odd = hn::BitCast(d16, hn::Set(d, load_as<int32_t>(at + 4)));
      SDX_UNROLL
      for (size_t v = 0; v < kVectors; ++v) {
        sum[r][v] = hn::ReorderWidenMulAccumulate(d, a_even, even[v], sum[r][v], unused);
        sum[r][v] = hn::ReorderWidenMulAccumulate(d, a_odd, odd[v], sum[r][v], unused);
      }
    }
  }
  SDX_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    SDX_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      hn::Store(sum[r][v], d, t.sums + (r * kVectors + v) * kLanes);
    }
  }
}
#else
template <size_t kRows, size_t kPanels>
HWY_NOINLINE void run_tile(const Int8Tile& t) {
  constexpr size_t kColumns = kPanels * kPanelColumns;
  std::fill_n(t.sums, kRows * kColumns, 0);
  for (int64_t g = 0; g < t.groups; ++g) {
    for (size_t r = 0; r < kRows; ++r) {
      const std::byte* a = t.a + static_cast<int64_t>(r) * t.a_stride + g * 4;
      for (size_t j = 0; j < kColumns; ++j) {
        const std::byte* b =
            t.b + static_cast<int64_t>(j / kPanelColumns) * t.panel_stride +
            (g * static_cast<int64_t>(kPanelColumns) + static_cast<int64_t>(j % kPanelColumns)) * 4;
        uint32_t sum = static_cast<uint32_t>(t.sums[r * kColumns + j]);
        for (size_t i = 0; i < 4; ++i) {
          const int product = static_cast<int>(a[i]) * static_cast<int8_t>(b[i]);
          sum += static_cast<uint32_t>(product);
        }
        t.sums[r * kColumns + j] = static_cast<int32_t>(sum);
      }
    }
  }
}
#endif

#if HWY_TARGET == HWY_AVX3
// Four products of an unsigned and a signed byte at a time, added up in 32 bits without saturation.
template <size_t kRows, size_t kPanels>
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512cd,avx512vnni"))) HWY_NOINLINE void
run_vnni_tile(const Int8Tile& t) {
  constexpr size_t kVectors = kPanels * kPanelVectors;
  __m512i sum[kRows][kVectors];
  SDX_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    SDX_UNROLL
    for (size_t v = 0; v < kVectors; ++v) sum[r][v] = _mm512_setzero_si512();
  }
  // Three rows share a base pointer: with the index register they need one add a step.
  constexpr size_t kBases = (kRows + 2) / 3;
  const std::byte* HWY_RESTRICT a[kBases];
  const int64_t a_stride = t.a_stride, panel_stride = t.panel_stride;
  SDX_UNROLL
  for (size_t i = 0; i < kBases; ++i) a[i] = t.a + static_cast<int64_t>(i) * 3 * a_stride;
  const std::byte* HWY_RESTRICT b = t.b;
  for (int64_t g = 0; g < t.groups; ++g, b += kPanelColumns * 4) {
    __m512i bv[kVectors];
    SDX_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      bv[v] = _mm512_loadu_si512(b + static_cast<int64_t>(v / kPanelVectors) * panel_stride +
                                 v % kPanelVectors * kLanes * 4);
    }
    SDX_UNROLL
    for (size_t r = 0; r < kRows; ++r) {
      int32_t four;
      std::memcpy(&four, a[r / 3] + g * 4 + static_cast<int64_t>(r % 3) * a_stride, 4);
      const __m512i av = _mm512_set1_epi32(four);
      SDX_UNROLL
      for (size_t v = 0; v < kVectors; ++v) {
        sum[r][v] = _mm512_dpbusd_epi32(sum[r][v], av, bv[v]);
      }
    }
  }
  SDX_UNROLL
  for (size_t r = 0; r < kRows; ++r) {
    SDX_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      _mm512_store_si512(t.sums + (r * kVectors + v) * kLanes, sum[r][v]);
    }
  }
}
#endif

using TileFunction = void (*)(const Int8Tile&);

// Few rows leave accumulators free: they take several panels at once, so that enough independent
// sums hide the latency of the multiply-adds.
constexpr size_t panels_of(size_t rows) {
  return kTileRows < 12 ? 1 : rows == 1 ? kMaxPanels : rows <= 3 ? 2 : 1;
}

// [rows - 1]: panels_of(rows) panels, and one.
struct Tiles {
  size_t rows = 0;
  std::array<TileFunction, kMaxTileRows> wide = {}, narrow = {};
};
template <size_t... kIndex>
constexpr Tiles make_tiles(std::index_sequence<kIndex...>) {
  return {sizeof...(kIndex),
          {&run_tile<kIndex + 1, panels_of(kIndex + 1)>...},
          {&run_tile<kIndex + 1, 1>...}};
}
constexpr Tiles kTiles = make_tiles(std::make_index_sequence<kTileRows>());
#if HWY_TARGET == HWY_AVX3
template <size_t... kIndex>
constexpr Tiles make_vnni_tiles(std::index_sequence<kIndex...>) {
  return {sizeof...(kIndex),
          {&run_vnni_tile<kIndex + 1, panels_of(kIndex + 1)>...},
          {&run_vnni_tile<kIndex + 1, 1>...}};
}
constexpr Tiles kVnniTiles = make_vnni_tiles(std::make_index_sequence<kVnniTileRows>());
#endif

// --- finishing sums ------------------------------------------------------------------------------

// The columns of a tile: what does not depend on the row.
struct Columns {
  int64_t count;          // valid ones
  int64_t width;          // of a row of sums
  const int32_t* factor;  // [width]: what the zero point of a is multiplied by
  const int32_t* zero;    // [width] or null
  const float* scale;     // [count] or null
  const float* bias;      // [count] or null
};

template <class D8>
HWY_INLINE void store_rounded(hn::Vec<DF> value, float low, float high, int32_t zero, void* c,
                              size_t left) {
  const DF d;
  const D32 d32;
  value = hn::IfThenElseZero(hn::Eq(value, value), value);  // NaN counts as 0
  value = clip(value, hn::Set(d, low), hn::Set(d, high));
  const V32 rounded = hn::Add(hn::ConvertTo(d32, round_even(d, value)), hn::Set(d32, zero));
  store_n(hn::DemoteTo(D8(), rounded), D8(), static_cast<hn::TFromD<D8>*>(c), left);
}

template <Int8Output kOutput>
HWY_INLINE void finish_row(const Columns& columns, const Int8Row& row, const int32_t* sums,
                           std::byte* c) {
  const D32 d32;
  const DF d;
  const V32 zero = hn::Set(d32, row.zero), sum = hn::Set(d32, row.sum);
  const V32 bias = hn::Set(d32, row.bias);
  const auto row_scale = hn::Set(d, row.scale);
  constexpr float kLow = kOutput == Int8Output::kInt8 ? -128 : 0;
  const float low = kLow - static_cast<float>(row.out_zero);
  const float high = kLow + 255.0f - static_cast<float>(row.out_zero);
  for (int64_t j = 0; j < columns.count; j += kLanes) {
    const size_t left = static_cast<size_t>(columns.count - j);
    V32 v = hn::Add(hn::Load(d32, sums + j), bias);
    v = hn::Add(v, hn::Mul(zero, hn::Load(d32, columns.factor + j)));
    if (columns.zero != nullptr) v = hn::Sub(v, hn::Mul(sum, hn::Load(d32, columns.zero + j)));
    if constexpr (kOutput == Int8Output::kInt32) {
      store_n(v, d32, reinterpret_cast<int32_t*>(c) + j, left);
      continue;
    }
    auto scale = row_scale;
    if (columns.scale != nullptr) scale = hn::Mul(scale, load_n(d, columns.scale + j, left));
    auto value = hn::Mul(hn::ConvertTo(d, v), scale);
    if (columns.bias != nullptr) value = hn::Add(value, load_n(d, columns.bias + j, left));
    if constexpr (kOutput == Int8Output::kFloat) {
      store_n(value, d, reinterpret_cast<float*>(c) + j, left);
      continue;
    }
    using T = std::conditional_t<kOutput == Int8Output::kInt8, int8_t, uint8_t>;
    store_rounded<hn::Rebind<T, D32>>(value, low, high, row.out_zero, c + j, left);
  }
}

template <Int8Output kOutput>
HWY_NOINLINE void finish(const Columns& columns, const Int8Row* rows, size_t count,
                         const int32_t* sums, std::byte* c, int64_t row_bytes) {
  for (size_t r = 0; r < count; ++r) {
    finish_row<kOutput>(columns, rows[r], sums, c);
    sums += columns.width;
    c += row_bytes;
  }
}

using FinishFunction = void (*)(const Columns&, const Int8Row*, size_t, const int32_t*, std::byte*,
                                int64_t);
constexpr FinishFunction kFinish[] = {&finish<Int8Output::kInt32>, &finish<Int8Output::kFloat>,
                                      &finish<Int8Output::kUint8>, &finish<Int8Output::kInt8>};

// --- the product ---------------------------------------------------------------------------------

// Bytes of a that are walked under one panel of b: they stay in L2.
constexpr int64_t kBlockBytes = 192 * 1024;

// Columns [j, j + panels * kPanelColumns) of rows [row, last).
void run_panels(const Int8GemmArgs& args, const Tiles& tiles, int64_t a_stride, int64_t row,
                int64_t last, int64_t j, size_t panels) {
  constexpr int64_t kColumns = kPanelColumns;
  const int64_t panel_bytes = int8_panel_bytes(args.k, kColumns);
  const std::byte* panel = args.packed_b + j / kColumns * panel_bytes;
  HWY_ALIGN int32_t sums[kMaxTileRows * kMaxPanels * kPanelColumns];
  HWY_ALIGN int32_t factor[kMaxPanels * kPanelColumns], zero[kMaxPanels * kPanelColumns] = {};
  Columns columns{std::min(args.n - j, static_cast<int64_t>(panels) * kColumns),
                  static_cast<int64_t>(panels) * kColumns,
                  factor,
                  nullptr,
                  args.column_scale == nullptr ? nullptr : args.column_scale + j,
                  args.column_bias == nullptr ? nullptr : args.column_bias + j};
  if (args.column_zero != nullptr) {
    std::copy_n(args.column_zero + j, columns.count, zero);
    columns.zero = zero;
  }
  // a_zero * (k * b_zero - sum of the column), modulo 2^32.
  for (int64_t i = 0; i < columns.width; ++i) {
    const auto sum = static_cast<uint32_t>(
        load_as<int32_t>(panel + i / kColumns * panel_bytes + i % kColumns * 4));
    factor[i] =
        static_cast<int32_t>(static_cast<uint32_t>(args.k) * static_cast<uint32_t>(zero[i]) - sum);
  }
  const int64_t size = args.output <= Int8Output::kFloat ? 4 : 1;
  const FinishFunction finish = kFinish[static_cast<size_t>(args.output)];
  // Tiles of nearly equal height: a last tile of one or two rows would run at a fraction of the
  // speed.
  const int64_t rows = last - row;
  const auto most = static_cast<int64_t>(tiles.rows);
  const int64_t count = (rows + most - 1) / most;
  for (int64_t i = 0; i < count; ++i) {
    const size_t height = static_cast<size_t>(rows / count + (i < rows % count));
    const Int8Tile tile{args.packed_a + row * a_stride,
                        a_stride,
                        panel + kColumns * 4,
                        panel_bytes,
                        (args.k + 3) / 4,
                        sums};
    (panels == 1 ? tiles.narrow : tiles.wide)[height - 1](tile);
    finish(columns, args.rows + row, height, sums,
           static_cast<std::byte*>(args.c) + (row * args.ldc + j) * size, args.ldc * size);
    row += static_cast<int64_t>(height);
  }
}

void run_with(const Int8GemmArgs& args, const Tiles& tiles, size_t group_bytes) {
  if (args.m <= 0 || args.n <= 0) return;
  constexpr int64_t kColumns = kPanelColumns;
  const int64_t a_stride = (args.k + 3) / 4 * static_cast<int64_t>(group_bytes);
  const auto most = static_cast<int64_t>(tiles.rows);
  const int64_t block = std::max(most, kBlockBytes / std::max<int64_t>(1, a_stride));
  const int64_t blocks = (args.m + block - 1) / block;
  const size_t wide =
      args.m <= most ? panels_of(static_cast<size_t>(args.m)) : 1;  // then there is one tile
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t row = args.m * i / blocks, last = args.m * (i + 1) / blocks;
    for (int64_t j = 0; j < args.n;) {
      const bool all = args.n - j > (static_cast<int64_t>(wide) - 1) * kColumns;
      const size_t panels = all ? wide : 1;
      run_panels(args, tiles, a_stride, row, last, j, panels);
      j += static_cast<int64_t>(panels) * kColumns;
    }
  }
}

void run(const Int8GemmArgs& args) { run_with(args, kTiles, kGroupBytes); }

// --- packing -------------------------------------------------------------------------------------

// Packs the groups of `bytes`, 16 flipped values whose padding is zero.
#if SDX_INT8_PAIRS
void split_groups(const uint8_t* bytes, std::byte* out) {
  const hn::CappedTag<uint16_t, 8> d16;
  const hn::CappedTag<uint32_t, 4> d32;
  const auto pairs = hn::LoadU(d16, reinterpret_cast<const uint16_t*>(bytes));
  const auto even = hn::BitCast(d32, hn::And(pairs, hn::Set(d16, 0x00FF)));
  const auto odd = hn::BitCast(d32, hn::ShiftRight<8>(pairs));
  auto* to = reinterpret_cast<uint32_t*>(out);
  hn::StoreU(hn::InterleaveLower(d32, even, odd), d32, to);
  hn::StoreU(hn::InterleaveUpper(d32, even, odd), d32, to + 4);
}
#endif

template <bool kSplit>
int32_t pack_row(const uint8_t* a, int64_t k, uint8_t flip, std::byte* out) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < k; i += 16) {
    HWY_ALIGN uint8_t bytes[16] = {};
    const int64_t count = std::min<int64_t>(16, k - i);
    const int64_t groups = (count + 3) / 4;
#if SDX_INT8_PAIRS
    const hn::CappedTag<uint8_t, 16> d8;
    const hn::Repartition<uint64_t, decltype(d8)> d64;
    if (count == 16) {
      const auto flipped = hn::Xor(hn::LoadU(d8, a + i), hn::Set(d8, flip));
      hn::Store(flipped, d8, bytes);
    } else {
      for (int64_t j = 0; j < count; ++j) bytes[j] = a[i + j] ^ flip;
    }
    sum += static_cast<uint32_t>(reduce_sum(d64, hn::SumsOf8(hn::Load(d8, bytes))));
    if constexpr (kSplit) {
      HWY_ALIGN std::byte split[32];
      split_groups(bytes, split);
      if (groups == 4) {
        std::memcpy(out, split, 32);
      } else {
        std::memcpy(out, split, static_cast<size_t>(groups) * 8);
      }
      out += groups * 8;
      continue;
    }
#else
    for (int64_t j = 0; j < count; ++j) bytes[j] = a[i + j] ^ flip;
    for (uint8_t byte : bytes) sum += byte;
#endif
    std::memcpy(out, bytes, static_cast<size_t>(groups) * 4);
    out += groups * 4;
  }
  return static_cast<int32_t>(sum);
}

void pack_b_rows(const uint8_t* const rows[4], int64_t n, uint8_t flip, int64_t width,
                 int64_t panel_bytes, std::byte* out) {
  int64_t j = 0;
#if SDX_INT8_PAIRS
  const hn::CappedTag<uint8_t, 16> d8;
  const hn::Repartition<uint16_t, decltype(d8)> d16;
  for (; j + 16 <= n; j += 16) {
    hn::Vec<decltype(d8)> row[4];
    SDX_UNROLL
    for (size_t r = 0; r < 4; ++r) {
      row[r] = rows[r] == nullptr ? hn::Zero(d8)
                                  : hn::Xor(hn::LoadU(d8, rows[r] + j), hn::Set(d8, flip));
    }
    const auto low01 = hn::BitCast(d16, hn::InterleaveLower(d8, row[0], row[1]));
    const auto low23 = hn::BitCast(d16, hn::InterleaveLower(d8, row[2], row[3]));
    const auto high01 = hn::BitCast(d16, hn::InterleaveUpper(d8, row[0], row[1]));
    const auto high23 = hn::BitCast(d16, hn::InterleaveUpper(d8, row[2], row[3]));
    const hn::Vec<decltype(d16)> fours[4] = {
        hn::InterleaveLower(d16, low01, low23), hn::InterleaveUpper(d16, low01, low23),
        hn::InterleaveLower(d16, high01, high23), hn::InterleaveUpper(d16, high01, high23)};
    SDX_UNROLL
    for (size_t i = 0; i < 4; ++i) {
      const int64_t column = j + static_cast<int64_t>(i) * 4;
      std::byte* to = out + column / width * panel_bytes + column % width * 4;
      hn::StoreU(fours[i], d16, reinterpret_cast<uint16_t*>(to));
    }
  }
#endif
  for (const int64_t end = (n + width - 1) / width * width; j < end; ++j) {
    std::byte* to = out + j / width * panel_bytes + j % width * 4;
    for (size_t r = 0; r < 4; ++r) {
      to[r] = static_cast<std::byte>(j < n && rows[r] != nullptr ? rows[r][j] ^ flip : 0);
    }
  }
}

void sum_columns(int64_t k, int64_t width, std::byte* panel) {
  const int64_t groups = (k + 3) / 4;
  for (int64_t j = 0; j < width; j += 4) {
    HWY_ALIGN int32_t sums[4] = {};
    const std::byte* at = panel + (width + j) * 4;
#if SDX_INT8_PAIRS
    const hn::CappedTag<int32_t, 4> d;
    const hn::CappedTag<int16_t, 8> d16;
    auto total = hn::Zero(d), unused = hn::Zero(d);
    const auto ones = hn::Set(d16, 1);
    for (int64_t g = 0; g < groups; ++g, at += width * 4) {
      const auto bytes = hn::LoadU(d16, reinterpret_cast<const int16_t*>(at));
      const auto even = hn::ShiftRight<8>(hn::ShiftLeft<8>(bytes));
      const auto pairs = hn::Add(even, hn::ShiftRight<8>(bytes));
      total = hn::ReorderWidenMulAccumulate(d, ones, pairs, total, unused);
    }
    hn::Store(total, d, sums);
#else
    for (int64_t g = 0; g < groups; ++g, at += width * 4) {
      for (size_t i = 0; i < 16; ++i) sums[i / 4] += static_cast<int8_t>(at[i]);
    }
#endif
    std::memcpy(panel + j * 4, sums, sizeof(sums));
  }
}

const Int8GemmKernels& int8_gemm_row() {
  static const Int8GemmKernels table{
      kTileRows,   kPanelColumns, kGroupBytes, pack_row<kGroupBytes == 8>,
      pack_b_rows, sum_columns,   run};
  return table;
}

#if HWY_TARGET == HWY_AVX3
void run_vnni(const Int8GemmArgs& args) { run_with(args, kVnniTiles, 4); }

const Int8GemmKernels& vnni_int8_gemm_row() {
  static const Int8GemmKernels table{kVnniTileRows, kPanelColumns, 4,       pack_row<false>,
                                     pack_b_rows,   sum_columns,   run_vnni};
  return table;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(Int8GemmKernels, plain_int8_gemm_kernels, int8_gemm_row)

const Int8GemmKernels& int8_gemm_kernels(Isa isa) {
#if HWY_TARGETS & HWY_AVX3
  static const bool has_vnni = __builtin_cpu_supports("avx512vnni");
  if (isa >= Isa::kAvx512 && has_vnni) return N_AVX3::vnni_int8_gemm_row();
#endif
  return plain_int8_gemm_kernels(isa);
}
}  // namespace sardonyx::kernels
#endif
