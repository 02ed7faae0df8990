// Compiling ahead of time: a model becomes a compiled model, from which a Session starts without
// reading the source, running passes or packing weights. A compiled model is an ONNX file with one
// EPContext node; what was compiled lies in a file beside it, or inside it. It gives the same bits
// as the source model does on the machine it was compiled for. All failures are sardonyx::Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sardonyx/error.h"
#include "sardonyx/export.h"
#include "sardonyx/options.h"

namespace sardonyx {

// A model file, or its bytes, which the caller keeps alive during the call.
struct ModelSource {
  ModelSource(std::filesystem::path model) : path(std::move(model)) {}  // NOLINT: implicit
  ModelSource(const char* model) : path(model) {}                       // NOLINT: implicit
  ModelSource(const std::string& model) : path(model) {}                // NOLINT: implicit
  ModelSource(std::span<const std::byte> model) : bytes(model), in_memory(true) {}  // NOLINT

  std::filesystem::path path;
  std::span<const std::byte> bytes;
  bool in_memory = false;
};

struct CompileOptions {
  // How the model is read and optimised: level, disabled passes, free dimensions, folder of
  // external data, log, progress, cancel. What only a Session needs (threads, limits) is ignored.
  Options options;
  // The processors it is for: "native" (this one), "x86-64-v2" (SSE4), "x86-64-v3" (AVX2),
  // "x86-64-v4" (AVX-512) or "baseline" (any of this architecture).
  std::string target = "native";
  // The compiled part lies inside the ONNX file, which then may not grow over 2 GiB.
  bool embed = false;
  // Replace files that exist. Without it they are an error, before anything is compiled.
  bool overwrite = false;
  // Sets of input shapes by input name that a Session prepares when it is created, so that its
  // first Run with them is as fast as the next.
  std::vector<std::map<std::string, std::vector<int64_t>>> shapes;
};

struct CompileReport {
  std::filesystem::path model;     // the ONNX file; empty when it went to a sink
  std::filesystem::path compiled;  // the file beside it; empty when embedded
  uint64_t model_bytes = 0;        // of the ONNX file
  uint64_t compiled_bytes = 0;     // of the compiled part
  size_t nodes = 0;                // of the source model
  size_t steps = 0;                // of the compiled one
  double seconds = 0;
};

// Writes `output` and, unless embedded, "<name>_CPUExecutionProvider.bin" beside it, where <name>
// is the output's name without "_ctx.onnx" or extension. An empty `output` is "<model>_ctx.onnx"
// beside the model. Both files are complete before either takes its name. Errors: kInvalidArgument
// (no or existing output, unknown target, `shapes` of an unknown input or that no Run could have),
// kFail (an output cannot be written), kInvalidGraph (a model that
// is compiled already), kModelLoadCanceled, and those of Session's constructor.
SARDONYX_API CompileReport compile(const ModelSource& model,
                                   const std::filesystem::path& output = {},
                                   const CompileOptions& options = {});

// The same to a stream; always embedded. `sink` gets the bytes in order and may throw.
SARDONYX_API CompileReport compile_to(const ModelSource& model,
                                      const std::function<void(std::span<const std::byte>)>& sink,
                                      const CompileOptions& options = {});

// Whether a compiled model can be used here. Numbers equal OrtCompiledModelCompatibility.
enum class Compatibility : int {
  kNotApplicable = 0,        // not compiled, or by another provider
  kOptimal = 1,              // use it
  kPreferRecompilation = 2,  // it runs; compiling again would make it faster
  kUnsupported = 3,          // it cannot run here
};

SARDONYX_API const char* to_string(Compatibility compatibility) noexcept;  // "optimal", ...

struct Verdict {
  Compatibility compatibility = Compatibility::kUnsupported;
  std::string facet;   // which one decides: "format", "isa", "row", ...; empty when optimal
  std::string reason;  // a sentence for people; empty when optimal
};

// Judges a compiled model - the ONNX file, or the compiled file alone - without a Session and from
// its head and interface only, whatever its size. Loading does the same: kUnsupported is an error,
// kPreferRecompilation a warning. A compiled file beside the model that is missing, cut or another
// model's is kUnsupported (facet "container"); of a model in memory it is not looked for. Throws
// kNoSuchFile, kInvalidProtobuf and the like for what is no model.
SARDONYX_API Verdict check_compatibility(const ModelSource& model);

// Judges by the text under the metadata key "ep_compatibility_info.CPUExecutionProvider" alone, so
// that it can be fetched before the model. An empty text is kNotApplicable.
SARDONYX_API Verdict check_compatibility_info(std::string_view info);

}  // namespace sardonyx
