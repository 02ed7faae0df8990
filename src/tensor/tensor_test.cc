#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <vector>

namespace sardonyx {
namespace {

Tensor floats(std::vector<float> values) {
  return Tensor::from<float>(DataType::kFloat, Shape{static_cast<int64_t>(values.size())}, values);
}

Tensor sequence_of(std::vector<Tensor> items) { return tensor_of_values(kSequenceType, items); }

TEST(Tensor, SequencesAndOptionalsAreTensorsOfTensors) {
  const Tensor sequence = sequence_of({floats({1, 2}), floats({3})});
  EXPECT_EQ(sequence.shape(), Shape{2});
  EXPECT_EQ(sequence.size_bytes(), static_cast<int64_t>(2 * sizeof(Tensor)));
  const Tensor optional = tensor_of_values(kOptionalType, {&sequence, 1});
  EXPECT_TRUE(bitwise_equal(optional.values<Tensor>()[0], sequence));
  EXPECT_STREQ(name_of(kSequenceType), "sequence");
  EXPECT_STREQ(name_of(kOptionalType), "optional");
  EXPECT_FALSE(is_data_type(static_cast<int64_t>(kSequenceType)));
  EXPECT_EQ(parse_data_type("sequence"), std::nullopt);
}

TEST(Tensor, SequencesAreEqualWhenTheirElementsAre) {
  const Tensor a = sequence_of({floats({1, 2}), floats({3})});
  EXPECT_TRUE(bitwise_equal(a, a.clone()));
  EXPECT_TRUE(bitwise_equal(sequence_of({}), sequence_of({})));
  EXPECT_FALSE(bitwise_equal(a, sequence_of({floats({1, 2}), floats({4})})));
  EXPECT_FALSE(bitwise_equal(a, sequence_of({floats({1, 2})})));
  EXPECT_FALSE(bitwise_equal(sequence_of({}), tensor_of_values(kOptionalType, {})));
}

TEST(Tensor, CloneCopiesElementsAllTheWayDown) {
  const Tensor item = floats({1});
  const Tensor inner = sequence_of({item});
  const Tensor outer = tensor_of_values(kOptionalType, {&inner, 1});
  const Tensor copy = outer.clone();
  EXPECT_TRUE(bitwise_equal(copy, outer));
  EXPECT_NE(copy.values<Tensor>()[0].values<Tensor>()[0].raw(), item.raw());
  EXPECT_EQ(outer.values<Tensor>()[0].values<Tensor>()[0].raw(), item.raw());
}

TEST(Tensor, MadeOwnCopiesWhatIsSharedOrBorrowedAndNothingElse) {
  Tensor alone = floats({1});
  const void* address = alone.raw();
  alone = std::move(alone).made_own();
  EXPECT_EQ(alone.raw(), address);
  const Tensor shared = alone;
  alone = std::move(alone).made_own();
  EXPECT_NE(alone.raw(), address);
  float borrowed = 5;
  EXPECT_NE(Tensor::view(DataType::kFloat, {}, &borrowed).made_own().raw(), &borrowed);
  EXPECT_FALSE(Tensor().made_own().is_defined());

  // Element 0 is seen by `shared`, 1 by the sequence alone, 2 and 3 are one tensor.
  Tensor twice = floats({4});
  Tensor sequence = sequence_of({shared, floats({3}), twice, twice});
  twice = Tensor();
  const void* const own = sequence.values<Tensor>()[1].raw();
  const Tensor before = sequence.clone();
  sequence = std::move(sequence).made_own();
  EXPECT_TRUE(bitwise_equal(sequence, before));
  const std::span<const Tensor> items = sequence.values<Tensor>();
  EXPECT_NE(items[0].raw(), shared.raw());
  EXPECT_EQ(items[1].raw(), own);
  EXPECT_NE(items[2].raw(), items[3].raw());

  const Tensor other = sequence;  // the array is shared, and so are its elements
  sequence = std::move(sequence).made_own();
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_NE(sequence.data<Tensor>()[i].raw(), other.data<Tensor>()[i].raw());
  }
}

TEST(CopyElements, MovesPackedElementsBetweenAnyPositions) {
  for (const DataType type : {DataType::kUint4, DataType::kUint2}) {
    const int bits = bits_of(type), per_byte = 8 / bits, mask = (1 << bits) - 1;
    const auto get = [&](const std::vector<uint8_t>& bytes, int i) {
      return bytes[static_cast<size_t>(i / per_byte)] >> i % per_byte * bits & mask;
    };
    const std::vector<uint8_t> from = {0x1b, 0x2d, 0xe4, 0x93};
    const int total = 4 * per_byte;
    for (int from_at = 0; from_at <= total; ++from_at) {
      for (int to_at = 0; to_at <= total; ++to_at) {
        for (int count = 0; count <= total - std::max(from_at, to_at); ++count) {
          std::vector<uint8_t> to = {0xa5, 0x5a, 0xc3, 0x3c};
          const std::vector<uint8_t> before = to;
          copy_elements(type, from.data(), from_at, to.data(), to_at, count);
          for (int i = 0; i < total; ++i) {
            const bool inside = i >= to_at && i < to_at + count;
            ASSERT_EQ(get(to, i), inside ? get(from, from_at + i - to_at) : get(before, i))
                << name_of(type) << ' ' << from_at << ' ' << to_at << ' ' << count << ' ' << i;
          }
        }
      }
    }
  }
}

TEST(CopyElements, CopiesObjectsAndBytes) {
  const std::vector<std::string> words = {"a", "b", "c"};
  std::vector<std::string> other(3, "z");
  copy_elements(DataType::kString, words.data(), 1, other.data(), 0, 2);
  EXPECT_EQ(other, (std::vector<std::string>{"b", "c", "z"}));
  const std::vector<double> numbers = {1, 2, 3};
  std::vector<double> target(3, 0);
  copy_elements(DataType::kDouble, numbers.data(), 0, target.data(), 2, 1);
  EXPECT_EQ(target, (std::vector<double>{0, 0, 1}));
  const Tensor item = floats({1});
  Tensor held;
  copy_elements(kSequenceType, &item, 0, &held, 0, 1);
  EXPECT_EQ(held.raw(), item.raw());
  copy_elements(DataType::kFloat, nullptr, 0, nullptr, 0, 0);
}

}  // namespace
}  // namespace sardonyx
