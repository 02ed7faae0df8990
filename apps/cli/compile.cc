// sardonyx compile: a model becomes a compiled model, which starts in milliseconds.

#include "sardonyx/compile.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "command.h"
#include "model_file.h"
#include "progress.h"
#include "text.h"

namespace sardonyx::cli {
namespace {

constexpr const char* kFooter = R"(
Writes OUTPUT (model_ctx.onnx beside the model when -o is not given), a valid ONNX file, and beside
it the compiled part, model_CPUExecutionProvider.bin. The two belong together. run, bench, inspect
and Session take OUTPUT as they take a model; its results have the same bits.

Targets: native, baseline, x86-64-v2 (SSE4), x86-64-v3 (AVX2), x86-64-v4 (AVX-512).

Examples:
  sardonyx compile model.onnx
  sardonyx compile model.onnx -o server/model_ctx.onnx --target x86-64-v3 --overwrite
  sardonyx compile model.onnx --embed --shape x=1x3x224x224)";

struct Arguments {
  std::string model;
  std::string output;
  std::string target = "native";
  std::vector<std::string> shapes;
  bool embed = false;
  bool overwrite = false;
  bool json = false;
  SessionOptions session;
};

bool is_readable(const std::string& path) { return std::ifstream(path).is_open(); }

int compile_model(const Arguments& arguments) {
  CompileOptions options;
  options.options = arguments.session.make();
  options.target = arguments.target;
  options.embed = arguments.embed;
  options.overwrite = arguments.overwrite;
  for (const std::string& text : arguments.shapes) {
    const auto [name, shape] = split_assignment(text, "--shape");
    if (options.shapes.empty() || options.shapes.back().contains(name)) {
      options.shapes.emplace_back();
    }
    options.shapes.back()[name] = parse_shape(shape, "--shape");
  }
  CompileReport report;
  try {
    report = compile(arguments.model, arguments.output, options);
  } catch (const Error& error) {
    // Of a model that can be opened, reading and optimising end in other codes.
    const bool is_output = error.code() == ErrorCode::kFail && is_readable(arguments.model);
    if (is_output) throw CommandError(kExitFailure, error);
    throw model_error(arguments.model, error);
  }
  clear_progress();
  if (arguments.json) {
    nlohmann::ordered_json result;
    result["model"] = report.model.string();
    if (!report.compiled.empty()) result["compiled"] = report.compiled.string();
    result["model_bytes"] = report.model_bytes;
    result["compiled_bytes"] = report.compiled_bytes;
    result["nodes"] = report.nodes;
    result["steps"] = report.steps;
    result["seconds"] = report.seconds;
    fmt::print("{}\n", result.dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
    return kExitOk;
  }
  print("{}  {} bytes{}\n", report.model.string(), report.model_bytes,
        report.compiled.empty() ? ", the compiled part inside" : "");
  if (!report.compiled.empty()) {
    print("{}  {} bytes\n", report.compiled.string(), report.compiled_bytes);
  }
  print("{} nodes became {} steps in {:.2f} s\n", report.nodes, report.steps, report.seconds);
  return kExitOk;
}

}  // namespace

void declare_compile(Verb& verb) {
  const auto arguments = std::make_shared<Arguments>();
  verb.positional("model", arguments->model, "The ONNX file");
  verb.text("-o,--output", arguments->output, "The compiled model to write", "FILE");
  verb.flag("--embed", arguments->embed, "Put the compiled part into the ONNX file");
  verb.flag("--overwrite", arguments->overwrite, "Replace files that exist");
  verb.text("--target", arguments->target, "The processors it is for", "TARGET");
  verb.repeatable("--shape", arguments->shapes,
                  "Shape of an input to prepare for (repeatable; a repeated input begins another "
                  "set)",
                  "NAME=SHAPE");
  verb.flag("--json", arguments->json, "Print JSON");
  arguments->session.declare_loading(verb);
  verb.footer(kFooter);
  verb.action([arguments] { return compile_model(*arguments); });
}

}  // namespace sardonyx::cli
