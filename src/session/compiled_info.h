// What a compiled model says about its compiled parts, for people. Called by the command line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sardonyx/compile.h"

namespace sardonyx {

struct CompiledSection {
  std::string name;  // "program", "weights", ...
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
};

struct CompiledPartInfo {
  std::string node;                       // of the ONNX file; empty for a compiled file alone
  std::string file;                       // "" when embedded
  std::string format;                     // "1.0"
  std::string target;                     // "avx2"
  std::vector<std::string> required_isa;  // levels without which it cannot run
  std::map<std::string, uint32_t> rows;   // kernel rows and their versions
  std::vector<CompiledSection> sections;
  std::string manifest;  // JSON
  Verdict verdict;
};

// One entry per compiled part of this provider; empty when the model is not compiled. Throws Error
// as loading does for parts that are missing or damaged, but not for one that cannot run here.
std::vector<CompiledPartInfo> describe_compiled(const ModelSource& source);

}  // namespace sardonyx
