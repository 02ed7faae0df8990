// What this processor and operating system offer, as rows of the kernel tables. SARDONYX_MAX_ISA
// (scalar, sse4, avx2, avx512) caps the choice. Called by kernel tables, once per family.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace sardonyx {

// Ordered: a larger value is a superset of the smaller ones of its architecture. kBaseline is
// Highway's static target (scalar code on plain x86-64, NEON on aarch64).
enum class Isa : int { kBaseline = 0, kSse4 = 1, kAvx2 = 2, kAvx512 = 3 };

const char* to_string(Isa isa);
std::optional<Isa> parse_isa(std::string_view name);

// The best level that CPU and OS both support; ignores SARDONYX_MAX_ISA.
Isa detected_isa();

// detected_isa() capped by SARDONYX_MAX_ISA. Read once per process. Throws Error(kInvalidArgument)
// when the variable holds an unknown name.
Isa best_isa();

// Every level from kBaseline up to detected_isa(): what a test sweeps.
std::vector<Isa> supported_isas();

}  // namespace sardonyx
