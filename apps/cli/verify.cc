// sardonyx verify: runs the test data that lies beside a model and compares the outputs.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "command.h"
#include "compare.h"
#include "progress.h"
#include "tensor_file.h"
#include "text.h"

namespace sardonyx::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter = R"(
A folder holds model.onnx and test_data_set_*/input_N.pb, output_N.pb, as ONNX's own test suites do.
N counts the model's inputs and outputs; a missing input_N.pb leaves out an optional input.
Outputs must have the expected type and shape, and |result - expected| <= atol + rtol * |expected|.

Exit code 0: all equal; 1: something differs or failed, which the report says.

Example:
  sardonyx verify onnx/backend/test/data/pytorch-operator/* --threads 1)";

struct Arguments {
  std::vector<std::string> folders;
  std::string model_name = "model.onnx";
  Tolerance tolerance;
  SessionOptions session;
};

struct Totals {
  int checked = 0;
  int failed = 0;
};

void report(Totals& totals, bool is_good, const std::string& what, const std::string& detail) {
  ++totals.checked;
  if (!is_good) ++totals.failed;
  clear_progress();
  print("{:4}  {}: {}\n", is_good ? "ok" : "FAIL", what, detail);
}

std::vector<fs::path> data_sets(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const bool is_set = entry.path().filename().string().starts_with("test_data_set_");
    if (is_set && entry.is_directory()) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Value> read_numbered(const fs::path& set, const char* kind,
                                 const std::vector<ValueInfo>& infos) {
  std::vector<Value> values(infos.size());
  for (size_t i = 0; i < infos.size(); ++i) {
    const fs::path file = set / fmt::format("{}_{}.pb", kind, i);
    if (!fs::exists(file)) continue;
    values[i] = read_value(file, infos[i], [](const std::string& path, const ValueInfo& info) {
      return read_tensor(path, info.element_type);
    });
  }
  return values;
}

void verify_set(const Session& session, const fs::path& set, const Tolerance& tolerance,
                Totals& totals) {
  const std::string name = (set.parent_path().filename() / set.filename()).string();
  try {
    const std::vector<Value> inputs = read_numbered(set, "input", session.inputs());
    const std::vector<Value> expected = read_numbered(set, "output", session.outputs());
    const std::vector<Value> outputs = run_session(session, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const std::string what = fmt::format("{} {}", name, session.outputs()[i].name);
      if (!expected[i].has_value()) {
        report(totals, false, what, fmt::format("output_{}.pb is missing", i));
        continue;
      }
      const Comparison result = compare(outputs[i], expected[i], tolerance);
      report(totals, result.is_equal, what, result.summary);
    }
  } catch (const Error& error) {
    if (interrupt_token().is_cancelled()) throw;
    report(totals, false, name, fmt::format("{}: {}", to_string(error.code()), error.what()));
  }
}

void verify_folder(const fs::path& folder, const Arguments& arguments, const Options& options,
                   Totals& totals) {
  if (!fs::is_directory(folder)) {
    report(totals, false, folder.string(),
           fs::exists(folder) ? "is a file; give the folder that holds the model and its data"
                              : "no such folder");
    return;
  }
  const std::vector<fs::path> sets = data_sets(folder);
  if (sets.empty()) {
    report(totals, false, folder.string(), "holds no test_data_set_*");
    return;
  }
  try {
    const Session session = open_session(folder / arguments.model_name, options);
    for (const fs::path& set : sets) verify_set(session, set, arguments.tolerance, totals);
  } catch (const Error& error) {
    if (interrupt_token().is_cancelled()) throw;
    report(totals, false, folder.filename().string(),
           fmt::format("{}: {}", to_string(error.code()), error.what()));
  }
}

int verify(const Arguments& arguments) {
  Options options = arguments.session.make();
  Totals totals;
  for (size_t i = 0; i < arguments.folders.size(); ++i) {
    const std::string& folder = arguments.folders[i];
    options.progress = [&](std::string_view, double done) {
      show_progress(folder, (static_cast<double>(i) + done / 2) /
                                static_cast<double>(arguments.folders.size()));
    };
    // "path/" and "path" print the same name.
    const fs::path plain = fs::path(folder + "/").lexically_normal().parent_path();
    verify_folder(plain.empty() ? "." : plain, arguments, options, totals);
  }
  clear_progress();
  print("{} of {} equal\n", totals.checked - totals.failed, totals.checked);
  return totals.failed == 0 ? kExitOk : kExitFailure;
}

}  // namespace

void declare_verify(Verb& verb) {
  const auto arguments = std::make_shared<Arguments>();
  verb.positional("folder", arguments->folders, "Folders of a model and its data");
  verb.number("--rtol", arguments->tolerance.relative, "Relative tolerance", 0.0);
  verb.number("--atol", arguments->tolerance.absolute, "Absolute tolerance", 0.0);
  verb.text("--model", arguments->model_name, "The model's file in each folder", "NAME");
  arguments->session.declare(verb);
  verb.footer(kFooter);
  verb.action([arguments] { return verify(*arguments); });
}

}  // namespace sardonyx::cli
