// Compiles a model at the first start only, and runs it: each later start is hot.
//
// Usage: compile_once MODEL.onnx
//
// The compiled model lies beside the source, as MODEL_ctx.onnx and MODEL_CPUExecutionProvider.bin.
// It is made again when it is not the best one for this machine and this version of the library,
// and when the source is newer. Inputs are filled with ones; dimensions that the model leaves open
// are 1.

#include <sardonyx/compile.h>
#include <sardonyx/sardonyx.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// Milliseconds that `work` takes.
template <typename Work>
double time_ms(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

// Why the model must be compiled; empty when it need not be.
std::string reason_to_compile(const std::filesystem::path& model,
                              const std::filesystem::path& compiled) {
  if (!std::filesystem::exists(compiled)) return "it is not compiled yet";
  if (last_write_time(compiled) < last_write_time(model)) return "the source is newer";
  try {
    const sardonyx::Verdict verdict = sardonyx::check_compatibility(compiled);
    return verdict.compatibility == sardonyx::Compatibility::kOptimal ? "" : verdict.reason;
  } catch (const sardonyx::Error& error) {
    return error.what();  // not even a model
  }
}

sardonyx::Value ones(const sardonyx::ValueInfo& input) {
  if (input.kind != sardonyx::ValueKind::kTensor ||
      input.element_type != sardonyx::ElementType::kFloat) {
    throw std::invalid_argument("input '" + input.name + "' is " + input.type +
                                "; this example fills tensors of float only");
  }
  std::vector<int64_t> shape = input.shape;
  std::replace(shape.begin(), shape.end(), int64_t{-1}, int64_t{1});
  sardonyx::Value value = sardonyx::Value::tensor(sardonyx::ElementType::kFloat, shape);
  std::ranges::fill(value.as<float>(), 1.0f);
  return value;
}

void run(const std::filesystem::path& model) {
  std::filesystem::path compiled = model;
  compiled.replace_filename(model.stem().string() + "_ctx.onnx");
  const std::string reason = reason_to_compile(model, compiled);
  if (!reason.empty()) {
    sardonyx::CompileOptions options;
    options.overwrite = true;
    const double ms = time_ms([&] { sardonyx::compile(model, compiled, options); });
    std::printf("compile   %8.2f ms  (%s)\n", ms, reason.c_str());
  }

  std::vector<sardonyx::Value> inputs, outputs;
  const auto begin = std::chrono::steady_clock::now();
  const sardonyx::Session session(compiled);
  const std::chrono::duration<double, std::milli> create = std::chrono::steady_clock::now() - begin;
  std::printf("create    %8.2f ms\n", create.count());
  for (const sardonyx::ValueInfo& input : session.inputs()) inputs.push_back(ones(input));
  std::printf("first run %8.2f ms\n", time_ms([&] { outputs = session.run(inputs); }));
  std::printf("next run  %8.2f ms\n", time_ms([&] { outputs = session.run(inputs); }));
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::printf("output    %s: %lld elements\n", session.outputs()[i].name.c_str(),
                static_cast<long long>(outputs[i].size()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: compile_once MODEL.onnx\n");
    return 2;
  }
  try {
    run(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compile_once: %s\n", error.what());
    return 1;
  }
}
