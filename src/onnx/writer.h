// write_model(): a Model to an ONNX file, or to its bytes: the inverse of read_model(). Works on a
// graph as imported and on what passes made of it: values get names where they have none or share
// one. Nothing that the file said is lost, unknown fields of graphs, functions, nodes, attributes,
// tensors and descriptions of values included, with these differences of form: tensors are stored
// as raw_data, sparse initializers are dense, the domain "ai.onnx" is written "", a second
// description of an input or output is left out, and a declared type that says less than is known
// of the value by now is written anew. Needs sorted graphs that verify() accepts. Knows no
// operators. Called by session and tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/model.h"

namespace sardonyx {

struct WriteOptions {
  // Name of a file beside the model for the initializers of `external_threshold_bytes` and more.
  // Empty: everything lies in the model, unless it would grow over `max_model_bytes`; then a file
  // is used all the same and called as the model with ".data" behind.
  std::string external_data_file;
  int64_t external_threshold_bytes = 1024;
  int64_t alignment = 4096;  // of each tensor in the data file
  // What other readers can parse at most.
  int64_t max_model_bytes = (int64_t{1} << 31) - 1;

  // The version of the operator's schema that a node binds to under an import of its domain; 0 when
  // the operator is not known. Lets an opset import be raised when operators besides the new ones
  // stay what they are; without it, only when all nodes of the domain have the newest version.
  std::function<int(const Node& node, int64_t import_version)> bound_version;
};

// Throws Error(kInvalidArgument) for options that make no sense and for a model that is too large
// for one message, Error(kInvalidGraph) for a graph that verify() refuses or whose nodes fit no
// opset import.
std::vector<std::byte> write_model(const Model& model, const WriteOptions& options = {});

// Both files are complete on the disk before either takes its name, the data file first; on an
// error none is replaced. Two names cannot change in one step: a reader that comes between them, or
// a crash there, finds the old model beside the new data. The model's tensors may be views into the
// files that are replaced.
void write_model(const Model& model, const std::string& path, const WriteOptions& options = {});

}  // namespace sardonyx
