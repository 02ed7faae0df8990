// Helpers of the tests of artifacts: parts made by hand, comparison, and files whose hashes are
// made to agree again after a change. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "artifact/artifact.h"
#include "artifact/format.h"
#include "artifact/hash.h"
#include "ir/text_parse.h"
#include "sardonyx/error.h"
#include "tensor/tensor.h"

namespace sardonyx::artifact::testing {

using Bytes = std::vector<std::byte>;

inline Tensor numbered(DataType type, const Shape& shape, int first = 0) {
  Tensor tensor = Tensor::allocate(type, shape);
  auto* bytes = tensor.data<uint8_t>();
  for (int64_t i = 0; i < tensor.size_bytes(); ++i) bytes[i] = static_cast<uint8_t>(first + i * 7);
  return tensor;
}

inline Tensor strings(const std::vector<std::string>& values) {
  return Tensor::from<std::string>(DataType::kString, Shape{static_cast<int64_t>(values.size())},
                                   values);
}

inline int32_t add_buffer(Program& program, ProgramBuffer::Kind kind, ValueType type,
                          std::string name) {
  program.buffers.push_back({kind, std::move(type), {}, std::move(name)});
  return static_cast<int32_t>(program.buffers.size() - 1);
}

inline int32_t add_constant(Program& program, const Tensor& tensor, std::string name) {
  const int32_t b =
      add_buffer(program, ProgramBuffer::Kind::kConstant,
                 ValueType::tensor(tensor.type(), to_dims(tensor.shape())), std::move(name));
  program.buffers.back().constant = tensor;
  return b;
}

inline Node step(std::string op, std::vector<int32_t> inputs, std::vector<int32_t> outputs) {
  Node node;
  node.op = std::move(op);
  node.version = 13;
  for (int32_t b : inputs) node.inputs.push_back(static_cast<ValueId>(b));
  for (int32_t b : outputs) node.outputs.push_back(static_cast<ValueId>(b));
  return node;
}

inline ValueInfo info_of(const std::string& name, DataType element) {
  ValueInfo info;
  info.name = name;
  info.kind = ValueKind::kTensor;
  info.element_type = element;
  info.has_shape = true;
  info.shape = {-1, 3};
  info.symbols = {"batch", ""};
  info.type = "float[batch,3]";
  return info;
}

inline ValueInfo list_info(const std::string& name, DataType element) {
  ValueInfo info;
  info.name = name;
  info.kind = ValueKind::kSequence;
  info.item = {info_of("", element)};
  info.type = "seq(float[batch,3])";
  return info;
}

inline Facets facets() {
  Facets result;
  result.provider = "CPUExecutionProvider";
  result.architecture = "x86-64";
  result.target = "avx2";
  result.required_isa = {"sse4", "avx2"};
  result.rows = {{"Add", 1}, {"ai.sardonyx.PackedGemm", 2}};
  result.tuning = {{"block", 8}};
  return result;
}

// x -> Add(x, weight) -> If(flag) {capturing} -> y: a part with every kind of type, constant and
// attribute. `x` counts on symbols numbered from `first_symbol`.
inline CompiledPart full_part(int first_symbol = 0) {
  using Kind = ProgramBuffer::Kind;
  const Dim batch = Dim::expression(first_symbol), half = Dim::expression(first_symbol + 3);
  CompiledPart part;
  Program& program = part.program;
  const ValueType floats = ValueType::tensor(DataType::kFloat, Dims{batch, Dim(3)});
  const int32_t x = add_buffer(program, Kind::kInput, floats, "x");
  const int32_t flag =
      add_buffer(program, Kind::kInput, ValueType::tensor(DataType::kBool, Dims{}), "flag");
  const int32_t sum = add_buffer(program, Kind::kIntermediate, floats, "");
  const int32_t y = add_buffer(program, Kind::kIntermediate,
                               ValueType::tensor(DataType::kFloat, Dims{half, Dim()}), "y");
  const int32_t no_rank =
      add_buffer(program, Kind::kIntermediate, ValueType::tensor(DataType::kInt64), "no rank");
  const ValueType nested = ValueType::optional(ValueType::sequence(
      ValueType::map(DataType::kString, ValueType::tensor(DataType::kFloat, Dims{batch}))));
  add_buffer(program, Kind::kIntermediate, nested, "nested");
  add_buffer(program, Kind::kIntermediate, ValueType(), "unknown");
  const int32_t weight = add_constant(program, numbered(DataType::kFloat, {3}), "small");
  const int32_t big = add_constant(program, numbered(DataType::kFloat, {20, 30}, 1), "big");
  add_constant(program, numbered(DataType::kUint8, {1025}, 3), "odd");
  add_constant(program, strings({"", "one", std::string("a\0b", 3)}), "words");
  const Tensor list = tensor_of_values(
      kSequenceType,
      std::vector<Tensor>{numbered(DataType::kFloat, {2}), numbered(DataType::kFloat, {600})});
  const ValueType list_type = ValueType::sequence(ValueType::tensor(DataType::kFloat));
  const auto add_values = [&](const Tensor& constant, const ValueType& type) {
    add_buffer(program, Kind::kConstant, type, "values");
    program.buffers.back().constant = constant;
  };
  add_values(list, list_type);
  add_values(tensor_of_values(kOptionalType, std::vector<Tensor>{list}),
             ValueType::optional(list_type));
  add_values(tensor_of_values(kOptionalType, {}), ValueType::optional(list_type));
  const int32_t given = add_buffer(program, Kind::kInput, list_type, "list");
  for (int type = 1; type < kDataTypeCount; ++type) {
    if (static_cast<DataType>(type) == DataType::kString) continue;
    add_constant(program, numbered(static_cast<DataType>(type), {3, 5}, type), "");
    add_constant(program, numbered(static_cast<DataType>(type), {0, 5}), "");
    add_constant(program, numbered(static_cast<DataType>(type), {}, type), "");
  }

  Node add = step("Add", {x, -1, weight}, {sum, -1});
  add.name = "add";
  add.domain = "ai.sardonyx";
  add.overload = "over";
  add.attributes.set("int", int64_t{-5});
  add.attributes.set("float", 0.1f);
  add.attributes.set("string", std::string("text"));
  add.attributes.set("ints", std::vector<int64_t>{1, -2, INT64_MIN});
  add.attributes.set("floats", std::vector<float>{1.5f, -0.0f});
  add.attributes.set("strings", std::vector<std::string>{"a", ""});
  add.attributes.set("tensor", program.buffers[static_cast<size_t>(big)].constant);
  add.attributes.set("no_tensor", Tensor());
  add.attributes.set("tensors",
                     std::vector<Tensor>{numbered(DataType::kInt4, {3}), strings({"s"})});
  const SparseTensor sparse{numbered(DataType::kFloat, {2}),
                            Tensor::of_int64(std::vector<int64_t>{1, 4}), Shape{5}};
  add.attributes.set("sparse", sparse);
  add.attributes.set("sparses", std::vector<SparseTensor>{sparse, sparse});
  add.attributes.set("type", nested);
  add.attributes.set("types", std::vector<ValueType>{floats, ValueType()});
  program.steps.push_back(add);

  Node branch = step("If", {flag}, {y});
  branch.captures = {static_cast<ValueId>(sum), static_cast<ValueId>(big)};
  SubProgram sub{1, "then_branch", {big, sum}, {}};
  const int32_t inner_big = add_buffer(sub.program, Kind::kInput, floats, "inner big");
  const int32_t inner_sum = add_buffer(sub.program, Kind::kInput, floats, "inner sum");
  const int32_t out = add_buffer(sub.program, Kind::kIntermediate, floats, "out");
  add_constant(sub.program, numbered(DataType::kFloat, {20, 30}, 1), "big again");
  sub.program.steps.push_back(step("Mul", {inner_big, inner_sum}, {out}));
  sub.program.inputs = {inner_big, inner_sum};
  sub.program.outputs = {out};
  program.steps.push_back(branch);
  program.subprograms.push_back(sub);
  sub.attribute = "else_branch";
  program.subprograms.push_back(sub);
  program.steps.push_back(step("Shape", {y}, {no_rank}));
  program.inputs = {x, flag, given};
  program.outputs = {y, no_rank, y};

  part.inputs = {info_of("x", DataType::kFloat), info_of("flag", DataType::kBool),
                 list_info("list", DataType::kFloat)};
  part.inputs[1].is_optional = true;
  part.outputs = {info_of("y", DataType::kFloat), info_of("r", DataType::kInt64),
                  info_of("y2", DataType::kFloat)};
  part.defaults = {Tensor(), numbered(DataType::kBool, {}, 1), Tensor()};
  part.metadata = {"maker",
                   "1.2",
                   "com.maker",
                   "net",
                   "A net.",
                   7,
                   10,
                   {{"", 21}, {"com.x", 1}},
                   {{"author", "somebody"}}};
  part.warnings = {"odd"};
  part.facets = facets();
  return part;
}

// y = x + w, w of 4000 bytes.
inline CompiledPart small_part() {
  using Kind = ProgramBuffer::Kind;
  CompiledPart part;
  const ValueType type = ValueType::tensor(DataType::kFloat, Dims{Dim(1000)});
  const int32_t x = add_buffer(part.program, Kind::kInput, type, "x");
  const int32_t w = add_constant(part.program, numbered(DataType::kFloat, {1000}), "w");
  const int32_t y = add_buffer(part.program, Kind::kIntermediate, type, "y");
  part.program.steps.push_back(step("Add", {x, w}, {y}));
  part.program.inputs = {x};
  part.program.outputs = {y};
  part.inputs = {info_of("x", DataType::kFloat)};
  part.outputs = {info_of("y", DataType::kFloat)};
  part.defaults = {Tensor()};
  part.facets = facets();
  return part;
}

inline Bytes write(const CompiledPart& part, const Manifest& manifest = {}) {
  Bytes bytes;
  const uint64_t size = write_artifact(part, manifest, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  EXPECT_EQ(size, bytes.size());
  return bytes;
}

// From memory of its own, aligned to `kConstantAlignment` plus `shift` bytes.
inline CompiledPart read(const Bytes& bytes, const ReadOptions& options = {}, size_t shift = 0) {
  Tensor memory = Tensor::allocate(DataType::kUint8, {static_cast<int64_t>(bytes.size() + shift)});
  std::byte* data = memory.data<std::byte>() + shift;
  if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  return read_artifact({data, bytes.size()}, memory.owner(), options);
}

template <typename T>
T load(const Bytes& bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}
template <typename T>
void store(Bytes& bytes, uint64_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

inline constexpr uint64_t kCountOffset = 24;
inline uint64_t row_offset(size_t section) { return kTableOffset + kSectionRowBytes * section; }

// Makes the head's hash agree, and with `sections` theirs too.
inline void seal(Bytes& bytes, bool sections = true) {
  for (uint32_t i = 0; sections && i < load<uint32_t>(bytes, kCountOffset); ++i) {
    const auto offset = load<uint64_t>(bytes, row_offset(i) + 8);
    const auto size = load<uint64_t>(bytes, row_offset(i) + 16);
    store(bytes, row_offset(i) + 24, hash_of(std::span(bytes).subspan(offset, size)));
  }
  const auto head = std::span(bytes).first(load<uint32_t>(bytes, 12));
  Hasher hasher;
  hasher.add(head.first(kHashOffset));
  hasher.add(head.subspan(kTableOffset));
  store(bytes, kHashOffset, hasher.result());
}

// The code of the Error that `call` throws, kOk when it throws none.
template <typename Call>
ErrorCode code_of(const Call& call, std::string* message = nullptr) {
  try {
    call();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
  return ErrorCode::kOk;
}

// Compares programs; symbols may have other numbers, one for one.
class Comparison {
 public:
  void programs(const Program& a, const Program& b) {
    ASSERT_EQ(a.buffers.size(), b.buffers.size());
    for (size_t i = 0; i < a.buffers.size(); ++i) {
      EXPECT_EQ(a.buffers[i].kind, b.buffers[i].kind);
      EXPECT_EQ(a.buffers[i].name, b.buffers[i].name);
      types(a.buffers[i].type, b.buffers[i].type);
      EXPECT_TRUE(bitwise_equal(a.buffers[i].constant, b.buffers[i].constant)) << "buffer " << i;
    }
    ASSERT_EQ(a.steps.size(), b.steps.size());
    for (size_t i = 0; i < a.steps.size(); ++i) steps(a.steps[i], b.steps[i]);
    EXPECT_EQ(a.inputs, b.inputs);
    EXPECT_EQ(a.outputs, b.outputs);
    ASSERT_EQ(a.subprograms.size(), b.subprograms.size());
    for (size_t i = 0; i < a.subprograms.size(); ++i) {
      EXPECT_EQ(a.subprograms[i].step, b.subprograms[i].step);
      EXPECT_EQ(a.subprograms[i].attribute, b.subprograms[i].attribute);
      EXPECT_EQ(a.subprograms[i].captures, b.subprograms[i].captures);
      programs(a.subprograms[i].program, b.subprograms[i].program);
    }
  }

 private:
  void steps(const Node& a, const Node& b) {
    EXPECT_EQ(a.domain, b.domain);
    EXPECT_EQ(a.op, b.op);
    EXPECT_EQ(a.overload, b.overload);
    EXPECT_EQ(a.version, b.version);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.inputs, b.inputs);
    EXPECT_EQ(a.outputs, b.outputs);
    EXPECT_EQ(a.captures, b.captures);
    ASSERT_EQ(a.attributes.size(), b.attributes.size());
    auto other = b.attributes.begin();
    for (const auto& [name, value] : a.attributes) {
      EXPECT_EQ(name, other->first);
      ASSERT_EQ(value.index(), other->second.index()) << name;
      std::visit(
          [&](const auto& held) {
            const auto& its = std::get<std::decay_t<decltype(held)>>(other->second);
            values(unboxed(held), unboxed(its));
          },
          value);
      ++other;
    }
  }

  template <typename T>
  void values(const T& a, const T& b) {
    if constexpr (requires { a == b; }) {
      EXPECT_EQ(a, b);
    } else {
      ADD_FAILURE() << "not comparable";
    }
  }
  template <typename T>
  requires(!requires(T x) {
    x == x;
  } || std::is_same_v<T, Tensor>) void values(const std::vector<T>& a, const std::vector<T>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) values(a[i], b[i]);
  }
  void values(const Tensor& a, const Tensor& b) { EXPECT_TRUE(bitwise_equal(a, b)); }
  void values(const SparseTensor& a, const SparseTensor& b) {
    values(a.values, b.values);
    values(a.indices, b.indices);
    EXPECT_EQ(a.shape, b.shape);
  }
  void values(const ValueType& a, const ValueType& b) { types(a, b); }

  void types(const ValueType& a, const ValueType& b) {
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.element, b.element);
    ASSERT_EQ(a.shape.has_value(), b.shape.has_value());
    ASSERT_EQ(a.inner != nullptr, b.inner != nullptr);
    if (a.shape) {
      ASSERT_EQ(a.shape->size(), b.shape->size());
      for (size_t i = 0; i < a.shape->size(); ++i) dims((*a.shape)[i], (*b.shape)[i]);
    }
    if (a.inner) types(*a.inner, *b.inner);
  }

  void dims(const Dim& a, const Dim& b) {
    ASSERT_EQ(a.is_symbolic(), b.is_symbolic());
    if (!a.is_symbolic()) {
      EXPECT_EQ(a.value, b.value);
      EXPECT_EQ(a.is_known(), b.is_known());
      return;
    }
    EXPECT_EQ(forward_.try_emplace(a.expr, b.expr).first->second, b.expr);
    EXPECT_EQ(backward_.try_emplace(b.expr, a.expr).first->second, a.expr);
  }

  std::map<int32_t, int32_t> forward_, backward_;
};

}  // namespace sardonyx::artifact::testing
