#include "ops/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

struct TypeGroup {
  std::string_view name;
  std::string_view types;  // may use groups above it
};

// tools/schema_lines.py reads this table. The numbers are the opset that first used the set.
constexpr TypeGroup kTypeGroups[] = {
    {"@ieee", "float16 float double"},
    {"@float", "@ieee bfloat16"},
    {"@float8", "float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz"},
    {"@signed", "int8 int16 int32 int64"},
    {"@unsigned", "uint8 uint16 uint32 uint64"},
    {"@integer", "@signed @unsigned"},
    {"@wide", "int32 int64 uint32 uint64"},
    {"@numeric", "@ieee @integer"},
    {"@numeric13", "@numeric bfloat16"},
    {"@all1", "@numeric bool string complex64 complex128"},
    {"@all13", "@all1 bfloat16"},
    {"@all19", "@all13 @float8"},
    {"@all21", "@all19 int4 uint4"},
    {"@all23", "@all21 float4e2m1"},
    {"@all24", "@all23 float8e8m0"},
    {"@all25", "@all24 int2 uint2"},
    {"@all28", "@all25 float6e2m3 float6e3m2"},
    {"@cast13", "@numeric13 bool string"},
    {"@cast19", "@cast13 @float8"},
    {"@cast21", "@cast19 int4 uint4"},
    {"@cast23", "@cast21 float4e2m1"},
    {"@cast24", "@cast23 float8e8m0"},
    {"@cast25", "@cast24 int2 uint2"},
    {"@cast28", "@cast25 float6e2m3 float6e3m2"},
    {"@seq1",
     "seq(float16) seq(float) seq(double) seq(int8) seq(int16) seq(int32) seq(int64) seq(uint8) "
     "seq(uint16) seq(uint32) seq(uint64) seq(bool) seq(string) seq(complex64) seq(complex128)"},
    {"@seq13", "@seq1 seq(bfloat16)"},
    {"@optional15",
     "optional(float16) optional(float) optional(double) optional(int8) optional(int16) "
     "optional(int32) optional(int64) optional(uint8) optional(uint16) optional(uint32) "
     "optional(uint64) optional(bool) optional(string) optional(complex64) optional(complex128) "
     "optional(seq(float16)) optional(seq(float)) optional(seq(double)) optional(seq(int8)) "
     "optional(seq(int16)) optional(seq(int32)) optional(seq(int64)) optional(seq(uint8)) "
     "optional(seq(uint16)) optional(seq(uint32)) optional(seq(uint64)) optional(seq(bool)) "
     "optional(seq(string)) optional(seq(complex64)) optional(seq(complex128))"},
};

void add_types(std::string_view words, std::vector<std::string>& types);

void add_type(std::string_view word, std::vector<std::string>& types) {
  if (word.empty()) return;
  if (word.front() != '@') {
    types.emplace_back(word);
    return;
  }
  for (const TypeGroup& group : kTypeGroups) {
    if (group.name == word) return add_types(group.types, types);
  }
  throw Error(ErrorCode::kFail, fmt::format("schema: unknown type group '{}'", word));
}

