// ProgramDecoder: the bytes of PROGRAM and DEBUG back into a Program. The bytes are hostile; what
// comes out is in range, but not yet a well formed Program (see plan/verify_program.h). Called by
// read_artifact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "artifact/byte_reader.h"
#include "plan/program.h"

namespace sardonyx::artifact {

class ProgramDecoder {
 public:
  // Constants become views into both sections, which `owner` keeps alive and which start at
  // multiples of kConstantAlignment in memory.
  ProgramDecoder(std::span<const std::byte> program, std::span<const std::byte> weights,
                 std::shared_ptr<const void> owner);

  // Once. Throws Error(kFail) when the bytes make no sense.
  Program decode();
  // Gives buffers and steps the names that DEBUG holds. Throws like decode().
  static void decode_names(std::span<const std::byte> debug, Program& program);

  // The constant whose number comes next; an undefined tensor for kNone. After decode() for others.
  const Tensor& constant(ByteReader& in) const;

 private:
  struct Operator {
    uint32_t domain, op, overload;
    int32_t version;
  };

  void read_names();
  void read_operators();
  void read_constants();
  DataType read_constant_type();
  Tensor read_constant();
  Tensor read_strings(const Shape& shape, int64_t count);
  Tensor read_items(DataType type, const Shape& shape, int64_t count);
  Program read_program(int depth);
  ProgramBuffer read_buffer();
  Node read_step();
  AttributeValue read_attribute();
  SparseTensor read_sparse();
  ValueType read_type(int depth = 0);
  Dim read_dim();
  std::vector<int32_t> read_indices();
  ValueIds read_ids();
  const std::string& read_name() { return names_[in_.index(names_.size(), "name")]; }

  ByteReader in_;
  std::span<const std::byte> weights_;
  std::shared_ptr<const void> owner_;
  std::vector<std::string> names_;
  std::vector<Operator> operators_;
  std::vector<Tensor> constants_;
  int32_t symbols_ = 0;
};

}  // namespace sardonyx::artifact
