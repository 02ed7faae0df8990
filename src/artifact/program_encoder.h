// ProgramEncoder: a Program as the bytes of PROGRAM and DEBUG. Called by write_artifact, once per
// artifact; constants of other sections (defaults of inputs) join its table.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "artifact/byte_writer.h"
#include "artifact/constant_table.h"
#include "plan/program.h"

namespace sardonyx::artifact {

class ProgramEncoder {
 public:
  // Throws Error(kInvalidGraph) for what the format has no place for.
  explicit ProgramEncoder(const Program& program);

  ConstantTable& constants() { return constants_; }

  // After all constants are known.
  ByteWriter program_section() const;
  const ByteWriter& debug_section() const { return debug_; }

 private:
  void put_program(const Program& program, int depth);
  void put_buffer(const ProgramBuffer& buffer);
  void put_step(const Node& step);
  void put_attribute(const Attributes::Entry& attribute);
  void put_sparse(const SparseTensor& sparse);
  void put_type(const ValueType& type, int depth = 0);
  void put_dim(const Dim& dim);
  void put_constant(const Tensor& tensor) { body_.put(constants_.add(tensor)); }
  uint32_t name_index(const std::string& name);
  uint32_t operator_index(const Node& step);

  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> name_index_;
  using Operator =
      std::tuple<uint32_t, uint32_t, uint32_t, int32_t>;  // domain, op, overload, version
  std::vector<Operator> operators_;
  std::map<Operator, uint32_t> operator_index_;
  std::unordered_map<int32_t, uint32_t> symbols_;  // expression of a dim -> number
  ConstantTable constants_;
  ByteWriter body_;
  ByteWriter debug_;
};

}  // namespace sardonyx::artifact
