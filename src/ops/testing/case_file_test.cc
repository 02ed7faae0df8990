#include "ops/testing/case_file.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace sardonyx {
namespace {

double number(TextLexer& in) { return std::strtod(std::string(in.number()).c_str(), nullptr); }

void parse_opset(TextLexer& in, OpsetImports& opsets) {
  const std::string domain = in.peek() == '"' ? in.string_literal() : "";
  opsets[domain] = static_cast<int64_t>(number(in));
}

void parse_body(TextLexer& in, OpCase& result) {
  in.expect('{');
  result.dims = std::make_shared<DimTable>();
  result.node = parse_node(in, result.dims);
  while (!in.accept('}')) {
    const std::string word(in.identifier("a statement or the name of an input"));
    if (word == "tolerance") {
      result.relative = number(in);
      result.absolute = number(in);
    } else if (word == "error") {
      result.error_code = in.identifier("an error code");
      result.error_text = in.string_literal();
    } else if (word == "expect") {
      const std::string name = in.name("the name of an output");
      in.expect('=');
      result.expected.emplace_back(name, parse_tensor(in));
    } else if (word == "type") {
      const std::string name = in.name("the name of an input");
      in.expect('=');
      result.inputs.push_back({name, Tensor(), parse_type(in, *result.dims)});
    } else if (word == "infer") {
      const std::string name = in.name("the name of an output");
      in.expect('=');
      const std::string printed = print_type(parse_type(in, *result.dims), *result.dims);
      result.inferred.emplace_back(name, printed);
    } else if (word == "ints") {
      const std::string name = in.name("the name of an output");
      in.expect('=');
      result.ints.emplace_back(name, in.string_literal());
    } else {
      in.expect('=');
      Tensor value = parse_tensor(in);
      const ValueType type = ValueType::tensor(value.type(), to_dims(value.shape()));
      result.inputs.push_back({word, std::move(value), type});
    }
  }
}

}  // namespace

std::vector<OpCase> parse_cases(const std::string& text) {
  std::vector<OpCase> cases;
  OpCase defaults;
  defaults.opsets[""] = kTextOpset;
  TextLexer in(text);
  while (!in.at_end()) {
    const std::string word(in.identifier("'opset', 'tolerance' or 'case'"));
    if (word == "opset") {
      parse_opset(in, defaults.opsets);
    } else if (word == "tolerance") {
      defaults.relative = number(in);
      defaults.absolute = number(in);
    } else if (word == "case") {
      OpCase& fresh = cases.emplace_back(defaults);
      fresh.name = in.identifier("the name of the case");
      while (in.peek_word() == "opset") {
        in.identifier("opset");
        parse_opset(in, fresh.opsets);
      }
      parse_body(in, fresh);
    } else {
      in.fail("expected 'opset', 'tolerance' or 'case'");
    }
  }
  return cases;
}

TEST(CaseFile, ReadsEveryStatement) {
  const std::vector<OpCase> cases = parse_cases(R"(
    opset 13
    tolerance 1e-3 1e-4
    case one opset 7 {
      y = Add (a, b)
      a = float[2] {1, 2}
      type b = float[N]
      infer y = float[2]
      ints y = "1"
      error InvalidGraph "text"
      tolerance 0 0
    }
    case two { y = Relu (x) x = float {1} expect y = float {1} })");
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].name, "one");
  EXPECT_EQ(cases[0].opsets.at(""), 7);
  EXPECT_EQ(cases[0].inputs.size(), 2u);
  EXPECT_FALSE(cases[0].inputs[1].value.is_defined());
  EXPECT_EQ(cases[0].inferred[0].second, "float[2]");
  EXPECT_EQ(cases[0].error_code, "InvalidGraph");
  EXPECT_EQ(cases[0].relative, 0);
  EXPECT_EQ(cases[1].opsets.at(""), 13);
  EXPECT_EQ(cases[1].relative, 1e-3);
  EXPECT_EQ(cases[1].expected.size(), 1u);
}

}  // namespace sardonyx
