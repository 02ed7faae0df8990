// Session: a model made ready to run. Creating one loads, checks and optimises the model; `run` may
// be called from many threads at once. All failures are sardonyx::Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sardonyx/error.h"
#include "sardonyx/options.h"
#include "sardonyx/value.h"

namespace sardonyx {

// "0.1.0"
SARDONYX_API const char* version() noexcept;

// The newest ir_version of a file, and the newest opset of the default domain, that are known in
// full. A newer model loads, with a warning, when it uses nothing that they lack.
SARDONYX_API int64_t newest_ir_version() noexcept;
SARDONYX_API int64_t newest_opset() noexcept;

// What a model says about one of its inputs or outputs.
struct ValueInfo {
  std::string name;
  ValueKind kind = ValueKind::kNone;                   // kNone: a type that cannot run
  ElementType element_type = ElementType::kUndefined;  // of a tensor
  bool has_shape = false;                              // of a tensor; false: rank unknown
  std::vector<int64_t> shape;                          // -1: not fixed
  std::vector<std::string> symbols;  // name of a dimension that is not fixed, "" if it has none
  std::vector<ValueInfo> item;       // one: what a sequence or optional holds; without a name
  std::string type;                  // as text: "float[batch,3,224,224]", "seq(float[?,3])"
  bool is_optional = false;          // an input with a default value
};

struct ModelMetadata {
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  std::string graph_name;
  std::string description;
  int64_t model_version = 0;
  int64_t ir_version = 0;
  std::map<std::string, int64_t> opset_imports;
  std::map<std::string, std::string> custom;
};

// What is known of the weights of a compiled model.
enum class WeightsState : int {
  kUnchecked,  // not checked yet, not to be checked, or not a compiled model
  kIntact,
  kDamaged,
};

class SARDONYX_API Session {
 public:
  // From a file. Errors: kNoSuchFile, kInvalidProtobuf, kInvalidGraph, kNotImplemented (an operator
  // or type that has no kernel), kModelLoadCanceled.
  explicit Session(const std::filesystem::path& model, const Options& options = {});
  // From memory, which is not needed after the constructor returns.
  explicit Session(std::span<const std::byte> model, const Options& options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::vector<ValueInfo>& inputs() const noexcept;
  const std::vector<ValueInfo>& outputs() const noexcept;
  const ModelMetadata& metadata() const noexcept;
  // Threads that a Run uses.
  int threads() const noexcept;

  // Runs with one Value per model input, in order (an empty Value takes an optional input's
  // default); returns one Value per model output, with memory of its own. Errors: kInvalidArgument
  // (count, kind, type, rank or dimension of an input; names what was given and expected), kFail (a
  // kernel or memory).
  std::vector<Value> run(std::span<const Value> inputs, const RunOptions& options = {}) const;

  // The same by name; `outputs` empty: all, in the model's order.
  std::vector<Value> run(const std::map<std::string, Value>& inputs,
                         std::span<const std::string> outputs = {},
                         const RunOptions& options = {}) const;

  // Writes results into the caller's Values: a non-empty tensor must have the output's type and
  // shape (else kInvalidArgument; nothing is written) and is written in place; anything else is
  // replaced. An output may lie over an input: it is written when the input is no longer needed.
  // Two outputs must not share bytes (kInvalidArgument).
  void run_into(std::span<const Value> inputs, std::span<Value> outputs,
                const RunOptions& options = {}) const;

  // Gives memory back that is kept for later Runs: arenas and buffers of outputs that nobody holds.
  // The next Run allocates anew. May be called at any time, also while Runs are under way, which
  // keep what they use.
  void trim() const;

  // Bytes of the arena that one Run with the last seen shapes uses; 0 before the first Run.
  size_t arena_bytes() const noexcept;

  // What the check that Options::verify_compiled asks for has found so far.
  WeightsState weights_state() const noexcept;

  struct Impl;
  const Impl& impl() const noexcept { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace sardonyx
