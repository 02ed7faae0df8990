#include "npy.h"

#include <gtest/gtest.h>

#include <sstream>

#include "elements.h"
#include "npy_header.h"

namespace sardonyx::cli {
namespace {

Value read(const std::string& bytes, ElementType raw_type = ElementType::kUndefined) {
  std::istringstream in(bytes);
  return read_npy(in, bytes.size(), raw_type);
}

std::string written(const Value& value) {
  std::ostringstream out;
  write_npy(out, value);
  return out.str();
}

// A file of version 1 with this dictionary.
std::string file(const std::string& dictionary, const std::string& data = "") {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(dictionary.size() & 0xff);
  bytes += static_cast<char>(dictionary.size() >> 8);
  return bytes + dictionary + data;
}

std::string message_of(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "read";
}

TEST(Npy, RoundTripsEveryNumericType) {
  for (const ElementType type :
       {ElementType::kFloat, ElementType::kDouble, ElementType::kFloat16, ElementType::kBfloat16,
        ElementType::kBool, ElementType::kInt8, ElementType::kInt16, ElementType::kInt32,
        ElementType::kInt64, ElementType::kUint8, ElementType::kUint16, ElementType::kUint32,
        ElementType::kUint64}) {
    const int64_t shape[] = {2, 3};
    Value value = Value::tensor(type, shape);
    const double elements[] = {0, 1, 1, 0, 1, 0};
    set_from_doubles(value, elements);
    const Value back = read(written(value), type);
    EXPECT_EQ(back.element_type(), type);
    EXPECT_EQ(describe(back), describe(value));
    EXPECT_EQ(to_doubles(back), to_doubles(value)) << to_string(type);
  }
}

TEST(Npy, RoundTripsScalarsAndEmptyTensors) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {0}, {3, 0, 2}, {1}}) {
    const Value value = Value::tensor(ElementType::kFloat, shape);
    EXPECT_EQ(describe(read(written(value))), describe(value));
  }
}

TEST(Npy, RoundTripsText) {
  const int64_t shape[] = {3};
  Value value = Value::tensor(ElementType::kString, shape);
  value.as<std::string>()[0] = "a\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80";
  value.as<std::string>()[1] = "";
  value.as<std::string>()[2] = "plain";
  const Value back = read(written(value));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back.as<std::string>()[i], value.as<std::string>()[i]);
  }
}

TEST(Npy, ConvertsFortranOrder) {
  // [[1, 2, 3], [4, 5, 6]] stored column by column.
  const Value value =
      read(file("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", "\1\4\2\5\3\6"));
  EXPECT_EQ(to_doubles(value), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, MakesBoolsZeroOrOne) {
  const Value value = read(
      file("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", std::string("\0\2\1", 3)));
  EXPECT_EQ(std::string(static_cast<const char*>(value.data()), 3), std::string("\0\1\1", 3));
}

TEST(Npy, ReadsLongHeadersOfVersions2And3) {
  const std::string dictionary = "{'descr': '<u2', 'fortran_order': False, 'shape': (1,)}";
  for (const char version : {'\2', '\3'}) {
    std::string bytes("\x93NUMPY", 6);
    bytes += version;
    bytes += std::string("\0", 1) + static_cast<char>(dictionary.size()) + std::string("\0\0\0", 3);
    EXPECT_EQ(to_doubles(read(bytes + dictionary + std::string("\7\1", 2))),
              (std::vector<double>{263}));
  }
}

TEST(Npy, RefusesHostileHeaders) {
  const char* const head = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
  const auto of_shape = [&](const std::string& shape) {
    return message_of(file(head + shape + "}"));
  };
  EXPECT_NE(of_shape("(4611686018427387904,)").find("it has 0 bytes"), std::string::npos);
  EXPECT_NE(of_shape("(9223372036854775807, 9223372036854775807)").find("too large"),
            std::string::npos);
  EXPECT_NE(of_shape("(99999999999999999999,)").find("a dimension expected"), std::string::npos);
  EXPECT_NE(of_shape("(-1,)").find("a dimension expected"), std::string::npos);
  EXPECT_NE(of_shape("(1").find("expected"), std::string::npos);
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) deep += "1,";
  EXPECT_NE(of_shape(deep + ")").find("more than 64 dimensions"), std::string::npos);
  EXPECT_NE(message_of(file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}"))
                .find("structured"),
            std::string::npos);
  EXPECT_NE(
      message_of(file("{'descr': '>f4', 'fortran_order': False, 'shape': ()}")).find("big-endian"),
      std::string::npos);
  EXPECT_NE(message_of(file("{'descr': '|O', 'fortran_order': False, 'shape': ()}")), "read");
  EXPECT_NE(message_of(file("{'descr': '|S0', 'fortran_order': False, 'shape': (99999999,)}")),
            "read");
  EXPECT_NE(message_of(file("{'shape': (), 'shape': ()}")).find("twice"), std::string::npos);
  EXPECT_NE(message_of("\x93NUMPY\x09\x00\x00\x00"), "read");
  EXPECT_NE(message_of(""), "read");
}

TEST(Npy, EveryTruncationIsAnError) {
  const int64_t shape[] = {5};
  const std::string whole = written(Value::tensor(ElementType::kInt32, shape));
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NE(message_of(whole.substr(0, size)), "read") << size;
  }
}

TEST(NpyHeader, DataStartsOn64Bytes) {
  EXPECT_EQ(make_npy_header("<f4", {1, 2, 3}).size() % 64, 0u);
  EXPECT_EQ(make_npy_header("<f4", std::vector<int64_t>(60, 1)).size() % 64, 0u);
}

}  // namespace
}  // namespace sardonyx::cli
