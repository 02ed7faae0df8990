#include "plan/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>
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

TEST(Arena, WhatNobodyHasIsAsLargeAsCanBeSaid) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const auto& [size, count] : std::vector<std::pair<int64_t, int>>{
           {int64_t{1} << 60, 8}, {int64_t{1} << 62, 3}, {kMost, 2}, {kMost - 70, 1 << 10}}) {
    std::vector<ArenaRequest> requests(static_cast<size_t>(count), {0, 1, size});
    EXPECT_EQ(place_in_arena(requests, 64).size_bytes, kMost) << size;
  }
  std::vector<ArenaRequest> requests(7, {0, 1, int64_t{1} << 60});
  EXPECT_EQ(place_in_arena(requests, 64).size_bytes, int64_t{7} << 60);
}

}  // namespace
}  // namespace sardonyx
