#include "artifact/program_decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "artifact/format.h"

namespace sardonyx::artifact {
namespace {

// The least bytes that one entry of a list takes.
constexpr size_t kMinName = 1;
constexpr size_t kMinOperator = 16;
constexpr size_t kMinConstant = 3;
constexpr size_t kMinType = 4;
constexpr size_t kMinBuffer = 1 + kMinType;
constexpr size_t kMinStep = 17;
constexpr size_t kMinSubProgram = 32;
constexpr size_t kMinSparse = 12;
constexpr size_t kMinText = 4;

const Tensor& undefined() {
  static const Tensor& tensor = *new Tensor;
  return tensor;
}

}  // namespace

ProgramDecoder::ProgramDecoder(std::span<const std::byte> program,
                               std::span<const std::byte> weights,
                               std::shared_ptr<const void> owner)
    : in_(program, "program"), weights_(weights), owner_(std::move(owner)) {}

Program ProgramDecoder::decode() {
  read_names();
  read_operators();
  read_constants();
  Program program = read_program(0);
  in_.expect_end();
  return program;
}

void ProgramDecoder::read_names() {
  names_.resize(in_.count(kMinName));
  for (std::string& name : names_) name = in_.name();
}

void ProgramDecoder::read_operators() {
  operators_.resize(in_.count(kMinOperator));
  for (Operator& each : operators_) {
    each.domain = in_.index(names_.size(), "name");
    each.op = in_.index(names_.size(), "name");
    each.overload = in_.index(names_.size(), "name");
    each.version = in_.get<int32_t>();
  }
}

void ProgramDecoder::read_constants() {
  const uint32_t count = in_.count(kMinConstant);
  constants_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) constants_.push_back(read_constant());
}

DataType ProgramDecoder::read_constant_type() {
  const auto number = in_.get<uint8_t>();
  if (number == kSequenceCode) return kSequenceType;
  if (number == kOptionalCode) return kOptionalType;
  if (!is_data_type(number)) in_.fail(fmt::format("there is no element type {}", number));
  return static_cast<DataType>(number);
}

Tensor ProgramDecoder::read_constant() {
  const DataType type = read_constant_type();
  const auto placement = static_cast<Placement>(in_.below(kPlacementCount, "placement"));
  if ((placement == Placement::kStrings) != (type == DataType::kString) ||
      (placement == Placement::kItems) != holds_values(type)) {
    in_.fail(fmt::format("a constant of {} does not lie here", name_of(type)));
  }
  const auto rank = in_.get<uint8_t>();
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(in_.get<int64_t>());
  const std::optional<int64_t> count = checked_element_count(shape);
  const std::optional<int64_t> bytes = count ? storage_bytes(type, *count) : std::nullopt;
  if (!bytes) in_.fail(fmt::format("a constant has the shape {}", to_string(shape)));

  if (placement == Placement::kStrings) return read_strings(shape, *count);
  if (placement == Placement::kItems) return read_items(type, shape, *count);
  const auto size = static_cast<uint64_t>(*bytes);
  if (placement == Placement::kInline) {
    in_.align(kConstantAlignment);
    return Tensor::view(type, shape, in_.take(size).data(), owner_);
  }
  const auto offset = in_.get<uint64_t>();
  if (offset % kConstantAlignment != 0 || offset > weights_.size() ||
      size > weights_.size() - offset) {
    in_.fail(fmt::format("a constant lies at {} with {} bytes, the weights have {}", offset, size,
                         weights_.size()));
  }
  return Tensor::view(type, shape, weights_.data() + offset, owner_);
}

Tensor ProgramDecoder::read_strings(const Shape& shape, int64_t count) {
  if (static_cast<uint64_t>(count) > in_.left() / kMinText) {
    in_.fail(fmt::format("{} strings do not fit into {} bytes", count, in_.left()));
  }
  Tensor tensor = Tensor::allocate(DataType::kString, shape);
  for (int64_t i = 0; i < count; ++i) tensor.data<std::string>()[i] = in_.text();
  return tensor;
}

