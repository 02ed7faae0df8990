// sardonyx run: one or many runs of a model; results as a summary and as .npy files.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "command.h"
#include "elements.h"
#include "inputs.h"
#include "progress.h"
#include "tensor_file.h"

namespace sardonyx::cli {
namespace {

constexpr const char* kFooter = R"(
Runs once with --input and --random, or, with --input-list, many times in one session. A list is
  {"runs": [{"inputs": {"x": "a.npy", "mask": "m.npy"}, "output_dir": "out/a"}, ...]}
with paths relative to the list. An output's file is its name, with any character but letters,
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
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw Error(ErrorCode::kFail,
                fmt::format("cannot make folder {}: {}", folder.string(), error.message()));
  }
  std::set<std::string> used;
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::string name = file_name_of(session.outputs()[i].name);
    if (!used.insert(name).second) {
      name += fmt::format(".{}", i);
      used.insert(name);
    }
    if (outputs[i].has_value()) write_tensor(folder, name, outputs[i]);
  }
}

void print_summary(const Session& session, const std::vector<Value>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    fmt::print("{}: ", session.outputs()[i].name);
    if (!outputs[i].has_value()) {
      fmt::print("empty\n");
      continue;
    }
    fmt::print("{}", describe(outputs[i]));
    if (has_doubles(outputs[i].element_type()) && outputs[i].size() > 0) {
      double least = std::numeric_limits<double>::infinity();
      double most = -least;
      double sum = 0;
      size_t odd = 0;
      for (const double x : to_doubles(outputs[i])) {
        if (!std::isfinite(x)) ++odd;
        least = std::min(least, x);
        most = std::max(most, x);
        sum += x;
      }
      fmt::print("  min {:.6g}  max {:.6g}  mean {:.6g}", least, most,
                 sum / static_cast<double>(outputs[i].size()));
      if (odd > 0) fmt::print("  ({} not finite)", odd);
    }
    fmt::print("\n");
  }
}

// Runs of --input-list.
struct ListedRun {
  std::map<std::string, std::string> inputs;  // name -> path
  std::filesystem::path output_folder;
};

std::vector<ListedRun> read_list(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) {
    throw CommandError(kExitInput, ErrorCode::kNoSuchFile,
                       fmt::format("cannot read {}", path.string()));
  }
  const std::filesystem::path folder = path.parent_path();
  std::vector<ListedRun> runs;
  try {
    const nlohmann::json list = nlohmann::json::parse(in);
    for (const nlohmann::json& entry : list.at("runs")) {
      ListedRun& run = runs.emplace_back();
      for (const auto& [name, file] : entry.at("inputs").items()) {
        run.inputs[name] = (folder / file.get<std::string>()).string();
      }
      const std::string output = entry.value("output_dir", "");
      if (!output.empty()) run.output_folder = folder / output;
    }
  } catch (const nlohmann::json::exception& error) {
    throw CommandError(kExitInput, ErrorCode::kInvalidArgument,
                       fmt::format("{}: {}", path.string(), error.what()));
  }
  return runs;
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
    const std::vector<Value> outputs = run_session(session, make_inputs(session, options));
    clear_progress();
    fmt::print("run {}:\n", i);
    print_summary(session, outputs);
    if (!runs[i].output_folder.empty()) write_outputs(runs[i].output_folder, session, outputs);
  }
  return kExitOk;
}

int run(const Arguments& arguments) {
  const Session session = open_session(arguments.model, arguments.session.make());
  if (!arguments.list.empty()) return run_list(session, arguments);
  const std::vector<Value> outputs = run_session(session, make_inputs(session, arguments.inputs));
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
