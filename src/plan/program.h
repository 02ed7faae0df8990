// Program: a lowered graph flattened for execution, as plain data: buffers and steps, no pointers
// into the graph it came from. A step is a Node whose value ids are buffer indices. Made by the CPU
// provider on the cold road and by the artifact reader on the warm one; made executable by exec's
// bind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "tensor/tensor.h"

namespace sardonyx {

struct ProgramBuffer {
  enum class Kind : uint8_t { kIntermediate, kInput, kConstant };
  Kind kind = Kind::kIntermediate;
  ValueType type;
  Tensor constant;  // kConstant
  std::string name;
};

struct SubProgram;

struct Program {
  std::vector<ProgramBuffer> buffers;
  std::vector<Node> steps;       // in order; inputs and outputs are buffer indices
  std::vector<int32_t> inputs;   // buffer of each program input
  std::vector<int32_t> outputs;  // buffer of each program output; may repeat, may be an input
  std::vector<SubProgram> subprograms;  // of control-flow steps, by step

  Program();
  ~Program();
  Program(const Program&);
  Program& operator=(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
};

// A subgraph of a control-flow step. Its program's inputs are the subgraph's formal inputs, then
// what it captures.
struct SubProgram {
  int32_t step = 0;
  std::string attribute;          // "then_branch", "body", ...
  std::vector<int32_t> captures;  // buffers of the outer program
  Program program;
};

// Flattens a sorted graph. Values that nothing uses are left out.
Program make_program(const Graph& graph);

}  // namespace sardonyx
