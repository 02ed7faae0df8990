// Operator cases as text, beside each operator's file (`add.cases` beside `add.cc`):
//
//   opset 13                          # for the cases that follow; `opset "com.foo" 1` adds a
//   domain tolerance 1e-6 1e-7               # relative, absolute; for the cases that follow
//
//   case broadcast {
//     y = Add (a, b)                  # one node, as in docs/text-syntax.md
//     a = float[2,1] {1, 2}           # an input
//     b = float[3] {10, 20, 30}
//     expect y = float[2,3] {11, 21, 31, 12, 22, 32}
//   }
//   case symbols opset 7 {            # inputs given by type only: inference is checked, nothing
//   runs
//     y = Add (a, b)
//     type a = float[N,1]
//     type b = float[3]
//     infer y = float[N,3]
//     ints y = "N, 3"                 # tracked elements of y
//   }
//   case clash {
//     y = Add (a, b)
//     ...
//     error InvalidGraph "do not broadcast"
//   }
//
// A value compares equal when it is the same bits, or both are NaN, or within the tolerance (floats
// only). `tolerance` inside a case holds for that case.
#pragma once

#include <string>
#include <vector>

#include "ir/text_parse.h"

namespace sardonyx {

struct OpCase {
  std::string name;
  OpsetImports opsets;
  NodeText node;
  struct Given {
    std::string name;
    Tensor value;    // undefined: only the type is known
    ValueType type;  // of symbols in `dims`
  };
  std::vector<Given> inputs;
  std::vector<std::pair<std::string, Tensor>> expected;
  std::vector<std::pair<std::string, std::string>> inferred;  // value, printed type
  std::vector<std::pair<std::string, std::string>> ints;      // value, printed elements
  std::string error_code;                                     // "": no error expected
  std::string error_text;
  double relative = 1e-6;
  double absolute = 1e-7;
  std::shared_ptr<DimTable> dims;
};

// Throws Error(kInvalidArgument) with line and column.
std::vector<OpCase> parse_cases(const std::string& text);

}  // namespace sardonyx
