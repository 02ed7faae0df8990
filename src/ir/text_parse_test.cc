#include "ir/text_parse.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ir/text_print.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(TextTensor, ReadsEveryTypeAndPrintsItBack) {
  for (const char* text : {
           "float[2,2] {1, -0.5, inf, nan}",
           "float {1e-45}",
           "double[2] {0.1, -inf}",
           "float16[4] {1.5, 65504, -0, 0x7e01}",
           "bfloat16[2] {1, -1.5}",
           "float8e4m3fn[3] {448, -0.001953125, nan}",
           "float8e4m3fnuz[2] {240, nan}",
           "float8e5m2[2] {57344, inf}",
           "float8e5m2fnuz[2] {57344, 1}",
           "float8e8m0[2] {1, 0.5}",
           "float4e2m1[5] {0, 0.5, -6, 3, -0}",
           "int4[3] {-8, 7, -1}",
           "uint4[3] {15, 0, 8}",
           "int2[5] {-2, 1, 0, -1, 1}",
           "uint2[5] {3, 2, 1, 0, 3}",
           "int8[2] {-128, 127}",
           "uint8[2] {0, 255}",
           "int16[1] {-32768}",
           "uint16[1] {65535}",
           "int32[1] {-2147483648}",
           "uint32[1] {4294967295}",
           "int64[2] {-9223372036854775808, 9223372036854775807}",
           "uint64[1] {18446744073709551615}",
           "bool[2] {1, 0}",
           "string[2] {\"a\\\"b\\n\", \"\\x00z\"}",
           "complex64[2] {1, 2, 3, -4}",
           "complex128 {0.5, 1}",
           "float[0,3] {}",
       }) {
    EXPECT_EQ(print_tensor(parse_tensor_text(text)), text);
  }
}

TEST(TextTensor, HexadecimalGivesBits) {
  EXPECT_EQ(print_tensor(parse_tensor_text("float16[2] {0x3c00, 0xfc00}")), "float16[2] {1, -inf}");
  EXPECT_EQ(print_tensor(parse_tensor_text("float[1] {0x7fc00001}")), "float[1] {0x7fc00001}");
  EXPECT_EQ(print_tensor(parse_tensor_text("int8[1] {0xff}")), "int8[1] {-1}");
  EXPECT_EQ(print_tensor(parse_tensor_text("bool[2] {true, false}")), "bool[2] {1, 0}");
}

TEST(TextTensor, SmallFloatsRoundToNearestEven) {
  // 1 + 2^-11 lies half way between two half floats; 1.0009765625 is the odd one.
  EXPECT_EQ(print_tensor(parse_tensor_text("float16[3] {1.00048828125, 1.0005, 65519}")),
            "float16[3] {1, 1.0009766, 65504}");
  EXPECT_EQ(print_tensor(parse_tensor_text("float4e2m1[3] {0.25, 0.75, 5}")),
            "float4e2m1[3] {0, 1, 4}");
}

TEST(TextTensor, DotsRepeatTheLastValue) {
  EXPECT_EQ(print_tensor(parse_tensor_text("int32[2,3] {1, 2, ...}")),
            "int32[2,3] {1, 2, 2, 2, 2, 2}");
}

TEST(TextTensor, PrintsAPart) {
  EXPECT_EQ(print_tensor(parse_tensor_text("int32[4] {1, 2, 3, 4}"), 2),
            "int32[4] {1, 2, # 2 more\n}");
}

TEST(TextTensor, ErrorsNamePlaceAndCause) {
  EXPECT_EQ(message_of([] { parse_tensor_text("float[2] {1}"); }),
            "line 1, column 13: float[2] takes 2 numbers, got 1, found the end of the text");
  EXPECT_NE(message_of([] { parse_tensor_text("int8[1]\n {300}"); }).find("line 2, column 6"),
            std::string::npos);
  EXPECT_NE(message_of([] { parse_tensor_text("float[-1] {}"); }).find("no size"),
            std::string::npos);
  EXPECT_NE(message_of([] { parse_tensor_text("floot {1}"); }).find("element type"),
            std::string::npos);
  EXPECT_NE(message_of([] { parse_tensor_text("uint8 {-1}"); }).find("outside the range"),
            std::string::npos);
}

TEST(TextType, ReadsTypesAndDimensions) {
  DimTable dims;
  for (const char* text :
       {"float[N,3]", "float", "int64[]", "seq(float[?])", "optional(seq(string))",
        "map(string,float)", "sparse(float[2,2])", "float[(N * 4),((H + 1) / 2)]",
        "float[ceil(H / 2),(H % 3),min(H, 4),max(N, H)]"}) {
    EXPECT_EQ(print_type(parse_type_text(text, dims), dims), text);
  }
  const ValueType type = parse_type_text("float[N,N]", dims);
  EXPECT_TRUE(proven_equal((*type.shape)[0], (*type.shape)[1]));
}

TEST(TextNode, ReadsInputsOutputsAndAttributes) {
  const NodeText node = parse_node_text(
      "[n1] y, , m = com.foo.Bar <a = 1, b = -0.5, c = \"s\", d = [1, 2], e = [1, 0.5], "
      "f: ints = [], g = int8[2] {1, 2}, h: float = 3, i = [\"p\", \"q\"]> (x, , w)  # trailing");
  EXPECT_EQ(node.name, "n1");
  EXPECT_EQ(node.domain, "com.foo");
  EXPECT_EQ(node.op, "Bar");
  EXPECT_EQ(node.outputs, (std::vector<std::string>{"y", "", "m"}));
  EXPECT_EQ(node.inputs, (std::vector<std::string>{"x", "", "w"}));
  EXPECT_EQ(node.attributes.get_int("a", 0), 1);
  EXPECT_EQ(node.attributes.get_float("b", 0), -0.5f);
  EXPECT_EQ(node.attributes.get_string("c", ""), "s");
  EXPECT_EQ(node.attributes.get_ints("d"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(node.attributes.get_floats("e"), (std::vector<float>{1, 0.5f}));
  EXPECT_TRUE(node.attributes.get_ints("f", {7}).empty());
  EXPECT_EQ(node.attributes.get_float("h", 0), 3);
  EXPECT_EQ(node.attributes.get_strings("i"), (std::vector<std::string>{"p", "q"}));
}

TEST(TextNode, NamesWhatSubgraphsCapture) {
  const NodeText node = parse_node_text(
      "z = If (c) <then_branch = t () => (float r) { r = Add(x, y) },"
      " else_branch = e () => (float r) { r = Neg(y) }>");
  EXPECT_EQ(node.captures, (std::vector<std::string>{"x", "y"}));
  const auto* graph = std::get_if<std::shared_ptr<Graph>>(node.attributes.find("else_branch"));
  ASSERT_NE(graph, nullptr);
  ASSERT_EQ((*graph)->captures().size(), 1u);
  EXPECT_EQ((*graph)->captures()[0].index, 1);
}

}  // namespace
}  // namespace sardonyx
