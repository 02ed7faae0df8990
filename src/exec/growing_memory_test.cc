#include "exec/growing_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>

#include "tensor/memory.h"
#include "tensor/tensor.h"

namespace sardonyx {
namespace {

// These tests look at address space, which such builds do not use.
constexpr const char* kWhyNoSpace =
    "a sanitizer sees no write behind the end of address space, so builds with one take every "
    "block "
    "from the C library, where it does";

// Of the calling thread.
int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

TEST(GrowingMemory, HasWhatWasAskedFor) {
  GrowingMemory memory;
  EXPECT_EQ(memory.data(), nullptr);
  for (int64_t bytes : {1, 63, 4095, 4096, 5000, 262144, 262145, 100'000'000}) {
    ASSERT_TRUE(memory.grow(bytes)) << bytes;
    EXPECT_GE(memory.size_bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % kTensorAlignment, 0U);
    memory.data()[0] = memory.data()[bytes - 1] = std::byte{1};
  }
  const std::byte* where = memory.data();
  EXPECT_TRUE(memory.grow(10));
  EXPECT_EQ(memory.data(), where);
  EXPECT_GE(memory.size_bytes(), 100'000'000);
}

TEST(GrowingMemory, OnlyNewPagesAreFresh) {
  GrowingMemory memory;
  ASSERT_TRUE(memory.grow(10'000));
  if (!memory.keeps_pages()) GTEST_SKIP() << kWhyNoSpace;
  int64_t most = 0;
  for (int64_t bytes = 10'000; bytes < 2'000'000; bytes += 4096) {
    const int64_t before = page_faults();
    ASSERT_TRUE(memory.grow(bytes));
    std::memset(memory.data(), 1, static_cast<size_t>(bytes));
    if (bytes > 10'000) most = std::max(most, page_faults() - before);
  }
  EXPECT_LE(most, 32);  // of several hundred; one or two of them are its own
}

TEST(GrowingMemory, OnlyWhatIsWrittenIsMemory) {
  const auto resident_pages = [] {
    long total = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident;
  };
  std::array<GrowingMemory, 100> blocks;
  const long before = resident_pages();
  for (GrowingMemory& block : blocks) {
    ASSERT_TRUE(block.grow(10'000));
    if (!block.keeps_pages()) GTEST_SKIP() << kWhyNoSpace;
    std::memset(block.data(), 1, 10'000);
  }
  EXPECT_LE(resident_pages() - before, 1600);  // of 6400 in their space; an emulator has its own
}

TEST(GrowingMemory, BlocksOfOneSizeDoNotReachAPageTogether) {
  std::array<GrowingMemory, 16> blocks;
  std::array<int, 4> quarters{};
  for (GrowingMemory& block : blocks) {
    ASSERT_TRUE(block.grow(10'000));
    if (!block.keeps_pages()) GTEST_SKIP() << kWhyNoSpace;
    ++quarters[reinterpret_cast<uintptr_t>(block.data()) % 4096 / 1024];
  }
  for (int count : quarters) EXPECT_NEAR(count, 4, 1);
}

TEST(GrowingMemory, AnApplicationsAllocatorGivesItAll) {
  struct Counting final : Allocator {
    void* allocate(size_t size_bytes) noexcept override {
      held += size_bytes;
      return ::operator new(size_bytes, std::align_val_t(kTensorAlignment), std::nothrow);
    }
    void free(void* memory, size_t size_bytes) noexcept override {
      held -= size_bytes;
      ::operator delete(memory, std::align_val_t(kTensorAlignment));
    }
    size_t held = 0;
  };
  const auto counting = std::make_shared<Counting>();
  {
    const std::shared_ptr<Allocator> allocator = counting;
    const MemoryScope scope(allocator);
    GrowingMemory memory;
    ASSERT_TRUE(memory.grow(1'000'000));
    EXPECT_FALSE(memory.keeps_pages());
    EXPECT_GE(counting->held, 1'000'000U);
    EXPECT_LE(counting->held, 1'125'000U);
    ASSERT_TRUE(memory.grow(3'000'000));
    EXPECT_LE(counting->held, 3'375'000U);
  }
  EXPECT_EQ(counting->held, 0U);
}

TEST(GrowingMemory, MoreThanTheMachineHasIsRefused) {
  for (int64_t most : {std::numeric_limits<int64_t>::max(), most_block_bytes() + 1}) {
    GrowingMemory memory;
    ASSERT_TRUE(memory.grow(10'000));
    EXPECT_FALSE(memory.grow(most));
    EXPECT_EQ(memory.data(), nullptr);
    EXPECT_EQ(memory.size_bytes(), 0);
    EXPECT_TRUE(memory.grow(10'000));
  }
}

}  // namespace
}  // namespace sardonyx
