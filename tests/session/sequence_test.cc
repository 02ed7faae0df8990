// Sequences, optionals and Scan through the public interface, at every level. Models are written as
// text (docs/text-syntax.md); inputs and expected outputs, too.
#include <gtest/gtest.h>

#include "ir/text_parse.h"
#include "ir/text_print.h"
#include "onnx/writer.h"
#include "sardonyx/sardonyx.h"
#include "session/value_access.h"

namespace sardonyx {
namespace {

using internal::ValueAccess;

Session session_of(const std::string& text, OptimizationLevel level = OptimizationLevel::kAll) {
  Options options;
  options.level = level;
  options.threads = 1;
  return Session(std::span<const std::byte>(write_model(*parse_model_text(text))), options);
}

Value tensor(const char* text) { return ValueAccess::wrap(parse_tensor_text(text)); }

Value sequence(std::initializer_list<const char*> texts) {
  std::vector<Value> items;
  for (const char* text : texts) items.push_back(tensor(text));
  return Value::sequence(items);
}

// "float[2] {1, 2}", "seq(float {1}; float {2})", "optional()".
std::string print(const Value& value) {
  if (!value.has_value()) return "nothing";
  if (value.kind() == ValueKind::kTensor) return print_tensor(ValueAccess::unwrap(value));
  std::string text;
  for (const Value& item : value.items()) text += (text.empty() ? "" : "; ") + print(item);
  return (value.kind() == ValueKind::kSequence ? "seq(" : "optional(") + text + ')';
}

struct Row {
  const char* name;
  const char* model;
  std::vector<Value> inputs;
  // Of all outputs; or one text that the error must hold, behind '!'.
  std::vector<std::string> outputs;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

std::vector<Row> rows() {
  return {
      {"ConstructAndAt",
       "m (float[N] a, float[M] b, int64 i) => (seq(float[?]) s, float[?] x, int64 n) {"
       " s = SequenceConstruct(a, b) x = SequenceAt(s, i) n = SequenceLength(s) }",
       {tensor("float[1] {1}"), tensor("float[2] {2, 3}"), tensor("int64 {-1}")},
       {"seq(float[1] {1}; float[2] {2, 3})", "float[2] {2, 3}", "int64 {2}"}},
      {"AtTakesInt32",
       "m (seq(string[?]) s, int32[1] i) => (string[?] x) { x = SequenceAt(s, i) }",
       {sequence({"string[1] {\"a\"}", "string[2] {\"b\", \"c\"}"}), tensor("int32[1] {1}")},
       {"string[2] {\"b\", \"c\"}"}},
      {"AtBeyondTheEnd",
       "m (seq(float[?]) s, int64 i) => (float[?] x) { x = SequenceAt(s, i) }",
       {sequence({"float[1] {1}"}), tensor("int64 {1}")},
       {"!position 1 lies outside [-1, 0] of a sequence of 1 tensors"}},
      {"AtBeforeTheStart",
       "m (seq(float[?]) s, int64 i) => (float[?] x) { x = SequenceAt(s, i) }",
       {sequence({"float[1] {1}"}), tensor("int64 {-9223372036854775808}")},
       {"!position -9223372036854775808 lies outside [-1, 0]"}},
      {"AtOfNothing",
       "m (int64 i) => (float x) { s = SequenceEmpty() x = SequenceAt(s, i) }",
       {tensor("int64 {0}")},
       {"!position 0 lies outside [0, -1] of a sequence of 0 tensors"}},
      {"AtNoPosition",
       "m (seq(float[?]) s, int64[N] i) => (float[?] x) { x = SequenceAt(s, i) }",
       {sequence({"float[1] {1}"}), tensor("int64[0] {}")},
       {"!the position has the shape [0], expected one element"}},
      {"EmptyOfAType",
       "m () => (seq(int64) s, int64 n) { s = SequenceEmpty<dtype = 7>() n = SequenceLength(s) }",
       {},
       {"seq()", "int64 {0}"}},
      {"EmptyOfNoType",
       "m () => (int64 n) { s = SequenceEmpty<dtype = 99>() n = SequenceLength(s) }",
       {},
       {"!'dtype' is 99, which is no element type (1 to 26)"}},
      {"Insert",
       "m (float[N] a, int64 i) => (seq(float[?]) s, seq(float[?]) t) {"
       " e = SequenceEmpty() z = Neg(a) f = SequenceInsert(e, a) s = SequenceInsert(f, z)"
       " b = Add(z, z) t = SequenceInsert(s, b, i) }",
       {tensor("float[1] {1}"), tensor("int64 {-2}")},
       {"seq(float[1] {1}; float[1] {-1})", "seq(float[1] {-2}; float[1] {1}; float[1] {-1})"}},
      {"InsertAtTheEnd",
       "m (seq(float[?]) s, float[N] a, int64 i) => (seq(float[?]) t) {"
       " t = SequenceInsert(s, a, i) }",
       {sequence({"float[1] {1}"}), tensor("float[0] {}"), tensor("int64 {1}")},
       {"seq(float[1] {1}; float[0] {})"}},
      {"InsertTooFar",
       "m (seq(float[?]) s, float[N] a, int64 i) => (seq(float[?]) t) {"
       " t = SequenceInsert(s, a, i) }",
       {sequence({"float[1] {1}"}), tensor("float[0] {}"), tensor("int64 {2}")},
       {"!position 2 lies outside [-1, 1] of a sequence of 1 tensors"}},
      {"InsertAnotherType",
       "m (seq(float[?]) s, int64[N] a) => (seq(float[?]) t) { t = SequenceInsert(s, a) }",
       {sequence({}), tensor("int64[0] {}")},
       {"!a tensor of int64 does not fit a sequence of float tensors"}},
      {"BranchesOfOtherTypes",
       "m (bool c, float[N] a, int64[N] b) => (seq(float[?]) t) {"
       " s = If(c) <then_branch = t () => (x) { x = SequenceConstruct(a) },"
       "  else_branch = e () => (y) { y = SequenceConstruct(b) }>"
       " t = SequenceInsert(s, b) }",
       {tensor("bool {1}"), tensor("float[1] {1}"), tensor("int64[1] {1}")},
       {"!output 0 of the branches is seq(float) and seq(int64), expected one type"}},
      {"Erase",
       "m (seq(float) s, int64 i) => (seq(float) t, seq(float) u) {"
       " t = SequenceErase(s) u = SequenceErase(s, i) }",
       {sequence({"float {1}", "float {2}", "float {3}"}), tensor("int64 {-3}")},
       {"seq(float {1}; float {2})", "seq(float {2}; float {3})"}},
      {"EraseFromNothing",
       "m (seq(float[?]) s) => (seq(float[?]) t) { t = SequenceErase(s) }",
       {sequence({})},
       {"!the sequence is empty: nothing can be erased"}},
      {"SplitIntoOnes",
       "m (float[N,2] x) => (seq(float) s, seq(float) t) {"
       " s = SplitToSequence<axis = -1>(x) t = SplitToSequence<axis = 1, keepdims = 0>(x) }",
       {tensor("float[2,2] {1, 2, 3, 4}")},
       {"seq(float[2,1] {1, 3}; float[2,1] {2, 4})", "seq(float[2] {1, 3}; float[2] {2, 4})"}},
      {"SplitIntoEqualPieces",
       "m (int64[N] x, int32 k) => (seq(int64) s) { s = SplitToSequence<keepdims = 0>(x, k) }",
       {tensor("int64[5] {1, 2, 3, 4, 5}"), tensor("int32 {2}")},
       {"seq(int64[2] {1, 2}; int64[2] {3, 4}; int64[1] {5})"}},
      {"SplitIntoGivenPieces",
       "m (int64[N] x, int64[M] k) => (seq(int64) s) { s = SplitToSequence(x, k) }",
       {tensor("int64[3] {1, 2, 3}"), tensor("int64[3] {0, 1, 2}")},
       {"seq(int64[0] {}; int64[1] {1}; int64[2] {2, 3})"}},
      {"SplitIntoPiecesOfNothing",
       "m (int64[N] x, int64 k) => (seq(int64) s) { s = SplitToSequence(x, k) }",
       {tensor("int64[3] {1, 2, 3}"), tensor("int64 {0}")},
       {"!the size of a piece is 0, expected 1 or more"}},
      {"SplitIntoTooMuch",
       "m (int64[N] x, int64[M] k) => (seq(int64) s) { s = SplitToSequence(x, k) }",
       {tensor("int64[3] {1, 2, 3}"), tensor("int64[2] {2, 2}")},
       {"!adds up to 4, expected a scalar or a list that adds up to 3"}},
      {"SplitIntoNegativePieces",
       "m (int64[N] x, int64[M] k) => (seq(int64) s) { s = SplitToSequence(x, k) }",
       {tensor("int64[3] {1, 2, 3}"), tensor("int64[2] {4, -1}")},
       {"!size 1 of 'split' is -1"}},
      {"SplitAnAxisWithoutMemory",
       "m (int8[N,M] x) => (seq(int8) s) { s = SplitToSequence(x) }",
       {tensor("int8[1000000000000,0] {}")},
       {"!would be cut into 1000000000000 pieces, at most 4194304 are supported"}},
      {"SplitAlongNoAxis",
       "m (int8[N] x) => (seq(int8) s) { s = SplitToSequence<axis = 1>(x) }",
       {tensor("int8[1] {1}")},
       {"!axis 1 lies outside [-1, 0]"}},
      {"Concat",
       "m (seq(float[?,?]) s) => (float y, float z) {"
       " y = ConcatFromSequence<axis = -1>(s)"
       " t = SequenceErase(s) z = ConcatFromSequence<axis = -1, new_axis = 1>(t) }",
       {sequence({"float[2,1] {1, 2}", "float[2,2] {3, 4, 5, 6}"})},
       {"float[2,3] {1, 3, 4, 2, 5, 6}", "float[2,1,1] {1, 2}"}},
      {"ConcatOfOtherShapes",
       "m (seq(float) s) => (float y) { y = ConcatFromSequence<axis = 0, new_axis = 1>(s) }",
       {sequence({"float[1] {1}", "float[2] {3, 4}"})},
       {"!tensor 1 of the sequence is float[2], which does not join float[1] along the new axis "
        "0"}},
      {"ConcatOfOtherRanks",
       "m (seq(float) s) => (float y) { y = ConcatFromSequence<axis = 0>(s) }",
       {sequence({"float[1] {1}", "float[1,1] {3}"})},
       {"!tensor 1 of the sequence is float[1,1]"}},
      {"ConcatOfNothing",
       "m (seq(float) s) => (float y) { y = ConcatFromSequence<axis = 0>(s) }",
       {sequence({})},
       {"!the sequence is empty, expected one tensor or more to join"}},
      {"ConcatOfScalars",
       "m (seq(float) s) => (float y) { y = ConcatFromSequence<axis = 0>(s) }",
       {sequence({"float {1}"})},
       {"!axis 0 lies outside [0, -1]; the tensors have rank 0"}},
      {"IdentityOfSequences",
       "m (seq(float) s, optional(float[N]) o) => (seq(float) t, seq(float) u, optional(float) p) {"
       " t = Identity(s) u = Identity(t) p = Identity(o) }",
       {sequence({"float {1}"}), Value::optional(tensor("float[2] {1, 2}"))},
       {"seq(float {1})", "seq(float {1})", "optional(float[2] {1, 2})"}},
      {"InputsAreOutputs",
       "m (seq(float) s, optional(float) o) => (seq(float) s, optional(float) o) { }",
       {sequence({"float {1}"}), Value::optional()},
       {"seq(float {1})", "optional()"}},
      {"OptionalsOfTensors",
       "m (float[N] x) => (optional(float) o, bool h, float y, optional(float) e, bool g) {"
       " z = Neg(x) o = Optional(z) h = OptionalHasElement(o) y = OptionalGetElement(o)"
       " e = Optional<type: type_proto = float[?]>() g = OptionalHasElement(e) }",
       {tensor("float[2] {1, 2}")},
       {"optional(float[2] {-1, -2})", "bool {1}", "float[2] {-1, -2}", "optional()", "bool {0}"}},
      {"OptionalsOfSequences",
       "m (seq(float) s) => (optional(seq(float)) o, seq(float) t, bool h) {"
       " o = Optional(s) t = OptionalGetElement(o) h = OptionalHasElement(o) }",
       {sequence({"float {1}", "float {2}"})},
       {"optional(seq(float {1}; float {2}))", "seq(float {1}; float {2})", "bool {1}"}},
      {"WhatIsNoOptionalHasAnElement",
       "m (float[N] x, seq(float) s) => (bool a, bool b, bool c, float y, seq(float) t) {"
       " a = OptionalHasElement(x) b = OptionalHasElement(s) c = OptionalHasElement()"
       " y = OptionalGetElement(x) t = OptionalGetElement(s) }",
       {tensor("float[2] {1, 2}"), sequence({})},
       {"bool {1}", "bool {1}", "bool {0}", "float[2] {1, 2}", "seq()"}},
      {"GetFromNothing",
       "m (optional(float) o) => (float y) { y = OptionalGetElement(o) }",
       {Value::optional()},
       {"!the optional holds nothing; ask OptionalHasElement first"}},
      {"AnOptionalWithoutAType",
       "m () => (optional(float) o) { o = Optional() }",
       {},
       {"!without an input, 'type' must say what the optional could hold"}},
      {"IfOnOptionals",
       "m (optional(float[N]) o) => (float y) {"
       " h = OptionalHasElement(o)"
       " y = If(h) <then_branch = t () => (float a) { a = OptionalGetElement(o) },"
       "  else_branch = e () => (float b) <float[1] c = {7}> { b = Identity(c) }> }",
       {Value::optional()},
       {"float[1] {7}"}},
      {"LoopGathersASequence",
       "m (int64 n, float[K] x) => (seq(float) s, float all) {"
       " e = SequenceEmpty()"
       " s = Loop(n, , e) <body = b (int64 i, bool c, seq(float) v) => (bool c, seq(float) w) {"
       "   f = CastLike(i, x) y = Add(x, f) w = SequenceInsert(v, y) }>"
       " all = ConcatFromSequence<axis = 0>(s) }",
       {tensor("int64 {3}"), tensor("float[1] {10}")},
       {"seq(float[1] {10}; float[1] {11}; float[1] {12})", "float[3] {10, 11, 12}"}},
      {"ALoopOfNoTripsKeepsItsSequence",
       "m (int64 n, seq(float) e) => (seq(float) s) {"
       " s = Loop(n, , e) <body = b (int64 i, bool c, seq(float) v) => (bool c, seq(float) w) {"
       "   w = SequenceErase(v) }> }",
       {tensor("int64 {0}"), sequence({"float {1}"})},
       {"seq(float {1})"}},
      {"ALoopThatChangesAType",
       "m (int64 n, float[K] x) => (float y) {"
       " y = Loop(n, , x) <body = b (int64 i, bool c, v) => (bool c, w) {"
       "   w = Cast<to = 7>(v) }> }",
       {tensor("int64 {2}"), tensor("float[1] {10}")},
       {"!carried value 0 is float and int64, expected one type"}},
      {"ALoopThatStartsWithNothing",
       "m (int64 n, optional(seq(float)) o) => (seq(float) s) {"
       " s = Loop(n, , o) <"
       "  body = b (int64 i, bool c, optional(seq(float)) v) => (bool c, seq(float) w) {"
       "   h = OptionalHasElement(v) f = Cast<to = 1>(i)"
       "   u = If(h) <then_branch = t () => (seq(float) p) { p = OptionalGetElement(v) },"
       "    else_branch = e () => (seq(float) q) { q = SequenceEmpty() }>"
       "   w = SequenceInsert(u, f) }> }",
       {tensor("int64 {2}"), Value::optional()},
       {"seq(float {0}; float {1})"}},
      {"MapOverSequences",
       "m (seq(float) s, seq(float) t, float[1] x) => (seq(float) u, seq(float) v) {"
       " u, v = SequenceMap(s, t, x) <body = b (float a, float c, float d) => (float e, float f) {"
       "   e = Add(a, c) f = Mul(a, d) }> }",
       {sequence({"float[1] {1}", "float[2] {2, 3}"}), sequence({"float[1] {5}", "float[1] {6}"}),
        tensor("float[1] {10}")},
       {"seq(float[1] {6}; float[2] {8, 9})", "seq(float[1] {10}; float[2] {20, 30})"}},
      {"MapOverNothing",
       "m (seq(float) s) => (seq(float) u) {"
       " u = SequenceMap(s) <body = b (float a) => (float e) { e = Neg(a) }> }",
       {sequence({})},
       {"seq()"}},
      {"MapOverOtherLengths",
       "m (seq(float) s, seq(float) t) => (seq(float) u) {"
       " u = SequenceMap(s, t) <body = b (float a, float c) => (float e) { e = Add(a, c) }> }",
       {sequence({"float {1}"}), sequence({})},
       {"!the sequence of input 1 has 0 tensors, that of input 0 1"}},
      {"MapWithAFailure",
       "m (seq(float) s, float[2] x) => (seq(float) u) {"
       " u = SequenceMap(s) <body = b (float a) => (float e) { e = Add(a, x) }> }",
       {sequence({"float {1}", "float[3] {1, 2, 3}"}), tensor("float[2] {1, 2}")},
       {"!do not broadcast"}},
      {"ScanSumsUp",
       "m (float[2] s, float[N,2] x) => (float last, float all, float back) {"
       " last, all, back = Scan<num_scan_inputs = 1, scan_output_directions = [0, 1],"
       "  body = b (float[2] a, float[2] e) => (float[2] n, float[2] p, float[2] q) {"
       "   n = Add(a, e) p = Identity(n) q = Identity(n) }>(s, x) }",
       {tensor("float[2] {10, 20}"), tensor("float[3,2] {1, 2, 3, 4, 5, 6}")},
       {"float[2] {19, 32}", "float[3,2] {11, 22, 14, 26, 19, 32}",
        "float[3,2] {19, 32, 14, 26, 11, 22}"}},
      {"ScanAlongOtherAxes",
       "m (float s, float[2,N] x, int64[N] k) => (float last, float all) {"
       " last, all = Scan<num_scan_inputs = 2, scan_input_axes = [-1, 0],"
       "  scan_input_directions = [1, 0], scan_output_axes = [-1],"
       "  body = b (float a, float[2] e, int64 j) => (float n, float p) {"
       "   m = ReduceSum<keepdims = 0>(e) n = Add(a, m) f = CastLike(j, e) p = Add(e, f)"
       "  }>(s, x, k) }",
       {tensor("float {1}"), tensor("float[2,3] {1, 2, 3, 4, 5, 6}"),
        tensor("int64[3] {10, 20, 30}")},
       {"float {22}", "float[2,3] {13, 22, 31, 16, 25, 34}"}},
      {"ScanWithACapture",
       "m (float[N] x, float[2] c) => (float y) { z = Neg(c)"
       " y = Scan<num_scan_inputs = 1, body = b (float e) => (float p) { p = Mul(e, z) }>(x) }",
       {tensor("float[2] {1, 2}"), tensor("float[2] {3, 4}")},
       {"float[2,2] {-3, -4, -6, -8}"}},
      {"ScanOfPackedElements",
       "m (uint4[3] x) => (uint4 y, uint4 z) {"
       " y, z = Scan<num_scan_inputs = 1, scan_output_directions = [0, 1],"
       "  body = b (uint4 e) => (uint4 p, uint4 q) { p = Identity(e) q = Identity(e) }>(x) }",
       {tensor("uint4[3] {1, 2, 3}")},
       {"uint4[3] {1, 2, 3}", "uint4[3] {3, 2, 1}"}},
      {"ScanOfStrings",
       "m (string[N] x) => (string y) {"
       " y = Scan<num_scan_inputs = 1, scan_input_directions = [1],"
       "  body = b (string e) => (string p) { p = Identity(e) }>(x) }",
       {tensor("string[2] {\"a\", \"b\"}")},
       {"string[2] {\"b\", \"a\"}"}},
      {"ScanOfNothing",
       "m (float[2] s, float[N,2] x) => (float last, float all) {"
       " last, all = Scan<num_scan_inputs = 1, scan_output_axes = [1],"
       "  body = b (float[2] a, float[2] e) => (float[2] n, float[2] p) {"
       "   n = Add(a, e) p = Identity(n) }>(s, x) }",
       {tensor("float[2] {10, 20}"), tensor("float[0,2] {}")},
       {"float[2] {10, 20}", "float[2,0] {}"}},
      {"ScanOfOtherLengths",
       "m (float[N] x, float[M] y) => (float z) {"
       " z = Scan<num_scan_inputs = 2, body = b (float a, float c) => (float d) {"
       "   d = Add(a, c) }>(x, y) }",
       {tensor("float[2] {10, 20}"), tensor("float[1] {1}")},
       {"!scanned input 1 has 1 positions along axis 0, input 0 has 2"}},
      {"ScanAlongNoAxis",
       "m (float[N] x) => (float z) { z = Scan<num_scan_inputs = 1, scan_input_axes = [1],"
       " body = b (float a) => (float d) { d = Neg(a) }>(x) }",
       {tensor("float[2] {10, 20}")},
       {"!axis 1 of scanned input 0 lies outside [-1, 0]"}},
      {"ScanToNoAxis",
       "m (float[N] x) => (float z) { z = Scan<num_scan_inputs = 1, scan_output_axes = [-2],"
       " body = b (float a) => (float d) { d = Neg(a) }>(x) }",
       {tensor("float[2] {10, 20}")},
       {"!axis -2 of output 0 lies outside [-1, 0]"}},
      {"ScanWithoutInputs",
       "m (float[N] x) => (float z) { z = Scan<num_scan_inputs = 2,"
       " body = b (float a) => (float d) { d = Neg(a) }>(x) }",
       {tensor("float[2] {10, 20}")},
       {"!'num_scan_inputs' is 2, expected 1 to 1"}},
      {"ScanInNoDirection",
       "m (float[N] x) => (float z) { z = Scan<num_scan_inputs = 1, scan_input_directions = [2],"
       " body = b (float a) => (float d) { d = Neg(a) }>(x) }",
       {tensor("float[2] {10, 20}")},
       {"!'scan_input_directions' has the number 2, expected 0 (forward) or 1 (backward)"}},
      {"ScanWithTooManyAxes",
       "m (float[N] x) => (float z) { z = Scan<num_scan_inputs = 1, scan_input_axes = [0, 0],"
       " body = b (float a) => (float d) { d = Neg(a) }>(x) }",
       {tensor("float[2] {10, 20}")},
       {"!'scan_input_axes' has 2 numbers, expected 1"}},
      {"ScanWithSlicesOfOtherShapes",
       "m (int64[N] x) => (int64 z) { z = Scan<num_scan_inputs = 1,"
       " body = b (int64 a) => (int64 d) <int64 zero = {0}, int64 one = {1}> {"
       "  d = Range(zero, a, one) }>(x) }",
       {tensor("int64[2] {1, 2}")},
       {"!a stacked output has the shape [1] in trip 0 and [2] in trip 1"}},
      {"ScanThatChangesAType",
       "m (float s, float[N] x) => (float z) { z = Scan<num_scan_inputs = 1,"
       " body = b (a, float c) => (d) { d = Cast<to = 7>(a) }>(s, x) }",
       {tensor("float {1}"), tensor("float[2] {10, 20}")},
       {"!carried value 0 is float and int64, expected one type"}},
      {"ScanOfABatch",
       "<ir_version: 8, opset_import: [\"\": 8]>"
       "m (int64[B] k, float[B,1] s, float[B,N,1] x) => (float last, float all) {"
       " last, all = Scan<num_scan_inputs = 1, directions = [1],"
       "  body = b (float[1] a, float[1] e) => (float[1] n, float[1] p) {"
       "   n = Add(a, e) p = Identity(n) }>(k, s, x) }",
       {tensor("int64[2] {3, 2}"), tensor("float[2,1] {10, 20}"),
        tensor("float[2,3,1] {1, 2, 3, 4, 5, 6}")},
       {"float[2,1] {16, 29}", "float[2,3,1] {13, 15, 16, 25, 29, 0}"}},
      {"ScanOfABatchOfOtherSizes",
       "<ir_version: 8, opset_import: [\"\": 8]>"
       "m (float[B,1] s, float[C,N,1] x) => (float last) {"
       " last = Scan<num_scan_inputs = 1,"
       "  body = b (float[1] a, float[1] e) => (float[1] n) { n = Add(a, e) }>(, s, x) }",
       {tensor("float[2,1] {10, 20}"), tensor("float[1,2,1] {1, 2}")},
       {"!input 2 has the shape [1,2,1], expected a batch of 2 first"}},
      {"ScanOfABatchWithTooLongLengths",
       "<ir_version: 8, opset_import: [\"\": 8]>"
       "m (int64[B] k, float[B,1] s, float[B,N,1] x) => (float last) {"
       " last = Scan<num_scan_inputs = 1,"
       "  body = b (float[1] a, float[1] e) => (float[1] n) { n = Add(a, e) }>(k, s, x) }",
       {tensor("int64[1] {3}"), tensor("float[1,1] {10}"), tensor("float[1,2,1] {1, 2}")},
       {"!sequence_lens[0] is 3, expected 0 to 2"}},
  };
}

class Sequences : public ::testing::TestWithParam<Row> {};

TEST_P(Sequences, Run) {
  const Row& row = GetParam();
  for (const OptimizationLevel level : {OptimizationLevel::kNone, OptimizationLevel::kAll}) {
    const bool fails = row.outputs.size() == 1 && row.outputs[0].starts_with('!');
    std::string message;
    std::vector<std::string> found;
    try {
      const Session session = session_of(row.model, level);
      for (int repeat = 0; repeat < 2; ++repeat) {  // the second reuses what the first has left
        found.clear();
        for (const Value& value : session.run(row.inputs)) found.push_back(print(value));
      }
    } catch (const Error& error) {
      message = error.what();
    }
    if (fails) {
      EXPECT_NE(message.find(row.outputs[0].substr(1)), std::string::npos) << "found: " << message;
      EXPECT_NE(message, "");
    } else {
      EXPECT_EQ(message, "");
      EXPECT_EQ(found, row.outputs);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, Sequences, ::testing::ValuesIn(rows()),
                         [](const auto& info) { return std::string(info.param.name); });

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << error.what();
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Values, SayWhatTheyAre) {
  const Value x = tensor("float[2] {1, 2}");
  const Value s = sequence({"float[2] {1, 2}", "float {3}"});
  EXPECT_EQ(Value().kind(), ValueKind::kNone);
  EXPECT_EQ(x.kind(), ValueKind::kTensor);
  EXPECT_EQ(s.kind(), ValueKind::kSequence);
  EXPECT_EQ(Value::optional(s).kind(), ValueKind::kOptional);
  EXPECT_EQ(Value::optional(s).items()[0].items().size(), 2u);
  EXPECT_TRUE(Value::optional().has_value());
  EXPECT_TRUE(Value::optional().items().empty());
  EXPECT_EQ(s.items()[1].as<float>()[0], 3);
  // None of the numbers of a tensor.
  EXPECT_EQ(s.element_type(), ElementType::kUndefined);
  EXPECT_EQ(s.shape().size(), 0u);
  EXPECT_EQ(s.size(), 0u);
  EXPECT_EQ(s.size_bytes(), 0u);
  EXPECT_EQ(s.data(), nullptr);
}

TEST(Values, RefuseWrongUse) {
  const Value x = tensor("float[2] {1, 2}");
  const Value s = sequence({"float {3}"});
  const std::vector<Value> mixed = {x, tensor("int64 {1}")}, nested = {s}, hole = {Value()};
  EXPECT_EQ(message_of([&] { (void)Value::sequence(mixed); }),
            "Value::sequence: item 1 is int64[], expected float as item 0");
  EXPECT_EQ(message_of([&] { (void)Value::sequence(nested); }),
            "Value::sequence: item 0 is seq(float) of 1, expected a tensor");
  EXPECT_EQ(message_of([&] { (void)Value::sequence(hole); }),
            "Value::sequence: item 0 is nothing, expected a tensor");
  EXPECT_EQ(message_of([&] { (void)Value::optional(Value::optional()); }),
            "Value::optional: the item is an optional, expected a tensor or a sequence");
  EXPECT_EQ(message_of([&] { (void)x.items(); }),
            "Value::items: the value is float[2], expected a sequence or optional");
  EXPECT_EQ(message_of([&] { (void)Value().items(); }),
            "Value::items: the value is nothing, expected a sequence or optional");
  EXPECT_EQ(message_of([&] { (void)s.as<float>(); }),
            "the value is seq(float) of 1, a tensor of float was asked for");
}

TEST(Values, AreCheckedAsInputs) {
  const Session session = session_of(
      "m (seq(float[?,3]) s, optional(seq(int64)) o, float x) => (int64 n) {"
      " n = SequenceLength(s) }");
  EXPECT_EQ(session.inputs()[0].type, "seq(float[?,3])");
  EXPECT_EQ(session.inputs()[0].kind, ValueKind::kSequence);
  EXPECT_EQ(session.inputs()[0].item.at(0).shape, (std::vector<int64_t>{-1, 3}));
  EXPECT_EQ(session.inputs()[1].type, "optional(seq(int64))");
  EXPECT_EQ(session.inputs()[2].kind, ValueKind::kTensor);
  const Value s = sequence({"float[1,3] {1, 2, 3}"}), o = Value::optional(),
              x = tensor("float {1}");
  const struct {
    std::vector<Value> inputs;
    const char* message;
  } rows[] = {
      {{x, o, x}, "input 's': got float[], expected seq(float[?,3])"},
      {{Value::optional(s), o, x}, "input 's': got optional(seq(float) of 1), expected seq("},
      {{sequence({"float[1,3] {1, 2, 3}", "float[3] {1, 2, 3}"}), o, x},
       "input 's': got seq(float) of 2, expected seq(float[?,3])"},
      {{sequence({"int64[1,3] {1, 2, 3}"}), o, x}, "input 's': got seq(int64) of 1, expected"},
      {{s, s, x}, "input 'o': got seq(float) of 1, expected optional(seq(int64))"},
      {{s, Value::optional(s), x}, "input 'o': got optional(seq(float) of 1), expected"},
      {{s, Value::optional(x), x}, "input 'o': got optional(float[]), expected"},
      {{s, Value(), x}, "input 'o' (optional(seq(int64))) was not given"},
      {{s, o, s}, "input 'x': got seq(float) of 1, expected float"},
      {{s, o, o}, "input 'x': got an empty optional, expected float"},
  };
  for (const auto& row : rows) {
    const std::string message = message_of([&] { (void)session.run(row.inputs); });
    EXPECT_NE(message.find(row.message), std::string::npos) << message;
  }
  EXPECT_EQ(print(session.run(std::vector<Value>{s, o, x})[0]), "int64 {1}");
  EXPECT_EQ(print(session.run(std::vector<Value>{sequence({}), o, x})[0]), "int64 {0}");
}

// What comes out is the caller's alone, also where the runtime shares tensors inside.
TEST(Values, HaveMemoryOfTheirOwn) {
  const Session session = session_of(
      "m (seq(float[?]) s, int64 i) => (seq(float[?]) t, seq(float[?]) u, float[?] x, float[?] y) {"
      " t = Identity(s) u = Identity(t) x = SequenceAt(t, i) y = SequenceAt(t, i) }");
  const Value s = sequence({"float[2] {1, 2}"});
  std::vector<Value> results = session.run(std::vector<Value>{s, tensor("int64 {0}")});
  results.push_back(s);
  for (size_t changed = 0; changed < results.size(); ++changed) {
    Value target = results[changed].kind() == ValueKind::kTensor ? results[changed]
                                                                 : results[changed].items()[0];
    target.as<float>()[0] = 100 + static_cast<float>(changed);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Value tensor =
        results[i].kind() == ValueKind::kTensor ? results[i] : results[i].items()[0];
    EXPECT_EQ(tensor.as<float>()[0], 100 + static_cast<float>(i)) << i;
  }
}

}  // namespace
}  // namespace sardonyx
