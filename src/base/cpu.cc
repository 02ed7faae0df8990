#include "base/cpu.h"

#include <cstdlib>
#include <string>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

struct IsaName {
  Isa isa;
  const char* name;
};
// Ascending: the rows of this architecture.
#if defined(__aarch64__)
constexpr IsaName kNames[] = {{Isa::kBaseline, "neon"}};
#else
constexpr IsaName kNames[] = {{Isa::kBaseline, "scalar"},
                              {Isa::kSse4, "sse4"},
                              {Isa::kAvx2, "avx2"},
                              {Isa::kAvx512, "avx512"}};
#endif

Isa read_capped_isa() {
  const Isa detected = detected_isa();
  const char* cap = std::getenv("SARDONYX_MAX_ISA");
  if (cap == nullptr || *cap == '\0') return detected;
  const std::optional<Isa> wanted = parse_isa(cap);
  if (!wanted) {
    std::string known;
    for (const IsaName& row : kNames) known += (known.empty() ? "" : ", ") + std::string(row.name);
    throw Error(ErrorCode::kInvalidArgument, std::string("SARDONYX_MAX_ISA is '") + cap +
                                                 "'; expected one of " + known + " (or unset it)");
  }
  return *wanted < detected ? *wanted : detected;
}

}  // namespace

const char* to_string(Isa isa) {
  for (const IsaName& row : kNames) {
    if (row.isa == isa) return row.name;
  }
  return "unknown";
}

std::optional<Isa> parse_isa(std::string_view name) {
  for (const IsaName& row : kNames) {
    if (name == row.name) return row.isa;
  }
  return std::nullopt;
}

Isa detected_isa() {
#if defined(__x86_64__)
  // libgcc's feature test also asks the OS (XGETBV), so a masked register state is honoured.
  static const Isa isa = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
      return Isa::kAvx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")) {
      return Isa::kAvx2;
    }
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3")) return Isa::kSse4;
    return Isa::kBaseline;
  }();
  return isa;
#else
  return Isa::kBaseline;
#endif
}

Isa best_isa() {
  static const Isa isa = read_capped_isa();
  return isa;
}

std::vector<Isa> supported_isas() {
  std::vector<Isa> isas;
  for (const IsaName& row : kNames) {
    if (row.isa <= detected_isa()) isas.push_back(row.isa);
  }
  return isas;
}

}  // namespace sardonyx
