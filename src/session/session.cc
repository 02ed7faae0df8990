#include "sardonyx/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>

#include "base/cpu.h"
#include "base/heap.h"
#include "exec/executor.h"
#include "onnx/reader.h"
#include "ops/resolve.h"
#include "session/compile_model.h"
#include "session/compiled_model.h"
#include "session/log.h"
#include "session/plan_report.h"
#include "session/prepared_shapes.h"
#include "session/value_access.h"
#include "session/weights_check.h"
#include "tensor/memory.h"

#ifndef SARDONYX_VERSION
#define SARDONYX_VERSION "0.0.0"
#endif

namespace sardonyx {
namespace {

using internal::ValueAccess;

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Every failure reaches the caller as an Error.
template <typename Call>
auto as_error(Call&& call) {
  try {
    return call();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kFail, "out of memory");
  } catch (const std::length_error& error) {
    throw Error(ErrorCode::kFail, fmt::format("out of memory: {}", error.what()));
  } catch (const std::exception& error) {
    throw Error(ErrorCode::kRuntimeException, error.what());
  }
}

// Is `tensor` what `info` says? Free dimensions take any size.
bool fits(const Tensor& tensor, const ValueInfo& info) {
  if (info.kind == ValueKind::kTensor) {
    if (tensor.type() != info.element_type) return false;
    if (!info.has_shape) return true;
    if (tensor.shape().size() != info.shape.size()) return false;
    for (size_t d = 0; d < info.shape.size(); ++d) {
      if (info.shape[d] >= 0 && info.shape[d] != tensor.shape()[d]) return false;
    }
    return true;
  }
  const DataType wanted = info.kind == ValueKind::kSequence ? kSequenceType : kOptionalType;
  if (info.item.empty() || tensor.type() != wanted) return false;
  const std::span<const Tensor> items = tensor.values<Tensor>();
  return std::all_of(items.begin(), items.end(),
                     [&](const Tensor& item) { return fits(item, info.item[0]); });
}

// Runs `call` with the session's memory; every failure leaves as an Error.
template <typename Call>
void with_memory_of(const std::shared_ptr<Allocator>& allocator, Call&& call) {
  const MemoryScope scope(allocator);
  as_error(call);
}

}  // namespace

const char* version() noexcept { return SARDONYX_VERSION; }
int64_t newest_ir_version() noexcept { return kNewestIrVersion; }
int64_t newest_opset() noexcept { return kNewestOpset; }

struct Session::Impl {
  using SmallList = std::vector<Tensor>;

  Impl(const ModelSource& source, const Options& options) : allocator(options.allocator) {
    with_memory_of(allocator, [&] { create(source, options); });
  }

