// How this Sardonyx was built and what it knows, for people.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/cpu.h"

namespace sardonyx {

struct BuildInfo {
  std::string version;
  std::string compiler;  // "GCC 12.2.0"
  std::string flags;     // "Release: -O2 -DNDEBUG"
  bool is_optimised = false;
  bool is_sanitized = false;
  std::vector<Isa> rows;  // of the kernel tables
  int64_t operators = 0;  // public ones, of all domains
  // By domain ("ai.onnx", ...): the last opset version that changed an operator.
  std::map<std::string, int64_t> newest_opsets;
};

BuildInfo build_info();

}  // namespace sardonyx