// Items come earlier and hold nothing of their own kind, so nothing holds itself.
Tensor ProgramDecoder::read_items(DataType type, const Shape& shape, int64_t count) {
  if (shape.size() != 1 || static_cast<uint64_t>(count) > in_.left() / sizeof(uint32_t) ||
      (type == kOptionalType && count > 1)) {
    in_.fail(fmt::format("a {} has the shape {}", name_of(type), to_string(shape)));
  }
  Tensor tensor = Tensor::allocate(type, shape);
  for (int64_t i = 0; i < count; ++i) {
    const Tensor& item = constant(in_);
    if (!item.is_defined() || item.type() == type || item.type() == kOptionalType) {
      in_.fail(fmt::format("a {} holds a value of type {}", name_of(type), name_of(item.type())));
    }
    tensor.data<Tensor>()[i] = item;
  }
  return tensor;
}

Program ProgramDecoder::read_program(int depth) {
  if (depth >= kMaxProgramDepth) {
    in_.fail(fmt::format("subprograms are nested deeper than {} levels", kMaxProgramDepth));
  }
  Program program;
  const uint32_t buffers = in_.count(kMinBuffer);
  program.buffers.reserve(buffers);
  for (uint32_t i = 0; i < buffers; ++i) program.buffers.push_back(read_buffer());
  const uint32_t steps = in_.count(kMinStep);
  program.steps.reserve(steps);
  for (uint32_t i = 0; i < steps; ++i) program.steps.push_back(read_step());
  program.inputs = read_indices();
  program.outputs = read_indices();
  const uint32_t subprograms = in_.count(kMinSubProgram);
  program.subprograms.reserve(subprograms);
  for (uint32_t i = 0; i < subprograms; ++i) {
    SubProgram sub;
    sub.step = in_.get<int32_t>();
    sub.attribute = read_name();
    sub.captures = read_indices();
    sub.program = read_program(depth + 1);
    program.subprograms.push_back(std::move(sub));
  }
  return program;
}

ProgramBuffer ProgramDecoder::read_buffer() {
  using Kind = ProgramBuffer::Kind;
  ProgramBuffer buffer;
  buffer.kind = static_cast<Kind>(in_.below(3, "buffer kind"));
  buffer.type = read_type();
  if (buffer.kind == Kind::kConstant) buffer.constant = constant(in_);
  return buffer;
}

Node ProgramDecoder::read_step() {
  const Operator& found = operators_[in_.index(operators_.size(), "operator")];
  Node step;
  step.domain = names_[found.domain];
  step.op = names_[found.op];
  step.overload = names_[found.overload];
  step.version = found.version;
  step.inputs = read_ids();
  step.outputs = read_ids();
  step.captures = read_ids();
  const auto attributes = in_.get<uint8_t>();
  for (int i = 0; i < attributes; ++i) {
    const std::string& name = read_name();
    if (step.attributes.contains(name)) in_.fail(fmt::format("attribute '{}' occurs twice", name));
    step.attributes.set(name, read_attribute());
  }
  return step;
}

AttributeValue ProgramDecoder::read_attribute() {
  const auto list = [this](size_t entry_bytes, auto&& read) {
    std::vector<decltype(read())> values;
    const uint32_t count = in_.count(entry_bytes);
    values.reserve(count);
    for (uint32_t i = 0; i < count; ++i) values.push_back(read());
    return values;
  };
  const auto code = in_.get<uint8_t>();
  switch (static_cast<AttributeCode>(code)) {
    case AttributeCode::kInt:
      return in_.get<int64_t>();
    case AttributeCode::kFloat:
      return in_.get<float>();
    case AttributeCode::kString:
      return std::string(in_.text());
    case AttributeCode::kTensor:
      return constant(in_);
    case AttributeCode::kSparseTensor:
      return read_sparse();
    case AttributeCode::kType:
      return read_type();
    case AttributeCode::kInts:
      return list(8, [&] { return in_.get<int64_t>(); });
    case AttributeCode::kFloats:
      return list(4, [&] { return in_.get<float>(); });
    case AttributeCode::kStrings:
      return list(kMinText, [&] { return std::string(in_.text()); });
    case AttributeCode::kTensors:
      return list(4, [&] { return constant(in_); });
    case AttributeCode::kSparseTensors:
      return list(kMinSparse, [&] { return read_sparse(); });
    case AttributeCode::kTypes:
      return list(kMinType, [&] { return read_type(); });
  }
  in_.fail(fmt::format("there is no attribute kind {}", code));
}