  void create(const ModelSource& source, const Options& options) {
    if (options.threads < 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("options.threads is {}; expected 0 (all allowed cores) or more",
                              options.threads));
    }
    const Clock::time_point start = Clock::now();
    const Log log(options);
    std::optional<CompiledModel> loaded = load_compiled_model(source, options);
    CompiledModel compiled =
        loaded ? std::move(*loaded) : compile_model(source, options, best_isa());
    inputs = std::move(compiled.inputs);
    outputs = std::move(compiled.outputs);
    defaults = std::move(compiled.defaults);
    metadata = std::move(compiled.metadata);
    for (const std::string& warning : compiled.warnings) log.write(LogLevel::kWarning, warning);
    if (log.wants(LogLevel::kVerbose)) {
      for (const auto& [stage, report] :
           {std::pair("import", &compiled.imported), std::pair("canonical", &compiled.canonical),
            std::pair("fused and lowered", &compiled.fused)}) {
        log.write(LogLevel::kVerbose, fmt::format("passes, {}:\n{}", stage, report->print()));
      }
    }
    const size_t steps = compiled.program.steps.size();
    if (options.cancel.is_cancelled()) {
      throw Error(ErrorCode::kModelLoadCanceled, "session creation was cancelled");
    }
    pool = options.threads == 0 ? ThreadPool::of_process()
                                : std::make_shared<ThreadPool>(options.threads);
    threads = pool->threads();
    isa = compiled.isa;
    ExecutorOptions exec_options;
    exec_options.memory_limit_bytes = static_cast<int64_t>(options.memory_limit_bytes);
    executor =
        std::make_unique<Executor>(bind(std::move(compiled.program), isa), pool, exec_options);
    if (log.wants(LogLevel::kInfo)) {
      log.write(LogLevel::kInfo,
                fmt::format("{} nodes became {} steps in {:.1f} ms; kernels for {}, {} thread{}",
                            compiled.canonical.nodes_before, steps, milliseconds_since(start),
                            to_string(isa), threads, threads == 1 ? "" : "s"));
    }
    for (const std::vector<Shape>& shapes : compiled.shapes) prepare(shapes, log);
    if (loaded) {
      if (options.verify_compiled == VerifyCompiled::kBackground) {
        weights_check = std::make_unique<WeightsCheck>(std::move(compiled.weights), options);
      }
      is_verified = options.verify_compiled == VerifyCompiled::kFull;
    }
    if (options.progress) options.progress("ready", 1.0);
  }

  // Resolves the signature of these input shapes ahead of the first Run. Shapes that are too large
  // for this machine are none of its Runs' business until one asks for them.
  void prepare(const std::vector<Shape>& shapes, const Log& log) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      const std::string reason = why_not(inputs[i], shapes[i]);
      if (reason.empty()) continue;
      throw Error(ErrorCode::kFail, fmt::format("the compiled model is damaged: its input '{}' {}",
                                                inputs[i].name, reason));
    }
    try {
      executor->signature_for(stand_ins(inputs, shapes));
    } catch (const Error& error) {
      log.write(
          LogLevel::kWarning,
          fmt::format("input shapes of the compiled model are not prepared: {}", error.what()));
    }
  }

  Tensor checked_input(size_t i, const Value& value) const {
    const ValueInfo& info = inputs[i];
    if (!value.has_value()) {
      if (defaults[i].is_defined()) return defaults[i];
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("input '{}' ({}) was not given and has no default", info.name, info.type));
    }
    Tensor tensor = ValueAccess::unwrap(value);
    if (fits(tensor, info)) return tensor;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("input '{}': got {}, expected {}", info.name, internal::describe(value),
                            info.type));
  }

  SmallList checked_inputs(std::span<const Value> values) const {
    if (values.size() != inputs.size()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("got {} inputs, the model has {}", values.size(), inputs.size()));
    }
    SmallList tensors(values.size());
    for (size_t i = 0; i < values.size(); ++i) tensors[i] = checked_input(i, values[i]);
    return tensors;
  }

  void run(std::span<const Value> values, std::span<Value> results,
           const RunOptions& options) const {
    SmallList tensors_in = checked_inputs(values);
    if (results.size() != outputs.size()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("got {} outputs, the model has {}", results.size(), outputs.size()));
    }
    SmallList tensors_out(results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      if (const Tensor* given = ValueAccess::tensor_of(results[i])) tensors_out[i] = *given;
    }
    with_memory_of(allocator, [&] {
      executor->run(tensors_in, tensors_out, options.cancel.flag());
      if (weights_check != nullptr) weights_check->start();
      for (size_t i = 0; i < results.size(); ++i) {
        if (ValueAccess::tensor_of(results[i]) != nullptr) continue;
        results[i] = ValueAccess::wrap(std::move(tensors_out[i]).made_own());
      }
    });
  }

  size_t index_of(const std::vector<ValueInfo>& infos, const std::string& name,
                  const char* what) const {
    for (size_t i = 0; i < infos.size(); ++i) {
      if (infos[i].name == name) return i;
    }
    std::string known;
    for (const ValueInfo& info : infos) known += (known.empty() ? "'" : ", '") + info.name + "'";
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the model has no {} '{}'; it has {}", what, name, known));
  }

  const std::shared_ptr<Allocator> allocator;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<Tensor> defaults;
  ModelMetadata metadata;
  Isa isa = Isa::kBaseline;  // the row of its kernels
  int threads = 1;
  std::shared_ptr<ThreadPool> pool;
  std::unique_ptr<Executor> executor;
  bool is_verified = false;                     // all of it, when it was loaded
  std::unique_ptr<WeightsCheck> weights_check;  // last: it ends before what it may log about
};

PlanReport plan_of(const Session& session, std::span<const Value> inputs) {
  const Session::Impl& impl = session.impl();
  const std::shared_ptr<const Signature> signature =
      impl.executor->signature_for(impl.checked_inputs(inputs));
  return make_plan_report(impl.executor->bound(), *signature, impl.isa);
}

Session::Session(const std::filesystem::path& model, const Options& options)
    : impl_(as_error([&] { return std::make_unique<Impl>(ModelSource(model), options); })) {}

Session::Session(std::span<const std::byte> model, const Options& options)
    : impl_(as_error([&] { return std::make_unique<Impl>(ModelSource(model), options); })) {}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const std::vector<ValueInfo>& Session::inputs() const noexcept { return impl_->inputs; }
const std::vector<ValueInfo>& Session::outputs() const noexcept { return impl_->outputs; }
const ModelMetadata& Session::metadata() const noexcept { return impl_->metadata; }
int Session::threads() const noexcept { return impl_->threads; }

void Session::trim() const {
  impl_->executor->trim();
  if (impl_->allocator == nullptr) trim_heap();
}

size_t Session::arena_bytes() const noexcept {
  return static_cast<size_t>(impl_->executor->arena_bytes());
}

WeightsState Session::weights_state() const noexcept {
  if (impl_->weights_check != nullptr) return impl_->weights_check->state();
  return impl_->is_verified ? WeightsState::kIntact : WeightsState::kUnchecked;
}

std::vector<Value> Session::run(std::span<const Value> inputs, const RunOptions& options) const {
  std::vector<Value> results(impl_->outputs.size());
  impl_->run(inputs, results, options);
  return results;
}

std::vector<Value> Session::run(const std::map<std::string, Value>& inputs,
                                std::span<const std::string> outputs,
                                const RunOptions& options) const {
  std::vector<Value> ordered(impl_->inputs.size());
  for (const auto& [name, value] : inputs) {
    ordered[impl_->index_of(impl_->inputs, name, "input")] = value;
  }
  std::vector<size_t> wanted;
  for (const std::string& name : outputs) {
    wanted.push_back(impl_->index_of(impl_->outputs, name, "output"));
  }
  std::vector<Value> all(impl_->outputs.size());
  impl_->run(ordered, all, options);
  if (outputs.empty()) return all;
  std::vector<Value> results;
  for (size_t i : wanted) results.push_back(all[i]);
  return results;
}

void Session::run_into(std::span<const Value> inputs, std::span<Value> outputs,
                       const RunOptions& options) const {
  impl_->run(inputs, outputs, options);
}

}  // namespace sardonyx
