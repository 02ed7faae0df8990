// Helpers of the tests of blocked kernels: buffers with inaccessible pages around them, random
// data, plain <-> blocked conversion by definition, comparison against a double oracle, and the
// scalar meaning of epilogues. Test code only.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/blocked/layout.h"
#include "kernels/epilogue.h"

namespace sardonyx::kernels::testing {

// Floats whose last byte is followed, and whose page is preceded, by an inaccessible page. Starts
// filled with NaN. With `at_start` the first byte touches the front guard instead.
class GuardedFloats {
 public:
  explicit GuardedFloats(int64_t count, bool at_start = false) : count_(count) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t bytes = static_cast<size_t>(count) * sizeof(float);
    const size_t inner = (bytes + page - 1) / page * page;
    size_ = inner + 2 * page;
    map_ = static_cast<char*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (map_ == MAP_FAILED ||
        (inner != 0 && mprotect(map_ + page, inner, PROT_READ | PROT_WRITE) != 0)) {
      std::abort();
    }
    data_ = reinterpret_cast<float*>(map_ + page + (at_start ? 0 : inner - bytes));
    for (int64_t i = 0; i < count; ++i) data_[i] = std::numeric_limits<float>::quiet_NaN();
  }
  explicit GuardedFloats(const std::vector<float>& values, bool at_start = false)
      : GuardedFloats(static_cast<int64_t>(values.size()), at_start) {
    std::copy(values.begin(), values.end(), data_);
  }
  GuardedFloats(const GuardedFloats&) = delete;
  GuardedFloats& operator=(const GuardedFloats&) = delete;
  ~GuardedFloats() { munmap(map_, size_); }

  float* data() { return data_; }
  const float* data() const { return data_; }
  int64_t size() const { return count_; }
  std::vector<float> values() const { return {data_, data_ + count_}; }

 private:
  int64_t count_;
  size_t size_;
  char* map_;
  float* data_;
};

inline std::vector<float> random_floats(int64_t count, uint32_t seed, float low = -1.0f,
                                        float high = 1.0f) {
  std::minstd_rand engine(seed * 7919 + 17);
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = uniform(engine);
  return values;
}

// [batch, channels, pixels] -> blocked with zero pad lanes.
inline std::vector<float> to_blocked(const std::vector<float>& plain, int64_t batch,
                                     int64_t channels, int64_t pixels, int64_t c) {
  std::vector<float> blocked(static_cast<size_t>(blocked_size(batch, channels, pixels, c)), 0.0f);
  const int64_t blocks = block_count(channels, c);
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t ch = 0; ch < channels; ++ch) {
      for (int64_t p = 0; p < pixels; ++p) {
        blocked[((n * blocks + ch / c) * pixels + p) * c + ch % c] =
            plain[(n * channels + ch) * pixels + p];
      }
    }
  }
  return blocked;
}

// Blocked -> plain; fails the test when a pad lane is not +0.
inline std::vector<float> from_blocked(const std::vector<float>& blocked, int64_t batch,
                                       int64_t channels, int64_t pixels, int64_t c) {
  std::vector<float> plain(static_cast<size_t>(batch * channels * pixels));
  const int64_t blocks = block_count(channels, c);
  int64_t bad_pads = 0;
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t ch = 0; ch < blocks * c; ++ch) {
      for (int64_t p = 0; p < pixels; ++p) {
        const float v = blocked[((n * blocks + ch / c) * pixels + p) * c + ch % c];
        if (ch < channels) {
          plain[(n * channels + ch) * pixels + p] = v;
        } else {
          bad_pads += v != 0.0f || std::isnan(v);
        }
      }
    }
  }
  EXPECT_EQ(bad_pads, 0) << "pad lanes that are not zero";
  return plain;
}

inline double activate(const Epilogue& e, double x) {
  const double hard = std::fmax(0.0, std::fmin(1.0, double{e.alpha} * x + double{e.beta}));
  switch (e.activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0 ? 0.0 : x;
    case Activation::kLeakyRelu:
      return x < 0 ? double{e.alpha} * x : x;
    case Activation::kClip:
      return std::fmin(double{e.beta}, std::fmax(x, double{e.alpha}));
    case Activation::kHardSigmoid:
      return hard;
    case Activation::kHardSwish:
      return x * hard;
    case Activation::kSigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case Activation::kSilu:
      return x / (1.0 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kGelu:
      return 0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0)));
    case Activation::kGeluTanh:
      return 0.5 * x *
             (1.0 +
              std::tanh(std::sqrt(2.0 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
  }
  return x;
}

// A set of epilogues whose members differ in how they treat zero.
inline std::vector<Epilogue> sample_epilogues() {
  return {{},
          {Activation::kRelu},
          {Activation::kClip, 0.25f, 1.5f},
          {Activation::kHardSwish, 1.0f / 6, 0.5f},
          {Activation::kHardSigmoid, 0.2f, 0.5f},
          {Activation::kLeakyRelu, 0.1f},
          {Activation::kSigmoid},
          {Activation::kSilu},
          {Activation::kGelu}};
}

// |actual - expected| <= tolerance * max(1, |expected|) everywhere.
inline void expect_near(const std::vector<float>& actual, const std::vector<double>& expected,
                        double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  int reported = 0;
  for (size_t i = 0; i < actual.size() && reported < 3; ++i) {
    const double bound = tolerance * std::fmax(1.0, std::fabs(expected[i]));
    if (!(std::fabs(actual[i] - expected[i]) <= bound)) {
      ADD_FAILURE() << what << ": element " << i << " is " << actual[i] << ", expected "
                    << expected[i];
      ++reported;
    }
  }
}

inline void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b,
                             const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0) << what;
}

}  // namespace sardonyx::kernels::testing
