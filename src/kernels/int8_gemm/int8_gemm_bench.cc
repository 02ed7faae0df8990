#include "kernels/int8_gemm/int8_gemm.h"

#include <benchmark/benchmark.h>

#include <array>
#include <vector>

namespace sardonyx::kernels {
namespace {

// Arguments: level (Isa), whether without special instructions, m, n, k.
void BM_Int8Gemm(benchmark::State& state) {
  const Isa isa = static_cast<Isa>(state.range(0));
  const Int8GemmKernels& kernels =
      state.range(1) != 0 ? plain_int8_gemm_kernels(isa) : int8_gemm_kernels(isa);
  const int64_t m = state.range(2), n = state.range(3), k = state.range(4);
  std::vector<uint8_t> a(static_cast<size_t>(m * k), 3), b(static_cast<size_t>(k * n), 5);
  std::vector<std::byte> packed_a(static_cast<size_t>(m * kernels.packed_a_bytes(k)));
  std::vector<std::byte> packed_b(static_cast<size_t>(packed_int8_b_bytes(k, n, kernels.nr)));
  pack_int8_b(kernels, b.data(), true, n, 1, k, n, kernels.nr, packed_b.data(), 0,
              (n + kernels.nr - 1) / kernels.nr);
  std::vector<Int8Row> rows(static_cast<size_t>(m));
  std::vector<float> c(static_cast<size_t>(m * n));
  Int8GemmArgs args;
  args.m = m, args.n = n, args.k = k;
  args.packed_a = packed_a.data(), args.rows = rows.data(), args.packed_b = packed_b.data();
  args.output = Int8Output::kFloat, args.c = c.data(), args.ldc = n;
  for (auto _ : state) {
    for (int64_t i = 0; i < m; ++i) {
      rows[static_cast<size_t>(i)].sum =
          kernels.pack_a(a.data() + i * k, k, 0, packed_a.data() + i * kernels.packed_a_bytes(k));
    }
    kernels.run(args);
    benchmark::DoNotOptimize(c.data());
  }
  state.counters["GMAC/s"] = benchmark::Counter(static_cast<double>(m * n * k) * 1e-9,
                                                benchmark::Counter::kIsIterationInvariantRate);
}

void each_row(benchmark::internal::Benchmark* bench) {
  for (Isa isa : supported_isas()) {
    for (int64_t plain : {0, 1}) {
      if (plain != 0 && &plain_int8_gemm_kernels(isa) == &int8_gemm_kernels(isa)) continue;
      for (const auto& [m, n, k] : {std::array<int64_t, 3>{400, 384, 384}, {1, 512, 512}}) {
        bench->Args({static_cast<int64_t>(isa), plain, m, n, k});
      }
    }
  }
}
BENCHMARK(BM_Int8Gemm)->Apply(each_row);

}  // namespace
}  // namespace sardonyx::kernels
