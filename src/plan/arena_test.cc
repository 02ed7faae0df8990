#include "plan/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace sardonyx {
namespace {

TEST(Arena, ReusesMemoryOfEndedBuffers) {
  std::vector<ArenaRequest> requests = {{0, 1, 100}, {1, 2, 100}, {2, 3, 100}, {3, 4, 100}};
  const ArenaLayout layout = place_in_arena(requests, 64);
  EXPECT_EQ(layout.size_bytes, 256);
  EXPECT_EQ(layout.lower_bound_bytes, 256);
}

TEST(Arena, BuffersAliveTogetherNeverOverlap) {
  std::mt19937 random(7);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<ArenaRequest> requests;
    for (int i = 0; i < 60; ++i) {
      const auto first = static_cast<int32_t>(random() % 50);
      requests.push_back({first, first + static_cast<int32_t>(random() % 10),
                          static_cast<int64_t>(random() % 5000)});
    }
    std::sort(requests.begin(), requests.end(),
              [](const auto& a, const auto& b) { return a.first_step < b.first_step; });
    const ArenaLayout layout = place_in_arena(requests, 64);
    EXPECT_GE(layout.size_bytes, layout.lower_bound_bytes);
    for (size_t i = 0; i < requests.size(); ++i) {
      const ArenaRequest& a = requests[i];
      EXPECT_EQ(a.offset % 64, 0);
      EXPECT_LE(a.offset + a.size_bytes, layout.size_bytes);
      for (size_t j = 0; j < i; ++j) {
        const ArenaRequest& b = requests[j];
        const bool together = a.first_step <= b.last_step && b.first_step <= a.last_step;
        const bool overlap =
            a.offset < b.offset + b.size_bytes && b.offset < a.offset + a.size_bytes;
        EXPECT_FALSE(together && overlap && a.size_bytes && b.size_bytes);
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx
