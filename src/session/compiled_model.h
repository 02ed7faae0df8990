// The hot road: a compiled model -> Program, without source, passes or packing. Also what a verdict
// needs of one. Called by Session and the public compile.h.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "artifact/artifact.h"
#include "base/staged_file.h"
#include "onnx/ep_context.h"
#include "session/compile_model.h"

namespace sardonyx {

// Bytes of a model and what keeps them alive; null: the caller does, during the call.
struct ModelBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Maps the file. Throws as MappedFile::open.
ModelBytes open_model(const ModelSource& source);

// How the notes of an EPContext node begin; the identity of the compiled part that it was written
// with (artifact::identity_of) follows.
inline constexpr std::string_view kIdentityNote = "container=";

// The compiled part of an EPContext node.
struct CompiledFile {
  std::string path;  // of a file of its own; empty: in the model
  ModelBytes image;
};

// Throws Error(kInvalidGraph) for a location outside the model's folder, kNoSuchFile for a file
// that is missing, kInvalidArgument when the model is in memory and `folder` is empty, and as
// MappedFile::open.
CompiledFile open_compiled(const EpContextNode& node, const ModelSource& source,
                           const ModelBytes& model, const std::filesystem::path& folder);

// A model and a compiled part of another one.
struct NotTogether : Error {
  explicit NotTogether(const Error& error) : Error(error) {}
};

// While the two files are replaced they may be of two pairs: such a read is done again.
template <typename Read>
auto reading_pair(const ModelSource& source, const Read& read) {
  for (int attempt = 0; attempt < 3 && !source.in_memory; ++attempt) {
    try {
      return read();
    } catch (const NotTogether&) {
      StagedFile::wait_for_both(source.path.string());
    }
  }
  return read();
}

// Facets of the part, from its first page, which is checked, as is the size of the whole. `node` is
// null for a compiled file alone. Throws NotTogether (kFail) when the node was written with another
// part.
artifact::Facets read_facets(const EpContextNode* node, const ModelSource& source,
                             const CompiledFile& file);

// Throws Error(kNotImplemented) for a node that another provider compiled.
void check_providers(const EpContextModel& found);

// Throws Error when a node holds no part (kInvalidGraph), or something stands beside the nodes
// (kNotImplemented).
void check_nodes(const EpContextModel& found);

// One model of the parts of `found`; null: of a compiled file alone. Throws Error when they do not
// fit what the ONNX file says, or cannot run here. Metadata that no part tells is not set.
CompiledModel put_together(const EpContextModel* found, std::vector<artifact::CompiledPart> parts);

// nullopt when the source is no compiled model (or no model at all: reading it says so). Throws
// Error: kNotImplemented when another provider compiled it, kFail when it cannot run here or is
// damaged, and what the readers say.
std::optional<CompiledModel> load_compiled_model(const ModelSource& source, const Options& options);

}  // namespace sardonyx
