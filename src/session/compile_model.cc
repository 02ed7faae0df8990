#include "session/compile_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cpu.h"
#include "cpu/compile.h"
#include "onnx/reader.h"
#include "passes/pass.h"
#include "session/model_info.h"

namespace sardonyx {
namespace {

std::unique_ptr<Model> read(const ModelSource& source, const Options& options) {
  ReadOptions read_options;
  read_options.base_folder = options.external_data_folder.string();
  if (!source.in_memory) return read_model(source.path.string(), read_options);
  // The caller's bytes live until create returns, and nothing points into them after it.
  const std::shared_ptr<const void> borrowed(source.bytes.data(), [](const void*) {});
  return read_model(source.bytes, borrowed, read_options);
}

void check_cancelled(const Options& options) {
  if (options.cancel.is_cancelled()) {
    throw Error(ErrorCode::kModelLoadCanceled, "reading and optimising the model was cancelled");
  }
}

void report_progress(const Options& options, std::string_view stage, double done) {
  check_cancelled(options);
  if (options.progress) options.progress(stage, done);
}

PipelineOptions pipeline_options(const Options& options, Stage stage, double from, double to) {
  PipelineOptions pipeline;
  pipeline.stage = stage;
  pipeline.level = options.level;
  pipeline.disabled.insert(options.disabled_passes.begin(), options.disabled_passes.end());
  pipeline.max_edits = options.max_edits;
  pipeline.cancel = options.cancel.flag();
  if (options.progress) {
    pipeline.progress = [&options, from, to](std::string_view pass, int done, int total) {
      const double fraction = total > 0 ? static_cast<double>(done) / total : 1.0;
      options.progress(pass, from + (to - from) * fraction);
    };
  }
  return pipeline;
}

void make_private(Tensor& tensor) {
  if (tensor.is_defined() && !tensor.is_private()) tensor = tensor.clone();
}

void make_private(SparseTensor& tensor) {
  make_private(tensor.values);
  make_private(tensor.indices);
}

void make_private(AttributeValue& value) {
  std::visit(
      [](auto& any) {
        auto& held = unboxed(any);
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, SparseTensor>) {
          make_private(held);
        } else if constexpr (std::is_same_v<T, std::vector<Tensor>> ||
                             std::is_same_v<T, std::vector<SparseTensor>>) {
          for (auto& each : held) make_private(each);
        }
      },
      value);
}

// The source file or buffer is not needed after create, when someone may overwrite or truncate it:
// whatever still points into it is copied. (Graphs in attributes have become subprograms.)
void make_private(Program& program, const Options& options) {
  for (ProgramBuffer& buffer : program.buffers) {
    check_cancelled(options);
    if (buffer.kind == ProgramBuffer::Kind::kConstant) make_private(buffer.constant);
  }
  for (Node& step : program.steps) {
    for (auto& [name, value] : step.attributes) make_private(value);
  }
  for (SubProgram& sub : program.subprograms) make_private(sub.program, options);
}

}  // namespace

void check_pass_names(const std::vector<std::string>& names) {
  if (names.empty()) return;  // a compiled model starts sooner than all rules are made
  const std::vector<std::string> passes = pass_names(), lowering = cpu::lower_pass_names();
  const auto holds = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  for (const std::string& name : names) {
    if (holds(passes, name) || holds(lowering, name)) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("no pass or rule to disable is called '{}'; `sardonyx inspect` lists "
                            "those that changed a model",
                            name));
  }
}

CompiledModel compile_model(const ModelSource& source, const Options& options, Isa target,
                            const StageObserver& observer) {
  const auto observe = [&](std::string_view stage, const Model& model) {
    if (observer) observer(stage, model);
  };
  CompiledModel compiled;
  compiled.isa = target;
  check_pass_names(options.disabled_passes);
  report_progress(options, "read", 0.0);
  const std::unique_ptr<Model> model = read(source, options);
  report_progress(options, "resolve", 0.1);
  override_free_dimensions(*model->graph, options.free_dimensions);
  std::vector<ValueInfo> declared_outputs;
  for (ValueId id : model->graph->outputs()) {
    declared_outputs.push_back(value_info_of(*model->graph, id));
  }
  observe("imported", *model);
  compiled.imported = run_pipeline(*model, pipeline_options(options, Stage::kImported, 0.1, 0.2));
  compiled.metadata = metadata_of(*model);
  compiled.warnings = model->warnings;
  for (size_t i = 0; i < model->graph->inputs().size(); ++i) {
    ValueInfo info = value_info_of(*model->graph, model->graph->inputs()[i]);
    const Tensor& fallback = model->graph->input_default(i);
    info.is_optional = fallback.is_defined();
    compiled.defaults.push_back(fallback.is_defined() && !fallback.is_private() ? fallback.clone()
                                                                                : fallback);
    compiled.inputs.push_back(std::move(info));
  }

  compiled.canonical = run_pipeline(*model, pipeline_options(options, Stage::kCanonical, 0.2, 0.5));
  observe("canonical", *model);
  for (size_t i = 0; i < declared_outputs.size(); ++i) {
    compiled.outputs.push_back(merge_output_info(
        declared_outputs[i], value_info_of(*model->graph, model->graph->outputs()[i])));
  }

  cpu::CompileOptions cpu_options;
  cpu_options.isa = target;
  cpu_options.pipeline = pipeline_options(options, Stage::kFused, 0.5, 0.9);
  cpu_options.pipeline.edits_done = compiled.canonical.edits_done;
  cpu_options.observer = observer;
  compiled.program = cpu::compile(*model, cpu_options, compiled.fused);
  make_private(compiled.program, options);
  report_progress(options, "bind", 0.9);
  return compiled;
}

}  // namespace sardonyx
