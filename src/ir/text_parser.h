// TextParser: the grammar of nodes, graphs and models over a TextLexer, one method a rule. Behind
// the functions of text_parse.h; text_parse.cc holds graphs and models, text_node.cc nodes and
// attributes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/scope.h"
#include "ir/text_parse.h"

namespace sardonyx {

class TextParser {
 public:
  TextParser(TextLexer& in, std::shared_ptr<DimTable> dims) : in_(in), dims_(std::move(dims)) {}

  std::unique_ptr<Model> model();
  NodeText node(CaptureList& captures);

 private:
  using Props = std::vector<std::pair<std::string, std::string>>;
  struct Header {
    int64_t ir_version = kTextIrVersion;
    OpsetImports opset_imports;
    std::string producer_name, producer_version, domain, overload, doc;
    int64_t model_version = 0;
    Props metadata;
  };
  struct Declared {
    std::string name;
    ValueType type;
  };

  Header header();
  OpsetImports opsets();
  Props props();
  int64_t integer();

  std::shared_ptr<Graph> graph(CaptureList* outer);
  void body(GraphScope& scope, const std::vector<Declared>& outputs,
            std::vector<Declared> known_types);
  Function function(Header head);
  Declared declared();
  void inputs(GraphScope& scope);
  std::vector<Declared> outputs();
  void values(GraphScope& scope, std::vector<Declared>& known_types);
  Tensor initializer(const Declared& value);
  void declare(GraphScope& scope, const std::string& name, ValueId id);

  std::vector<std::string> names(char close);
  void attributes(Attributes& into, CaptureList& captures);
  AttributeValue attribute_value(std::string_view kind, CaptureList& captures);
  AttributeValue list_value(std::string_view kind, CaptureList& captures);
  SparseTensor sparse();

  TextLexer& in_;
  std::shared_ptr<DimTable> dims_;
  int depth_ = 0;
};

}  // namespace sardonyx
