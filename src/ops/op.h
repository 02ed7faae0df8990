// OpDef: everything the runtime knows about one operator, as one constant row. Each operator has
// one file with its parameter struct, parse, emit, infer, prepare and this row; op_list.inc has one
// line per operator.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "ir/graph.h"
#include "ops/infer.h"
#include "ops/kernel.h"
#include "ops/schema.h"

namespace sardonyx {

struct OpVersion {
  int since;
  const char* schema;  // see ops/schema.h
};

enum OpTrait : uint32_t {
  kElementwise = 1u << 0,         // output[i] depends on the broadcast inputs at i only
  kCommutative = 1u << 1,         // inputs 0 and 1 may be swapped
  kZeroPreserving = 1u << 2,      // f(0) = 0 (all inputs zero)
  kNonDeterministic = 1u << 3,    // never folded or merged
  kDataDependentShape = 1u << 4,  // outputs are allocated in run
  kControlFlow = 1u << 5,         // holds subgraphs
  kView = 1u << 6,       // output 0 is input 0's bytes with another shape: may alias freely
  kNoFold = 1u << 7,     // constant folding leaves it alone
  kShapeOnly = 1u << 8,  // reads no input data at all, only types and shapes (Shape, Size)
};

inline constexpr std::string_view kInternalDomain = "ai.sardonyx";

struct OpDef {
  std::string_view domain;  // "" is ai.onnx
  std::string_view name;
  std::span<const OpVersion> versions;  // ascending `since`
  uint32_t traits = 0;
  // Bit i: input i's contents are needed by infer or resolve (shapes, axes, scales, ...).
  uint32_t value_inputs = 0;
  // Bit i: output 0 may be written over input i when both have the same size in bytes.
  uint32_t in_place = 0;
  void (*infer)(InferContext& context) = nullptr;
  std::unique_ptr<Kernel> (*prepare)(const PrepareContext& context) = nullptr;

  bool has(OpTrait trait) const { return (traits & trait) != 0; }
};

// All operators, in op_list.inc's order.
std::span<const OpDef* const> all_ops();

// nullptr when the operator is unknown. "ai.onnx" equals "".
const OpDef* find_op(std::string_view domain, std::string_view name);

// The schema version that an import of `opset` binds to: the highest `since` <= opset; nullptr when
// the operator came later. There is no upper bound.
const OpVersion* find_version(const OpDef& op, int64_t opset);

// Parsed schema of a version, kept for the life of the process. Thread safe.
const Schema& schema_of(const OpDef& op, int since);

}  // namespace sardonyx
