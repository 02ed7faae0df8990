// The cold road: bytes of an ONNX model -> imported graph -> resolved -> canonical -> the CPU's
// Program. Called by Session, and by the command line's inspection, which looks in at every stage.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "passes/pass.h"
#include "plan/program.h"
#include "sardonyx/session.h"

namespace sardonyx {

struct ModelSource {
  std::filesystem::path path;        // when not empty
  std::span<const std::byte> bytes;  // else
};

struct CompiledModel {
  Program program;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<Tensor> defaults;  // per input; undefined when the input must be given
  ModelMetadata metadata;
  std::vector<std::string> warnings;
  PipelineReport imported;   // what makes the file's graph ready for them: inlining, inference
  PipelineReport canonical;  // passes on portable operators
  PipelineReport fused;      // passes of the CPU provider
};

// "imported" (as the file says: functions are calls, nothing is inferred), "canonical", "fused",
// "lowered".
using StageObserver = std::function<void(std::string_view stage, const Model& model)>;

// Throws Error as Session's constructor does.
CompiledModel compile_model(const ModelSource& source, const Options& options,
                            const StageObserver& observer = {});

}  // namespace sardonyx
