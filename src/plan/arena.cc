#include "plan/arena.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace sardonyx {
namespace {

struct Block {
  int64_t offset;
  int64_t size;
};

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// kMost stands for all that is as large or larger.
int64_t add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? kMost : sum;
}

class FreeList {
 public:
  // The offset is only good while end() is below kMost.
  int64_t take(int64_t size) {
    auto best = blocks_.end();
    for (auto it = blocks_.begin(); it != blocks_.end(); ++it) {
      if (it->size >= size && (best == blocks_.end() || it->size < best->size)) best = it;
    }
    if (best != blocks_.end()) {
      const int64_t offset = best->offset;
      best->offset += size;
      best->size -= size;
      if (best->size == 0) blocks_.erase(best);
      return offset;
    }
    // Grow the end; a free block that touches the end is extended rather than left behind.
    int64_t offset = end_;
    if (!blocks_.empty() && blocks_.back().offset + blocks_.back().size == end_) {
      offset = blocks_.back().offset;
      blocks_.pop_back();
    }
    end_ = add(offset, size);
    return offset;
  }

  void give(int64_t offset, int64_t size) {
    auto next = std::lower_bound(blocks_.begin(), blocks_.end(), offset,
                                 [](const Block& b, int64_t at) { return b.offset < at; });
    next = blocks_.insert(next, {offset, size});
    if (next + 1 != blocks_.end() && next->offset + next->size == (next + 1)->offset) {
      next->size += (next + 1)->size;
      blocks_.erase(next + 1);
    }
    if (next != blocks_.begin() && (next - 1)->offset + (next - 1)->size == next->offset) {
      (next - 1)->size += next->size;
      blocks_.erase(next);
    }
  }

  int64_t end() const { return end_; }

 private:
  std::vector<Block> blocks_;  // sorted by offset, never touching each other
  int64_t end_ = 0;
};

}  // namespace

ArenaLayout place_in_arena(std::span<ArenaRequest> requests, int64_t alignment) {
  ArenaLayout layout;
  FreeList free_list;
  using Ending = std::pair<int32_t, size_t>;  // last step, request
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> alive;
  int64_t alive_bytes = 0;
  const auto rounded = [alignment](int64_t bytes) {
    return add(bytes, alignment - 1) / alignment * alignment;
  };
  for (size_t i = 0; i < requests.size(); ++i) {
    ArenaRequest& request = requests[i];
    while (!alive.empty() && alive.top().first < request.first_step) {
      const ArenaRequest& ended = requests[alive.top().second];
      free_list.give(ended.offset, rounded(ended.size_bytes));
      alive_bytes -= rounded(ended.size_bytes);
      alive.pop();
    }
    const int64_t size = rounded(request.size_bytes);
    if (size == 0) {
      request.offset = 0;
      continue;
    }
    request.offset = free_list.take(size);
    if (free_list.end() == kMost) return {kMost, kMost};  // nobody has that much
    alive.push({request.last_step, i});
    alive_bytes += size;
    layout.lower_bound_bytes = std::max(layout.lower_bound_bytes, alive_bytes);
  }
  layout.size_bytes = free_list.end();
  return layout;
}

}  // namespace sardonyx
