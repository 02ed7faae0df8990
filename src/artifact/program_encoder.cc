#include "artifact/program_encoder.h"

#include <fmt/format.h>

#include <span>
#include <type_traits>
#include <variant>

#include "sardonyx/error.h"

namespace sardonyx::artifact {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidGraph, what + "; a compiled model has no place for it");
}

void put_ids(ByteWriter& out, std::span<const ValueId> ids) {
  out.put_count(ids.size());
  for (ValueId id : ids) out.put(static_cast<int32_t>(id));
}

void put_indices(ByteWriter& out, std::span<const int32_t> indices) {
  out.put_count(indices.size());
  for (int32_t index : indices) out.put(index);
}

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace

ProgramEncoder::ProgramEncoder(const Program& program) { put_program(program, 0); }

ByteWriter ProgramEncoder::program_section() const {
  ByteWriter out;
  out.put_count(names_.size());
  for (const std::string& name : names_) out.name(name);
  out.put_count(operators_.size());
  for (const auto& [domain, op, overload, version] : operators_) {
    out.put(domain);
    out.put(op);
    out.put(overload);
    out.put(version);
  }
  constants_.write(out);
  out.bytes(body_.view());
  return out;
}

void ProgramEncoder::put_program(const Program& program, int depth) {
  if (depth >= kMaxProgramDepth) {
    refuse(fmt::format("subgraphs are nested deeper than {} levels", kMaxProgramDepth));
  }
  body_.put_count(program.buffers.size());
  for (const ProgramBuffer& buffer : program.buffers) put_buffer(buffer);
  body_.put_count(program.steps.size());
  for (const Node& step : program.steps) put_step(step);
  put_indices(body_, program.inputs);
  put_indices(body_, program.outputs);
  body_.put_count(program.subprograms.size());
  for (const SubProgram& sub : program.subprograms) {
    body_.put(sub.step);
    body_.put(name_index(sub.attribute));
    put_indices(body_, sub.captures);
    put_program(sub.program, depth + 1);
  }
}

void ProgramEncoder::put_buffer(const ProgramBuffer& buffer) {
  body_.put(buffer.kind);
  put_type(buffer.type);
  if (buffer.kind == ProgramBuffer::Kind::kConstant) put_constant(buffer.constant);
  debug_.text(buffer.name);
}

void ProgramEncoder::put_step(const Node& step) {
  body_.put(operator_index(step));
  put_ids(body_, step.inputs);
  put_ids(body_, step.outputs);
  put_ids(body_, step.captures);
  if (step.attributes.size() > UINT8_MAX) {
    refuse(fmt::format("{} has {} attributes", describe(step), step.attributes.size()));
  }
  body_.put(static_cast<uint8_t>(step.attributes.size()));
  for (const Attributes::Entry& attribute : step.attributes) {
    try {
      put_attribute(attribute);
    } catch (const Error& error) {
      throw error.with_context(describe(step));
    }
  }
  debug_.text(step.name);
}

void ProgramEncoder::put_attribute(const Attributes::Entry& attribute) {
  body_.put(name_index(attribute.first));
  const auto one = [this](AttributeCode code) { body_.put(code); };
  const auto list = [this](AttributeCode code, size_t count) {
    body_.put(code);
    body_.put_count(count);
  };
  const Overloaded put{
      [&](int64_t value) {
        one(AttributeCode::kInt);
        body_.put(value);
      },
      [&](float value) {
        one(AttributeCode::kFloat);
        body_.put(value);
      },
      [&](const std::string& value) {
        one(AttributeCode::kString);
        body_.text(value);
      },
      [&](const std::vector<int64_t>& values) {
        list(AttributeCode::kInts, values.size());
        for (int64_t value : values) body_.put(value);
      },
      [&](const std::vector<float>& values) {
        list(AttributeCode::kFloats, values.size());
        for (float value : values) body_.put(value);
      },
      [&](const std::vector<std::string>& values) {
        list(AttributeCode::kStrings, values.size());
        for (const std::string& value : values) body_.text(value);
      },
      [&](const Tensor& value) {
        one(AttributeCode::kTensor);
        put_constant(value);
      },
      [&](const std::vector<Tensor>& values) {
        list(AttributeCode::kTensors, values.size());
        for (const Tensor& value : values) put_constant(value);
      },
      [&](const SparseTensor& value) {
        one(AttributeCode::kSparseTensor);
        put_sparse(value);
      },
      [&](const std::vector<SparseTensor>& values) {
        list(AttributeCode::kSparseTensors, values.size());
        for (const SparseTensor& value : values) put_sparse(value);
      },
      [&](const ValueType& value) {
        one(AttributeCode::kType);
        put_type(value);
      },
      [&](const std::vector<ValueType>& values) {
        list(AttributeCode::kTypes, values.size());
        for (const ValueType& value : values) put_type(value);
      },
      // Subgraphs are subprograms by now, and references are resolved.
      [&](const auto&) {
        refuse(fmt::format("attribute '{}' is a {}", attribute.first, kind_name(attribute.second)));
      },
  };
  std::visit([&](const auto& held) { put(unboxed(held)); }, attribute.second);
}

void ProgramEncoder::put_sparse(const SparseTensor& sparse) {
  put_constant(sparse.values);
  put_constant(sparse.indices);
  body_.put_count(sparse.shape.size());
  for (int64_t dim : sparse.shape) body_.put(dim);
}

void ProgramEncoder::put_type(const ValueType& type, int depth) {
  if (depth >= kMaxTypeDepth) {
    refuse(fmt::format("a type is nested deeper than {} levels", kMaxTypeDepth));
  }
  body_.put(type.kind);
  body_.put(static_cast<uint8_t>(type.element));
  body_.put(static_cast<uint8_t>(type.shape.has_value()));
  if (type.shape) {
    if (type.shape->size() > UINT8_MAX) {
      refuse(fmt::format("a value has {} dimensions", type.shape->size()));
    }
    body_.put(static_cast<uint8_t>(type.shape->size()));
    for (const Dim& dim : *type.shape) put_dim(dim);
  }
  body_.put(static_cast<uint8_t>(type.inner != nullptr));
  if (type.inner) put_type(*type.inner, depth + 1);
}

void ProgramEncoder::put_dim(const Dim& dim) {
  if (dim.is_unknown()) return body_.put(DimCode::kUnknown);
  body_.put(dim.is_known() ? DimCode::kKnown : DimCode::kSymbol);
  if (dim.is_known()) return body_.put(dim.value);
  // Numbered as they appear: which number an expression has in its table tells nothing.
  const auto next = static_cast<uint32_t>(symbols_.size());
  body_.put(symbols_.try_emplace(dim.expr, next).first->second);
}

uint32_t ProgramEncoder::name_index(const std::string& name) {
  const auto [it, fresh] = name_index_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (fresh) names_.push_back(name);
  return it->second;
}

uint32_t ProgramEncoder::operator_index(const Node& step) {
  const Operator key(name_index(step.domain), name_index(step.op), name_index(step.overload),
                     step.version);
  const auto [it, fresh] =
      operator_index_.try_emplace(key, static_cast<uint32_t>(operators_.size()));
  if (fresh) operators_.push_back(key);
  return it->second;
}

}  // namespace sardonyx::artifact
