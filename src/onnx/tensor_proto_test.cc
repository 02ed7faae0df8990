#include "onnx/tensor_proto.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "base/mapped_file.h"
#include "ir/text_parse.h"
#include "ir/text_print.h"
#include "onnx/proto_builders.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

using proto::Message;

std::string read_text(const Message& message) {
  return print_tensor(
      read_tensor(WireCursor(message.result(), "TensorProto"), TensorSource()).tensor);
}

std::string fault_of(const Message& message) {
  try {
    read_text(message);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("tensor 't'"), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

void expect_fault(const Message& message, const char* part) {
  const std::string fault = fault_of(message);
  EXPECT_NE(fault.find(part), std::string::npos) << "found instead: " << fault;
}

Message typed(int type, std::initializer_list<int64_t> dims, uint32_t field,
              const std::vector<int64_t>& numbers, bool packed) {
  Message m = proto::tensor("t", type, dims);
  Message run;
  for (int64_t number : numbers) {
    if (packed) {
      run.put_varint(static_cast<uint64_t>(number));
    } else {
      m.varint(field, static_cast<uint64_t>(number));
    }
  }
  if (packed) m.bytes(field, run.result());
  return m;
}

struct Row {
  int type;
  uint32_t field;
  std::vector<int64_t> numbers;  // as stored in the typed field
  std::string_view raw;          // the same as raw_data
  int64_t count;
  const char* text;
};

// Bit patterns written out for each integer-stored type; floats follow below.
const Row kRows[] = {
    {2, 5, {0, 255}, std::string_view("\x00\xff", 2), 2, "uint8[2] {0, 255}"},
    {3, 5, {-128, 127}, "\x80\x7f", 2, "int8[2] {-128, 127}"},
    {4, 5, {65535, 1}, std::string_view("\xff\xff\x01\x00", 4), 2, "uint16[2] {65535, 1}"},
    {5, 5, {-2, 258}, "\xfe\xff\x02\x01", 2, "int16[2] {-2, 258}"},
    {6, 5, {-1, 16909060}, "\xff\xff\xff\xff\x04\x03\x02\x01", 2, "int32[2] {-1, 16909060}"},
    {7, 7, {-2}, "\xfe\xff\xff\xff\xff\xff\xff\xff", 1, "int64[1] {-2}"},
    {9, 5, {1, 0}, std::string_view("\x01\x00", 2), 2, "bool[2] {1, 0}"},
    {10, 5, {0x3c00, 0xfc00}, std::string_view("\x00\x3c\x00\xfc", 4), 2, "float16[2] {1, -inf}"},
    {12, 11, {4294967295}, "\xff\xff\xff\xff", 1, "uint32[1] {4294967295}"},
    {13, 11, {-1}, "\xff\xff\xff\xff\xff\xff\xff\xff", 1, "uint64[1] {18446744073709551615}"},
    {16, 5, {0x3f80, 0xc000}, std::string_view("\x80\x3f\x00\xc0", 4), 2, "bfloat16[2] {1, -2}"},
    {17, 5, {0x38, 0xfe}, "\x38\xfe", 2, "float8e4m3fn[2] {1, -448}"},
    {18, 5, {0x40, 0x80}, "\x40\x80", 2, "float8e4m3fnuz[2] {1, nan}"},
    {19, 5, {0x3c, 0x7c}, "\x3c\x7c", 2, "float8e5m2[2] {1, inf}"},
    {20, 5, {0x40, 0x80}, "\x40\x80", 2, "float8e5m2fnuz[2] {1, nan}"},
    {21, 5, {0xf1, 0x03}, "\xf1\x03", 3, "uint4[3] {1, 15, 3}"},
    {22, 5, {0x8f, 0x07}, "\x8f\x07", 3, "int4[3] {-1, -8, 7}"},
    {23, 5, {0xf2, 0x01}, "\xf2\x01", 3, "float4e2m1[3] {1, -6, 0.5}"},
    {24, 5, {127, 255}, "\x7f\xff", 2, "float8e8m0[2] {1, nan}"},
    {25, 5, {0xe4, 0x01}, "\xe4\x01", 5, "uint2[5] {0, 1, 2, 3, 1}"},
    {26, 5, {0xe4, 0x03}, "\xe4\x03", 5, "int2[5] {0, 1, -2, -1, -1}"},
};

TEST(TensorProto, EveryIntegerStoredTypeInEveryForm) {
  for (const Row& row : kRows) {
    EXPECT_EQ(read_text(typed(row.type, {row.count}, row.field, row.numbers, true)), row.text);
    EXPECT_EQ(read_text(typed(row.type, {row.count}, row.field, row.numbers, false)), row.text);
    EXPECT_EQ(read_text(proto::raw_tensor("t", row.type, {row.count}, row.raw)), row.text);
  }
}

TEST(TensorProto, FloatsDoublesAndComplexNumbers) {
  const float floats[] = {1, -2.5f, 3, 4};
  const double doubles[] = {0.5, -1};
  const auto bytes = [](const auto& values) { return std::as_bytes(std::span(values)); };
  const auto with = [&](int type, int64_t count, uint32_t field, std::span<const std::byte> data) {
    Message m = proto::tensor("t", type, {count});
    m.bytes(field, data);
    return m;
  };
  for (uint32_t field : {4u, 9u}) {
    EXPECT_EQ(read_text(with(1, 4, field, bytes(floats))), "float[4] {1, -2.5, 3, 4}");
    EXPECT_EQ(read_text(with(14, 2, field, bytes(floats))), "complex64[2] {1, -2.5, 3, 4}");
  }
  for (uint32_t field : {10u, 9u}) {
    EXPECT_EQ(read_text(with(11, 2, field, bytes(doubles))), "double[2] {0.5, -1}");
    EXPECT_EQ(read_text(with(15, 1, field, bytes(doubles))), "complex128[1] {0.5, -1}");
  }
  Message unpacked = proto::tensor("t", 1, {2});
  unpacked.fixed32(4, 0x3f800000);
  unpacked.fixed32(4, 0x40000000);
  EXPECT_EQ(read_text(unpacked), "float[2] {1, 2}");
}

TEST(TensorProto, StringsHoldAnyBytes) {
  Message m = proto::tensor("t", 8, {2});
  m.text(6, std::string_view("a\0b", 3));
  m.text(6, "");
  EXPECT_EQ(read_text(m), "string[2] {\"a\\x00b\", \"\"}");
  expect_fault(proto::raw_tensor("t", 8, {1}, "abc"), "strings cannot be stored in raw_data");
}

TEST(TensorProto, ScalarsAndEmptyTensors) {
  EXPECT_EQ(read_text(proto::float_tensor("t", {}, {3})), "float {3}");
  EXPECT_EQ(read_text(proto::tensor("t", 1, {0, 4})), "float[0,4] {}");
  EXPECT_EQ(read_text(proto::tensor("t", 8, {0})), "string[0] {}");
  expect_fault(proto::float_tensor("t", {0}, {3}), "no elements");
}

TEST(TensorProto, SubByteNumbersMayShareAnInt32) {
  // Nine 4-bit numbers are five bytes: five int32 of one byte each or two of four.
  EXPECT_EQ(read_text(typed(21, {9}, 5, {0x21, 0x43, 0x65, 0x87, 0x09}, true)),
            "uint4[9] {1, 2, 3, 4, 5, 6, 7, 8, 9}");
  EXPECT_EQ(read_text(typed(21, {9}, 5, {static_cast<int32_t>(0x87654321), 9}, true)),
            "uint4[9] {1, 2, 3, 4, 5, 6, 7, 8, 9}");
  expect_fault(typed(21, {9}, 5, {1, 2, 3}, true), "expected 5 (one byte each) or 2 (four)");
  expect_fault(typed(21, {2}, 5, {256}, true), "no packed byte");
}

TEST(TensorProto, LongerRawDataIsAcceptedShorterIsNot) {
  EXPECT_EQ(read_text(proto::raw_tensor("t", 2, {2}, "\x01\x02\x03")), "uint8[2] {1, 2}");
  expect_fault(proto::raw_tensor("t", 6, {2}, "1234567"), "raw_data holds 7 bytes");
}

TEST(TensorProto, BoolsAreZeroOrOne) {
  const Tensor tensor =
      read_tensor(WireCursor(proto::raw_tensor("t", 9, {2}, "\x02\xff").result(), "T"), {}).tensor;
  EXPECT_EQ(tensor.data<uint8_t>()[0], 1);
  EXPECT_EQ(tensor.data<uint8_t>()[1], 1);
  EXPECT_EQ(read_text(typed(9, {1}, 5, {7}, true)), "bool[1] {1}");
}

TEST(TensorProto, RefusesContradictions) {
  expect_fault(proto::float_tensor("t", {3}, {1, 2}), "float_data holds 2 numbers, expected 3");
  expect_fault(proto::float_tensor("t", {1}, {1, 2}), "float_data holds 2 numbers, expected 1");
  expect_fault(proto::tensor("t", 1, {3}), "3 elements of float but no data");
  expect_fault(proto::tensor("t", 0, {1}), "data type is 0");
  expect_fault(proto::tensor("t", 27, {1}), "data type is 27");
  expect_fault(proto::tensor("t", 1, {-1}), "negative dimension");
  expect_fault(proto::tensor("t", 1, {int64_t{1} << 62, 16}), "negative dimension or more bytes");
  expect_fault(proto::tensor("t", 1, {int64_t{1} << 62, 16, 0}), "negative dimension or more");
  expect_fault(proto::tensor("t", 11, {int64_t{1} << 60}), "negative dimension or more bytes");
  expect_fault(typed(7, {1}, 5, {1}, true), "stored in raw_data or int64_data, found int32_data");
  expect_fault(typed(3, {1}, 5, {300}, true), "does not fit 8 bits");
  expect_fault(typed(12, {1}, 11, {int64_t{1} << 32}, true), "does not fit 32 bits");
  Message twice = proto::float_tensor("t", {1}, {1});
  twice.text(9, "abcd");
  expect_fault(twice, "data in raw_data and in float_data");
  Message segment = proto::float_tensor("t", {1}, {1});
  segment.message(3, Message());
  expect_fault(segment, "segments");
  Message place = proto::tensor("t", 1, {1});
  place.varint(14, 2);
  expect_fault(place, "data location is 2");
}

TEST(TensorProto, HugeClaimsAllocateNothing) {
  // Were the claim believed, 4 TiB would be asked for.
  expect_fault(proto::tensor("t", 1, {int64_t{1} << 40}), "no data");
  expect_fault(proto::raw_tensor("t", 1, {int64_t{1} << 40}, "x"), "raw_data holds 1 bytes");
  expect_fault(proto::float_tensor("t", {int64_t{1} << 40}, {1}), "float_data holds 1 numbers");
  expect_fault(typed(21, {int64_t{1} << 40}, 5, {1}, true), "int32_data holds 1 numbers");
}

TEST(TensorProto, AlignedRawDataIsAView) {
  alignas(8) char bytes[64] = {};
  for (size_t shift = 0; shift < 8; ++shift) {
    const Message m = proto::raw_tensor("t", 1, {2}, std::string_view("\0\0\x80\x3f\0\0\0\x40", 8));
    std::memcpy(bytes + shift, m.result().data(), m.result().size());
    const auto owner = std::make_shared<int>(0);
    const std::span<const std::byte> span(reinterpret_cast<std::byte*>(bytes) + shift,
                                          m.result().size());
    const Tensor tensor = read_tensor(WireCursor(span, "T"), {owner, nullptr}).tensor;
    const auto* data = tensor.data<char>();
    const bool is_view = data >= bytes && data < bytes + sizeof(bytes);
    const size_t raw_at = shift + m.result().size() - 8;
    EXPECT_EQ(is_view, raw_at % 4 == 0) << shift;
    EXPECT_EQ(is_view, owner.use_count() == 2);
  }
}

TEST(TensorProto, WritesWhatItReads) {
  for (const char* text : {"float[2,2] {1, -0.5, inf, nan}", "int4[3] {-8, 7, -1}",
                           "string[2] {\"a\", \"\\x00\"}", "bool {1}", "float[0] {}"}) {
    const auto bytes = tensor_bytes(parse_tensor_text(text), "name");
    const NamedTensor back = read_tensor(WireCursor(bytes, "TensorProto"), {});
    EXPECT_EQ(back.name, "name");
    EXPECT_EQ(print_tensor(back.tensor), text);
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / "sardonyx_tensor_test.pb").string();
  write_tensor_file(path, parse_tensor_text("int64[2] {1, 2}"), "x");
  EXPECT_EQ(print_tensor(read_tensor_file(path).tensor), "int64[2] {1, 2}");
  std::filesystem::remove(path);
}

Message sparse(const Message& values, const Message& indices, std::initializer_list<int64_t> dims) {
  Message m;
  m.message(1, values);
  m.message(2, indices);
  for (int64_t dim : dims) m.varint(3, static_cast<uint64_t>(dim));
  return m;
}

std::string read_sparse(const Message& message) {
  try {
    return print_tensor(read_sparse_tensor(WireCursor(message.result(), "SparseTensorProto"), {})
                            .tensor.to_dense());
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(SparseTensorProto, BecomesDense) {
  const Message values = proto::float_tensor("s", {2}, {5, 6});
  const Message linear = typed(7, {2}, 7, {1, 3}, true);
  const Message full = typed(7, {2, 2}, 7, {0, 1, 1, 1}, true);
  EXPECT_EQ(read_sparse(sparse(values, linear, {2, 2})), "float[2,2] {0, 5, 0, 6}");
  EXPECT_EQ(read_sparse(sparse(values, full, {2, 2})), "float[2,2] {0, 5, 0, 6}");
  const Message nibbles = typed(22, {2}, 5, {0x7f}, true);
  EXPECT_EQ(read_sparse(sparse(nibbles, linear, {4})), "int4[4] {0, -1, 0, 7}");
  Message text = proto::tensor("s", 8, {2});
  text.text(6, "a");
  text.text(6, "b");
  EXPECT_EQ(read_sparse(sparse(text, linear, {4})), "string[4] {\"\", \"a\", \"\", \"b\"}");
}

TEST(SparseTensorProto, RefusesContradictions) {
  const Message values = proto::float_tensor("s", {2}, {5, 6});
  const auto fault = [&](const Message& indices, std::initializer_list<int64_t> dims) {
    return read_sparse(sparse(values, indices, dims));
  };
  EXPECT_NE(fault(typed(7, {2}, 7, {1, 4}, true), {2, 2}).find("outside"), std::string::npos);
  EXPECT_NE(fault(typed(7, {2}, 7, {-1, 1}, true), {2, 2}).find("outside"), std::string::npos);
  EXPECT_NE(fault(typed(7, {3}, 7, {1, 2, 3}, true), {2, 2}).find("expected int64[2]"),
            std::string::npos);
  EXPECT_NE(fault(typed(6, {2}, 5, {1, 2}, true), {2, 2}).find("expected int64[2]"),
            std::string::npos);
  EXPECT_NE(fault(typed(7, {2}, 7, {1, 2}, true), {-2}).find("no valid size"), std::string::npos);
  EXPECT_NE(fault(typed(7, {2}, 7, {1, 2}, true), {}).find("no valid size"), std::string::npos);
}

}  // namespace
}  // namespace sardonyx
