#include "artifact/io_section.h"

#include <fmt/format.h>

#include "artifact/byte_reader.h"
#include "artifact/format.h"
#include "sardonyx/error.h"

namespace sardonyx::artifact {
namespace {

constexpr size_t kMinInfo = 21;
constexpr size_t kMinText = 4;

void put_info(ByteWriter& out, const ValueInfo& info, int depth = 0) {
  if (depth >= kMaxTypeDepth || info.item.size() > 1) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("a compiled model has no place for the type {}", info.type));
  }
  // A field added to ValueInfo must be stored too: this stops compiling then.
  const auto& [name, kind, element_type, has_shape, shape, symbols, item, type, is_optional] = info;
  out.text(name);
  out.put(kind);
  out.put(static_cast<uint8_t>(element_type));
  out.put(static_cast<uint8_t>(has_shape));
  out.put_count(shape.size());
  for (int64_t dim : shape) out.put(dim);
  out.put_count(symbols.size());
  for (const std::string& symbol : symbols) out.text(symbol);
  out.text(type);
  out.put(static_cast<uint8_t>(is_optional));
  out.put(static_cast<uint8_t>(item.size()));
  if (!item.empty()) put_info(out, item[0], depth + 1);
}

ValueInfo read_info(ByteReader& in, int depth = 0) {
  if (depth >= kMaxTypeDepth) {
    in.fail(fmt::format("a type is nested deeper than {} levels", kMaxTypeDepth));
  }
  ValueInfo info;
  info.name = in.text();
  info.kind = static_cast<ValueKind>(
      in.below(static_cast<unsigned>(ValueKind::kOptional) + 1, "kind of value"));
  info.element_type = static_cast<DataType>(in.below(kDataTypeCount, "element type"));
  info.has_shape = in.flag();
  info.shape.resize(in.count(8));
  for (int64_t& dim : info.shape) dim = in.get<int64_t>();
  info.symbols.resize(in.count(kMinText));
  for (std::string& symbol : info.symbols) symbol = in.text();
  if (info.symbols.size() != info.shape.size())
    in.fail("as many symbols as dimensions are expected");
  info.type = in.text();
  info.is_optional = in.flag();
  if (in.flag()) info.item.push_back(read_info(in, depth + 1));
  return info;
}

void put_infos(ByteWriter& out, const std::vector<ValueInfo>& infos) {
  out.put_count(infos.size());
  for (const ValueInfo& info : infos) put_info(out, info);
}

std::vector<ValueInfo> read_infos(ByteReader& in) {
  const uint32_t count = in.count(kMinInfo);
  std::vector<ValueInfo> infos;
  infos.reserve(count);
  for (uint32_t i = 0; i < count; ++i) infos.push_back(read_info(in));
  return infos;
}

void put_metadata(ByteWriter& out, const ModelMetadata& metadata) {
  const auto& [producer_name, producer_version, domain, graph_name, description, model_version,
               ir_version, opset_imports, custom] = metadata;
  for (const std::string* text :
       {&producer_name, &producer_version, &domain, &graph_name, &description}) {
    out.text(*text);
  }
  out.put(model_version);
  out.put(ir_version);
  out.put_count(opset_imports.size());
  for (const auto& [name, version] : opset_imports) {
    out.text(name);
    out.put(version);
  }
  out.put_count(custom.size());
  for (const auto& [key, value] : custom) {
    out.text(key);
    out.text(value);
  }
}

void read_metadata(ByteReader& in, ModelMetadata& metadata) {
  for (std::string* text : {&metadata.producer_name, &metadata.producer_version, &metadata.domain,
                            &metadata.graph_name, &metadata.description}) {
    *text = in.text();
  }
  metadata.model_version = in.get<int64_t>();
  metadata.ir_version = in.get<int64_t>();
  for (uint32_t left = in.count(kMinText + 8); left != 0; --left) {
    const std::string name(in.text());
    metadata.opset_imports[name] = in.get<int64_t>();
  }
  for (uint32_t left = in.count(2 * kMinText); left != 0; --left) {
    const std::string key(in.text());
    metadata.custom[key] = in.text();
  }
}

// What a Session checks by `info` is what the program relies on.
bool describes(const ValueInfo& info, const ValueType& type) {
  switch (info.kind) {
    case ValueKind::kTensor:
      return type.is_tensor() && type.element == info.element_type && info.item.empty();
    case ValueKind::kSequence:
    case ValueKind::kOptional:
      return type.kind == (info.kind == ValueKind::kSequence ? ValueType::Kind::kSequence
                                                             : ValueType::Kind::kOptional) &&
             type.inner != nullptr && info.item.size() == 1 && describes(info.item[0], *type.inner);
    case ValueKind::kNone:
      break;
  }
  return !type.is_tensor() && info.item.empty();
}

void check_fit(const CompiledPart& part, const ByteReader& in) {
  const Program& program = part.program;
  if (part.inputs.size() != program.inputs.size() ||
      part.outputs.size() != program.outputs.size()) {
    in.fail(fmt::format("{} inputs and {} outputs are described, the program has {} and {}",
                        part.inputs.size(), part.outputs.size(), program.inputs.size(),
                        program.outputs.size()));
  }
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    const ValueType& type = program.buffers[static_cast<size_t>(program.inputs[i])].type;
    const ValueInfo& info = part.inputs[i];
    if (!describes(info, type)) {
      in.fail(fmt::format("input '{}' is described as {}, the program takes another type",
                          info.name, info.type));
    }
    const Tensor& fallback = part.defaults[i];
    if (fallback.is_defined() &&
        (info.kind != ValueKind::kTensor || fallback.type() != info.element_type)) {
      in.fail(fmt::format("the default of input '{}' is a {}, expected {}", info.name,
                          name_of(fallback.type()), info.type));
    }
  }
}

}  // namespace

ByteWriter write_io(const CompiledPart& part, ConstantTable& constants) {
  ByteWriter out;
  put_infos(out, part.inputs);
  put_infos(out, part.outputs);
  for (const Tensor& fallback : part.defaults) out.put(constants.add(fallback));
  put_metadata(out, part.metadata);
  out.put_count(part.warnings.size());
  for (const std::string& warning : part.warnings) out.text(warning);
  return out;
}

void read_io(std::span<const std::byte> bytes, const ProgramDecoder& decoder, CompiledPart& part) {
  ByteReader in(bytes, "io");
  part.inputs = read_infos(in);
  part.outputs = read_infos(in);
  for (size_t i = 0; i < part.inputs.size(); ++i) part.defaults.push_back(decoder.constant(in));
  read_metadata(in, part.metadata);
  part.warnings.resize(in.count(kMinText));
  for (std::string& warning : part.warnings) warning = in.text();
  in.expect_end();
  check_fit(part, in);
}

void read_infos(std::span<const std::byte> bytes, CompiledPart& part) {
  ByteReader in(bytes, "io");
  part.inputs = read_infos(in);
  part.outputs = read_infos(in);
}

}  // namespace sardonyx::artifact
