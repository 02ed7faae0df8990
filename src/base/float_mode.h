// FloatModeScope: runs a scope with the default floating-point environment (round to nearest, no
// flushing of denormals), whatever the application has set, and puts its setting back.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sardonyx {

class FloatModeScope {
 public:
#if defined(__x86_64__)
  FloatModeScope() : saved_(_mm_getcsr()) {
    if (saved_ != kDefault) _mm_setcsr(kDefault);
  }
  ~FloatModeScope() {
    if (saved_ != kDefault) _mm_setcsr(saved_);
  }

 private:
  static constexpr uint32_t kDefault = 0x1f80;
  uint32_t saved_;
#else
  FloatModeScope() = default;
  ~FloatModeScope() {}
#endif
 public:
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;
};

}  // namespace sardonyx
