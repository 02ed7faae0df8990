// Floats on a cache line boundary, as the arena and packed weights are: what benchmarks must run
// on, or vector loads straddle lines. Benchmark code only.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace sardonyx::kernels::testing {

class AlignedFloats {
 public:
  AlignedFloats(int64_t count, float value)
      : data_(static_cast<float*>(
            std::aligned_alloc(64, static_cast<size_t>((count + 15) / 16 * 16) * sizeof(float)))) {
    for (int64_t i = 0; i < count; ++i) data_.get()[i] = value;
  }
  float* data() { return data_.get(); }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> data_;
};

}  // namespace sardonyx::kernels::testing