void add_types(std::string_view words, std::vector<std::string>& types) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    add_type(words.substr(0, end), types);
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Schema parse(int since_version) {
    Schema schema;
    schema.since_version = since_version;
    if (!eat("->")) {
      schema.inputs = parameters();
      expect("->");
    }
    if (!done() && peek() != '|') schema.outputs = parameters();
    if (eat("|")) {
      if (!done() && peek() != '|') {
        do schema.attributes.push_back(attribute());
        while (eat(","));
      }
      if (eat("|") && !done()) {
        do {
          const std::string name = word();
          expect(":");
          std::vector<std::string>& types = schema.constraints[name];
          while (!done() && peek() != ',') add_type(type_word(), types);
        } while (eat(","));
      }
    }
    if (!done()) fail("the end");
    return schema;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool done() {
    skip();
    return at_ == text_.size();
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool eat(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!eat(token)) fail(token);
  }
  [[noreturn]] void fail(std::string_view expected) {
    throw Error(ErrorCode::kFail,
                fmt::format("schema: expected {} at offset {} of \"{}\"", expected, at_, text_));
  }
  template <typename Accept>
  std::string take(Accept accept, const char* what) {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && accept(text_[at_])) ++at_;
    if (at_ == begin) fail(what);
    return std::string(text_.substr(begin, at_ - begin));
  }
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  std::string word() { return take(is_word, "a name"); }
  // "outputs..." is the name of a parameter of Split.
  std::string parameter_name() {
    return take([](char c) { return is_word(c) || c == '.'; }, "a name");
  }
  // A type or group: commas belong to it inside parentheses.
  std::string type_word() {
    int depth = 0;
    return take(
        [&](char c) {
          if (c == '(') ++depth;
          if (c == ')') --depth;
          return is_word(c) || c == '@' || c == '(' || c == ')' || (c == ',' && depth > 0);
        },
        "a type");
  }

  std::vector<FormalParameter> parameters() {
    std::vector<FormalParameter> list;
    do {
      FormalParameter& parameter = list.emplace_back();
      parameter.name = parameter_name();
      expect(":");
      parameter.type = type_word();
      if (eat("?")) {
        parameter.arity = FormalParameter::Arity::kOptional;
        continue;
      }
      parameter.homogeneous = !eat("~");
      if (eat("...")) {
        parameter.arity = FormalParameter::Arity::kVariadic;
        if (eat("0")) parameter.minimum = 0;
      }
    } while (eat(","));
    return list;
  }

  AttributeSpec attribute() {
    AttributeSpec spec;
    spec.name = word();
    expect(":");
    spec.kind = word();
    if (eat("!")) {
      spec.required = true;
    } else if (eat("=")) {
      spec.fallback = value(spec.kind);
    } else {
      expect("?");
    }
    return spec;
  }

  template <typename T>
  T number() {
    skip();
    T result{};
    const char* end = text_.data() + text_.size();
    const auto [next, error] = std::from_chars(text_.data() + at_, end, result);
    if (error != std::errc()) fail("a number");
    at_ = static_cast<size_t>(next - text_.data());
    return result;
  }
  std::string quoted() {
    expect("'");
    const size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail("a closing quote");
    std::string result(text_.substr(at_, end - at_));
    at_ = end + 1;
    return result;
  }
  template <typename Element>
  auto list(Element element) {
    std::vector<decltype(element())> values;
    expect("[");
    if (eat("]")) return values;
    do values.push_back(element());
    while (eat(","));
    expect("]");
    return values;
  }
  AttributeValue value(const std::string& kind) {
    if (kind == "int") return number<int64_t>();
    if (kind == "float") return number<float>();
    if (kind == "string") return quoted();
    if (kind == "ints") return list([&] { return number<int64_t>(); });
    if (kind == "floats") return list([&] { return number<float>(); });
    if (kind == "strings") return list([&] { return quoted(); });
    fail("a kind that may have a default");
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const AttributeSpec* Schema::find_attribute(std::string_view name) const {
  for (const AttributeSpec& spec : attributes) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

Schema parse_schema(int since_version, std::string_view text) {
  return Parser(text).parse(since_version);
}

std::string type_string(const ValueType& type) {
  using Kind = ValueType::Kind;
  const auto inner = [&] { return type.inner ? type_string(*type.inner) : std::string("?"); };
  switch (type.kind) {
    case Kind::kTensor:
      return name_of(type.element);
    case Kind::kSparseTensor:
      return fmt::format("sparse_tensor({})", name_of(type.element));
    case Kind::kSequence:
      return fmt::format("seq({})", inner());
    case Kind::kOptional:
      return fmt::format("optional({})", inner());
    case Kind::kMap:
      return fmt::format("map({},{})", name_of(type.element), inner());
    case Kind::kUnknown:
      break;
  }
  return "?";
}

}  // namespace sardonyx