SparseTensor ProgramDecoder::read_sparse() {
  SparseTensor sparse;
  sparse.values = constant(in_);
  sparse.indices = constant(in_);
  const uint32_t rank = in_.count(8);
  for (uint32_t i = 0; i < rank; ++i) sparse.shape.push_back(in_.get<int64_t>());
  const Shape& values = sparse.values.shape();
  const Shape& indices = sparse.indices.shape();
  const bool fits =
      sparse.values.is_defined() && sparse.indices.type() == DataType::kInt64 &&
      checked_element_count(sparse.shape) && values.size() == 1 && !indices.empty() &&
      indices[0] == values[0] &&
      (indices.size() == 1 ||
       (indices.size() == 2 && indices[1] == static_cast<int64_t>(sparse.shape.size())));
  if (!fits) in_.fail("a sparse tensor's values, indices and shape do not agree");
  return sparse;
}

ValueType ProgramDecoder::read_type(int depth) {
  if (depth >= kMaxTypeDepth) {
    in_.fail(fmt::format("a type is nested deeper than {} levels", kMaxTypeDepth));
  }
  ValueType type;
  type.kind = static_cast<ValueType::Kind>(
      in_.below(static_cast<unsigned>(ValueType::Kind::kMap) + 1, "type kind"));
  type.element = static_cast<DataType>(in_.below(kDataTypeCount, "element type"));
  if (in_.flag()) {
    Dims dims;
    const auto rank = in_.get<uint8_t>();
    for (int i = 0; i < rank; ++i) dims.push_back(read_dim());
    type.shape = std::move(dims);
  }
  if (in_.flag()) type.inner = std::make_shared<const ValueType>(read_type(depth + 1));
  return type;
}

Dim ProgramDecoder::read_dim() {
  switch (static_cast<DimCode>(in_.below(3, "dimension kind"))) {
    case DimCode::kUnknown:
      break;
    case DimCode::kKnown:
      return Dim(in_.get<int64_t>());
    case DimCode::kSymbol: {
      const auto number =
          static_cast<int32_t>(in_.index(static_cast<size_t>(symbols_) + 1, "symbol"));
      symbols_ = std::max(symbols_, number + 1);
      return Dim::expression(number);
    }
  }
  return Dim();
}

std::vector<int32_t> ProgramDecoder::read_indices() {
  std::vector<int32_t> indices(in_.count(4));
  for (int32_t& index : indices) index = in_.get<int32_t>();
  return indices;
}

ValueIds ProgramDecoder::read_ids() {
  ValueIds ids;
  const uint32_t count = in_.count(4);
  ids.reserve(count);
  for (uint32_t i = 0; i < count; ++i) ids.push_back(static_cast<ValueId>(in_.get<int32_t>()));
  return ids;
}

const Tensor& ProgramDecoder::constant(ByteReader& in) const {
  const auto number = in.get<uint32_t>();
  if (number == kNone) return undefined();
  if (number >= constants_.size()) {
    in.fail(fmt::format("constant {} does not exist, there are {}", number, constants_.size()));
  }
  return constants_[number];
}

namespace {
void read_names_of(ByteReader& in, Program& program) {
  for (ProgramBuffer& buffer : program.buffers) buffer.name = in.text();
  for (Node& step : program.steps) step.name = in.text();
  for (SubProgram& sub : program.subprograms) read_names_of(in, sub.program);
}
}  // namespace

void ProgramDecoder::decode_names(std::span<const std::byte> debug, Program& program) {
  ByteReader in(debug, "debug");
  read_names_of(in, program);
  in.expect_end();
}

}  // namespace sardonyx::artifact
