// The part of `sardonyx inspect` that looks below the public interface: compiles a model and keeps
// counts and texts of its stages as plain data.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sardonyx/session.h"

namespace sardonyx::cli {

struct StageCounts {
  std::string name;                          // imported, canonical, fused, lowered
  std::map<std::string, int64_t> operators;  // "Conv", "com.example.Foo"; subgraphs included
};

struct PassRow {
  std::string stage;  // imported, canonical or fused
  std::string name;
  double milliseconds = 0;
  int64_t applied = 0;
  std::map<std::string, int64_t> rejected;  // reason -> count
};

struct Inspection {
  ModelMetadata metadata;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<StageCounts> stages;
  std::vector<PassRow> passes;
  std::string last_edit;  // with Options::max_edits: the last change of the graph
  std::vector<std::string> warnings;
  std::string graph_text;  // of the wanted stage
};

// graph_stage: "" or the stage whose graph is printed, with constants cut to max_elements (-1:
// not). Errors become CommandError(kExitModel).
Inspection inspect_model(const std::filesystem::path& path, const Options& options,
                         const std::string& graph_stage, int64_t max_elements);

}  // namespace sardonyx::cli
