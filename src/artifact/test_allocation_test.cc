// Replaces operator new of the test program by one that remembers the largest request.
#include "artifact/test_allocation.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace sardonyx::artifact::testing {

size_t& largest_allocation() {
  static size_t largest = 0;
  return largest;
}

}  // namespace sardonyx::artifact::testing

void* operator new(size_t size) {
  size_t& largest = sardonyx::artifact::testing::largest_allocation();
  largest = std::max(largest, size);
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
