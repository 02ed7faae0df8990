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
  FloatModeScope() : saved_(mode()) {
    if (saved_ != kDefault) set_mode(kDefault);
  }
  ~FloatModeScope() {
    if (saved_ != kDefault) set_mode(saved_);
  }
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;

 private:
#if defined(__x86_64__)
  using Mode = uint32_t;
  static constexpr Mode kDefault = 0x1f80;  // exceptions masked
  static Mode mode() { return _mm_getcsr(); }
  static void set_mode(Mode mode) { _mm_setcsr(mode); }
#elif defined(__aarch64__)
  using Mode = uint64_t;
  static constexpr Mode kDefault = 0;
  static Mode mode() {
    Mode mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void set_mode(Mode mode) { asm volatile("msr fpcr, %0" : : "r"(mode) : "memory"); }
#else
  using Mode = int;
  static constexpr Mode kDefault = 0;
  static Mode mode() { return kDefault; }
  static void set_mode(Mode) {}
#endif

  const Mode saved_;
};

}  // namespace sardonyx
