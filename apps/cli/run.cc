// sardonyx run: one or many runs of a model; results as a summary and as .npy files.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "command.h"
#include "elements.h"
#include "input_file.h"
#include "inputs.h"
#include "progress.h"
#include "tensor_file.h"
#include "text.h"

namespace sardonyx::cli {
namespace {

constexpr const char* kFooter = R"(
Runs once with --input and --random, or, with --input-list, many times in one session. A list is
  {"runs": [{"inputs": {"x": "a.npy", "mask": "m.npy"}, "output_dir": "out/a"}, ...]}
with paths relative to the list. A sequence is a folder of 0.npy, 1.npy and so on, also as an output;
in a list it may be ["a.npy", "b.npy"], and null an optional that holds nothing. An output's file is its name, with any character but letters,
digits, '.', '-' and '_' replaced by '_'.

A picture becomes [1,3,H,W] (or [1,H,W,3]; grey for one channel), resized to the input's height and
width where the model or --shape fixes them; an element is (pixel * scale - mean) / std.

Examples:
  sardonyx run model.onnx --random --seed 7 --shape x=1x3x48x320
  sardonyx run model.onnx --input x=x.npy --output-dir results
  sardonyx run model.onnx --input photo.jpg --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225)";

struct Arguments {
  std::string model;
  std::string output_folder;
  std::string list;
  SessionOptions session;
  InputOptions inputs;
};

std::string file_name_of(const std::string& output) {
  std::string name = output;
  for (char& c : name) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
    if (!is_plain) c = '_';
  }
  return name.empty() || name[0] == '.' ? "_" + name : name;
}

void write_outputs(const std::filesystem::path& folder, const Session& session,
                   const std::vector<Value>& outputs) {
  make_folder(folder);
  std::set<std::string> used;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string name = file_name_of(session.outputs()[i].name);
    if (!used.insert(name).second) {
      name += fmt::format(".{}", i);
      used.insert(name);
    }
    if (outputs[i].has_value()) write_value(folder, name, outputs[i]);
  }
}

void print_numbers(const Value& tensor) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  double sum = 0;
  size_t odd = 0;
  for (const double x : to_doubles(tensor)) {
    if (!std::isfinite(x)) ++odd;
    least = std::min(least, x);
    most = std::max(most, x);
    sum += x;
  }
  print("  min {:.6g}  max {:.6g}  mean {:.6g}", least, most,
        sum / static_cast<double>(tensor.size()));
  if (odd > 0) print("  ({} not finite)", odd);
}

// One line, and one for each tensor of a sequence.
void print_value(const std::string& name, const Value& value) {
  print("{}: {}", name, describe(value));
  if (value.kind() == ValueKind::kTensor && has_doubles(value.element_type()) && value.size() > 0) {
    print_numbers(value);
  }
  print("\n");
  if (value.kind() != ValueKind::kSequence && value.kind() != ValueKind::kOptional) return;
  const std::vector<Value> items = value.items();
  for (size_t i = 0; i < items.size(); ++i) {
    print_value(value.kind() == ValueKind::kOptional ? name : fmt::format("{}[{}]", name, i),
                items[i]);
  }
}

void print_summary(const Session& session, const std::vector<Value>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) print_value(session.outputs()[i].name, outputs[i]);
}

// Runs of --input-list.
struct ListedRun {
  std::map<std::string, std::string> inputs;  // name -> path
  std::filesystem::path output_folder;
};

// The text of --input for a file, a list of files, or null: nothing.
std::string join_paths(const std::filesystem::path& folder, const nlohmann::json& files) {
  if (files.is_null()) return "";
  if (!files.is_array()) return (folder / files.get<std::string>()).string();
  std::string text;
  for (const nlohmann::json& file : files) {
    text += (text.empty() ? "" : ",") + (folder / file.get<std::string>()).string();
  }
  return text;
}

std::string read_text(const std::filesystem::path& path) {
  try {
    InputFile in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  } catch (const Error& error) {
    throw CommandError(kExitInput, error);
  }
}

std::vector<ListedRun> read_list(const std::filesystem::path& path) {
  const std::string text = read_text(path);
  const std::filesystem::path folder = path.parent_path();
  std::vector<ListedRun> runs;
  try {
    const nlohmann::json list = nlohmann::json::parse(text);
    for (const nlohmann::json& entry : list.at("runs")) {
      ListedRun& run = runs.emplace_back();
      for (const auto& [name, file] : entry.at("inputs").items()) {
        run.inputs[name] = join_paths(folder, file);
      }
      const std::string output = entry.value("output_dir", "");
      if (!output.empty()) run.output_folder = folder / output;
    }
  } catch (const nlohmann::json::exception& error) {
    // The library's messages begin with "[json.exception.name.number] ".
    const std::string message = error.what();
    throw CommandError(
        kExitInput, ErrorCode::kInvalidArgument,
        fmt::format(R"({}: {}; expected {{"runs": [{{"inputs": {{"x": "a.npy"}}, )"
                    R"("output_dir": "out"}}, ...]}})",
                    path.string(),
                    message.substr(std::min(message.find("] ") + 2, message.size()))));
  }
  return runs;
}

std::vector<Value> run_once(const Session& session, const InputOptions& options) {
  const std::vector<Value> inputs = make_inputs(session, options);
  return run_with(session, options, [&] { return run_session(session, inputs); });
}

int run_list(const Session& session, const Arguments& arguments) {
  const std::vector<ListedRun> runs = read_list(arguments.list);
  for (size_t i = 0; i < runs.size(); ++i) {
    show_progress(fmt::format("run {} of {}", i + 1, runs.size()),
                  static_cast<double>(i) / static_cast<double>(runs.size()));
    InputOptions options = arguments.inputs;
    for (const auto& [name, path] : runs[i].inputs) {
      const size_t index = find_input(session, name);
      options.files.push_back(session.inputs()[index].name + "=" + path);
    }
    const std::vector<Value> outputs = run_once(session, options);
    clear_progress();
    print("run {}:\n", i);
    print_summary(session, outputs);
    if (!runs[i].output_folder.empty()) write_outputs(runs[i].output_folder, session, outputs);
  }
  return kExitOk;
}

int run(const Arguments& arguments) {
  const Session session = open_session(arguments.model, arguments.session.make());
  if (!arguments.list.empty()) return run_list(session, arguments);
  const std::vector<Value> outputs = run_once(session, arguments.inputs);
  clear_progress();
  print_summary(session, outputs);
  if (!arguments.output_folder.empty()) {
    write_outputs(arguments.output_folder, session, outputs);
  }
  return kExitOk;
}

}  // namespace

void declare_run(Verb& verb) {
  const auto arguments = std::make_shared<Arguments>();
  verb.positional("model", arguments->model, "The ONNX file");
  arguments->inputs.declare_files(verb);
  verb.flag("--random", arguments->inputs.random,
            "Fill inputs that are not given with random numbers");
  arguments->inputs.declare_random(verb);
  verb.text("--input-list", arguments->list, "A JSON file of runs, all in one session (see below)",
            "FILE");
  verb.text("--output-dir", arguments->output_folder,
            "Write each output there as .npy (types NumPy lacks: .pb)", "FOLDER");
  verb.excludes("--output-dir", "--input-list");
  arguments->session.declare(verb);
  verb.footer(kFooter);
  verb.action([arguments] { return run(*arguments); });
}

}  // namespace sardonyx::cli
