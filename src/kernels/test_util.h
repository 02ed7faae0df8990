// What kernel tests share: buffers that end at an unreadable page, values that exercise special
// floats, the distance of two floats in units in the last place. Used by *_test.cc only.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/cpu.h"

namespace sardonyx::kernels {

// count elements of T that end where an inaccessible page starts: one element too far faults. The
// bytes before them are a canary that the destructor checks.
template <typename T>
class GuardedBuffer {
 public:
  explicit GuardedBuffer(int64_t count) : count_(static_cast<size_t>(count)) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = (count_ * sizeof(T) + kCanaryBytes + page - 1) / page * page;
    mapped_ = bytes + page;
    base_ = static_cast<char*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_ + bytes, page, PROT_NONE) != 0) std::abort();
    data_ = reinterpret_cast<T*>(base_ + bytes - count_ * sizeof(T));
    std::memset(canary(), 0xA5, kCanaryBytes);
    std::memset(static_cast<void*>(data_), 0x7B, count_ * sizeof(T));
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer() {
    for (size_t i = 0; i < kCanaryBytes; ++i) {
      if (static_cast<unsigned char>(canary()[i]) != 0xA5) {
        ADD_FAILURE() << "byte " << i << " of the canary before a buffer was overwritten";
        break;
      }
    }
    munmap(base_, mapped_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  int64_t size() const { return static_cast<int64_t>(count_); }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + count_; }

 private:
  static constexpr size_t kCanaryBytes = 128;
  char* canary() { return reinterpret_cast<char*>(data_) - kCanaryBytes; }

  size_t count_;
  size_t mapped_;
  char* base_;
  T* data_;
};

inline void fill_uniform(std::span<float> values, float low, float high, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  for (float& value : values) value = distribution(random);
}
inline void fill_uniform(GuardedBuffer<float>& values, float low, float high, uint32_t seed = 1) {
  fill_uniform(std::span<float>(values.begin(), values.end()), low, high, seed);
}

// Zeros of both signs, subnormals, extremes, infinities, NaN, and points around small integers.
inline std::vector<float> special_floats() {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0.0f,   1e-45f,        1e-40f,     1.17549435e-38f,
                               1e-20f, 3e-4f,         0.1f,       0.25f,
                               0.5f,   0.49999997f,   1.0f,       1.5f,
                               2.5f,   3.0f,          3.999f,     4.0f,
                               7.9f,   9.0f,          9.2f,       17.0f,
                               31.0f,  87.2f,         87.4f,      88.7f,
                               88.73f, 89.0f,         103.9f,     104.0f,
                               150.0f, 8388607.5f,    8388609.0f, 1e10f,
                               1e30f,  3.4028235e38f, kInf};
  const size_t positive = values.size();
  for (size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
  values.push_back(std::numeric_limits<float>::quiet_NaN());
  return values;
}

// |actual - expected| in units of the last place of expected rounded to float. Equal infinities and
// two NaNs are 0 apart; a NaN against a number, or different infinities, is infinitely far.
inline double ulp_error(float actual, double expected) {
  if (std::isnan(actual) || std::isnan(expected)) {
    return std::isnan(actual) && std::isnan(expected) ? 0.0
                                                      : std::numeric_limits<double>::infinity();
  }
  const float rounded = static_cast<float>(expected);
  if (actual == rounded) return 0.0;
  if (std::isinf(actual) || std::isinf(rounded)) {
    // Overflow one step early or late is an error of one unit.
    const float limit = std::numeric_limits<float>::max();
    return std::fabs(actual) >= limit && std::fabs(rounded) >= limit &&
                   std::signbit(actual) == std::signbit(rounded)
               ? 1.0
               : std::numeric_limits<double>::infinity();
  }
  int exponent;
  std::frexp(rounded, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent, -125) - 24);
  return std::fabs(static_cast<double>(actual) - expected) / unit;
}

inline bool same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

// One run per level that this machine supports.
class EachIsa : public testing::TestWithParam<Isa> {};
inline std::string isa_name(const testing::TestParamInfo<Isa>& info) {
  return to_string(info.param);
}
#define SDX_TEST_EACH_ISA(suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(All, suite, testing::ValuesIn(::sardonyx::supported_isas()), \
                           ::sardonyx::kernels::isa_name)

}  // namespace sardonyx::kernels
