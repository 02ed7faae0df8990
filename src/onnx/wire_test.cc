#include "onnx/wire.h"

#include <gtest/gtest.h>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

std::span<const std::byte> as_span(const std::vector<uint8_t>& bytes) {
  return std::as_bytes(std::span(bytes));
}

// The error that reading every field of `bytes` gives; empty when there is none.
std::string fault_of(const std::vector<uint8_t>& bytes) {
  try {
    WireCursor cursor(as_span(bytes), "Test", 100);
    while (cursor.next()) {
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidProtobuf);
    return error.what();
  }
  return "";
}

TEST(Wire, ReadsWhatTheWriterWrites) {
  WireWriter inner;
  inner.varint(1, 300);
  WireWriter out;
  out.varint(1, ~uint64_t{0});
  out.fixed32(2, 0x3f800000);
  out.fixed64(3, 0x3ff0000000000000);
  out.text(4, "text");
  out.message(5, inner);
  out.varint(1000, 7);
  WireCursor cursor(out.result(), "Test");
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.field(), 1u);
  EXPECT_EQ(cursor.int64(), -1);
  EXPECT_EQ(cursor.int32(), -1);
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.float32(), 1.0f);
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.float64(), 1.0);
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.text(), "text");
  ASSERT_TRUE(cursor.next());
  WireCursor message = cursor.message("Inner");
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.varint(), 300u);
  EXPECT_FALSE(message.next());
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.field(), 1000u);
  EXPECT_EQ(cursor.raw_field().size(), 3u);  // unknown fields can be kept as they are
  EXPECT_FALSE(cursor.next());
}

TEST(Wire, RepeatedScalarsComePackedAndNot) {
  WireWriter packed;
  for (uint64_t value : {1u, 300u, 5u}) packed.put_varint(value);
  WireWriter out;
  out.varint(1, 9);
  out.bytes(1, packed.result());
  out.fixed32(2, 0x40000000);
  const float two[] = {2, 3};
  out.bytes(2, std::as_bytes(std::span(two)));
  std::vector<int64_t> ints;
  std::vector<float> floats;
  WireCursor cursor(out.result(), "Test");
  while (cursor.next()) {
    if (cursor.field() == 1) cursor.append_to(ints);
    if (cursor.field() == 2) cursor.append_to(floats);
  }
  EXPECT_EQ(ints, (std::vector<int64_t>{9, 1, 300, 5}));
  EXPECT_EQ(floats, (std::vector<float>{2, 2, 3}));
}

TEST(Wire, NegativeInt32TakesTenBytes) {
  WireWriter out;
  out.varint(1, static_cast<uint64_t>(int64_t{-5}));
  EXPECT_EQ(out.result().size(), 11u);
  WireCursor cursor(out.result(), "Test");
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.int32(), -5);
}

TEST(Wire, SkipsGroups) {
  // group 1 { 2: varint, group 3 { 4: bytes } }, then 5: 6
  const std::vector<uint8_t> bytes = {0x0b, 0x10, 0x01, 0x1b, 0x22, 0x02,
                                      9,    9,    0x1c, 0x0c, 0x28, 6};
  WireCursor cursor(as_span(bytes), "Test");
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.type(), WireType::kGroup);
  EXPECT_EQ(cursor.raw_field().size(), 10u);
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.varint(), 6u);
}

TEST(Wire, RefusesDamagedBytes) {
  EXPECT_EQ(fault_of({0x08}),
            "Test at byte 100: the bytes end within a varint; the file is damaged, cut off or no "
            "ONNX model");
  EXPECT_NE(fault_of({0x08, 0x80}), "");
  EXPECT_NE(fault_of({0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}), "");
  EXPECT_NE(fault_of({0x00, 0x01}), "");        // field 0
  EXPECT_NE(fault_of({0x0e, 0x01}), "");        // wire type 6
  EXPECT_NE(fault_of({0x0f, 0x01}), "");        // wire type 7
  EXPECT_NE(fault_of({0x0c}), "");              // an end without a group
  EXPECT_NE(fault_of({0x0b, 0x14}), "");        // a group that ends as another
  EXPECT_NE(fault_of({0x0b}), "");              // a group that never ends
  EXPECT_NE(fault_of({0x09, 1, 2, 3}), "");     // 3 of 8 bytes
  EXPECT_NE(fault_of({0x0d, 1, 2, 3}), "");     // 3 of 4 bytes
  EXPECT_NE(fault_of({0x0a, 0x05, 1, 2}), "");  // 2 of 5 bytes
}

TEST(Wire, LengthsAreNotCutTo32Bits) {
  // 2^32 + 1 and 2^64 - 1 bytes are claimed, one is there.
  EXPECT_NE(fault_of({0x0a, 0x81, 0x80, 0x80, 0x80, 0x10, 7}).find("claims 4294967297 bytes"),
            std::string::npos);
  EXPECT_NE(fault_of({0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 7})
                .find("claims 18446744073709551615 bytes"),
            std::string::npos);
}

TEST(Wire, WrongWireTypesAreErrors) {
  WireWriter out;
  out.varint(1, 5);
  WireCursor cursor(out.result(), "Test");
  ASSERT_TRUE(cursor.next());
  EXPECT_THROW(cursor.bytes(), Error);
  EXPECT_THROW(cursor.float32(), Error);
  EXPECT_THROW(cursor.float64(), Error);
  EXPECT_THROW(cursor.message("Inner"), Error);
  std::vector<float> floats;
  EXPECT_THROW(cursor.append_to(floats), Error);
  WireWriter odd;
  odd.text(1, "abc");  // no multiple of four bytes
  WireCursor other(odd.result(), "Test");
  ASSERT_TRUE(other.next());
  EXPECT_THROW(other.append_to(floats), Error);
  EXPECT_THROW(other.varint(), Error);
}

TEST(Wire, NestingIsBounded) {
  std::vector<uint8_t> groups(100000, 0x0b);
  EXPECT_NE(fault_of(groups).find("nested deeper"), std::string::npos);
  std::vector<std::byte> bytes;
  for (int i = 0; i < 2 * kMaxWireDepth; ++i) {
    WireWriter out;
    out.bytes(1, bytes);
    bytes = out.take();
  }
  const auto descend = [](auto&& self, WireCursor cursor) -> void {
    while (cursor.next()) self(self, cursor.message("Inner"));
  };
  EXPECT_THROW(descend(descend, WireCursor(bytes, "Test")), Error);
}

}  // namespace
}  // namespace sardonyx
