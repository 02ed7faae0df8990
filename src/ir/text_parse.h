// Text to graphs, nodes, types and tensors: the syntax family of onnx.parser, described in
// docs/text-syntax.md. print() of text_print.h is the inverse. Every function throws
// Error(kInvalidArgument) with line and column. Called by tests (operator cases, rules, golden
// graphs) and the command line; never for models from outside.
//
//   <ir_version: 8, opset_import: ["": 17]>
//   main (float[N,3] x, float[3] w = {1, 2, 3}) => (float[N,3] y) <float[1] c = {2}> {
//     t = Add(x, w)
//     [conv1] y = Conv <kernel_shape = [3, 3], auto_pad = "SAME_UPPER"> (t, , c)   # "" is absent
//   }
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/model.h"
#include "ir/text_lexer.h"

namespace sardonyx {

// `float[2,2] {1, 2, 3, 4}`; a scalar is `float {1}`. Complex numbers are two numbers each. `...`
// after a number repeats it to the end: `float[3,3] {0, ...}`. Hexadecimal gives the bits of any
// type.
Tensor parse_tensor_text(std::string_view text);

// `float[N,(H / 2)]`, `seq(float)`, `optional(seq(int64[]))`, `map(string,float)`. A name that
// occurs twice is the same symbol.
ValueType parse_type_text(std::string_view text, DimTable& dims);

// One node that stands alone.
struct NodeText {
  std::string domain, op, overload, name;
  std::vector<std::string> inputs, outputs;  // "" for an absent optional
  Attributes attributes;
  std::vector<std::string> captures;  // what its subgraphs take from outside, in capture order
};

// `y, mask = com.foo.Bar <alpha = 0.5> (x, , w)`
NodeText parse_node_text(std::string_view text, std::shared_ptr<DimTable> dims = nullptr);

// The header is optional: without it IR version 10 and opset 21 are assumed. A graph
// may be followed by model-local functions.
std::unique_ptr<Model> parse_model_text(std::string_view text);
inline constexpr int64_t kTextIrVersion = 10;
inline constexpr int64_t kTextOpset = 21;

// Pieces of a larger text, for readers with a syntax of their own around it.
Tensor parse_tensor(TextLexer& in);
// `{1, 2, 3}` for a known type and shape.
Tensor parse_tensor_values(TextLexer& in, DataType type, const Shape& shape);
ValueType parse_type(TextLexer& in, DimTable& dims);
Dim parse_dim(TextLexer& in, DimTable& dims);
NodeText parse_node(TextLexer& in, const std::shared_ptr<DimTable>& dims);

}  // namespace sardonyx
