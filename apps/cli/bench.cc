// sardonyx bench: cold numbers from fresh processes, hot percentiles from one.

#include "bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

#include "progress.h"
#include "text.h"

namespace sardonyx::cli {
namespace {

constexpr const char* kFooter = R"(
Inputs are random (see --shape, --seed), or files. Cold: each of --repeat fresh processes loads the
library, creates a session and runs twice, with the files in the page cache; medians are reported.
Hot: one process, after three runs that are not counted.

--serve measures on demand, for comparisons that take turns: for each line N on standard input it
runs N times and answers with a JSON list of milliseconds on one line.

Examples:
  sardonyx bench model.onnx --threads 1 --shape x=1x3x224x224
  sardonyx bench model.onnx --json > numbers.json)";

constexpr int kWarmUpRuns = 3;
constexpr double kHotBudgetMs = 2000;
constexpr double kPercentiles[] = {10, 50, 90, 95, 99};

std::vector<double> time_runs(const Session& session, const std::vector<Value>& inputs, int runs) {
  std::vector<double> times;
  times.reserve(static_cast<size_t>(runs));
  for (int i = 0; i < runs; ++i) {
    if (interrupt_token().is_cancelled()) throw Error(ErrorCode::kFail, "interrupted");
    show_progress(fmt::format("hot run {} of {}", i + 1, runs), static_cast<double>(i) / runs);
    const double before = now_ms();
    run_session(session, inputs);
    times.push_back(now_ms() - before);
  }
  return times;
}

int serve(const Session& session, const std::vector<Value>& inputs) {
  print("ready\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    const int64_t runs = parse_size(line, "a line of --serve");
    const std::vector<double> times =
        time_runs(session, inputs, static_cast<int>(std::min<int64_t>(runs, 1 << 20)));
    fmt::print("{}\n", nlohmann::json(times).dump());
    std::fflush(stdout);
  }
  if (interrupt_token().is_cancelled()) throw Error(ErrorCode::kFail, "interrupted");
  return kExitOk;
}

std::vector<double> measure_hot(const Session& session, const std::vector<Value>& inputs,
                                int runs) {
  const std::vector<double> warm_up = time_runs(session, inputs, kWarmUpRuns);
  if (runs == 0) {
    const double guess = *std::min_element(warm_up.begin(), warm_up.end());
    runs = static_cast<int>(std::clamp(kHotBudgetMs / std::max(guess, 1e-3), 10.0, 10000.0));
  }
  return time_runs(session, inputs, runs);
}

nlohmann::ordered_json as_json(const BenchArguments& arguments, int threads,
                               const ColdNumbers& cold, const std::vector<double>& hot) {
  nlohmann::ordered_json result;
  result["model"] = arguments.model;
  result["version"] = version();
  result["threads"] = threads;
  result["level"] = arguments.session.level;
  if (arguments.repeat > 0) {
    result["cold"] = {{"processes", arguments.repeat},   {"start_ms", cold.start_ms},
                      {"create_ms", cold.create_ms},     {"first_run_ms", cold.first_ms},
                      {"second_run_ms", cold.second_ms}, {"peak_rss_bytes", cold.peak_rss_bytes}};
  }
  nlohmann::ordered_json& row = result["hot"];
  row["runs"] = hot.size();
  for (const double p : kPercentiles) row[fmt::format("p{:.0f}_ms", p)] = percentile(hot, p);
  return result;
}

void print_table(const BenchArguments& arguments, int threads, const ColdNumbers& cold,
                 const std::vector<double>& hot) {
  print("{}: {} thread{}, level {}\n", arguments.model, threads, threads == 1 ? "" : "s",
        arguments.session.level);
  if (arguments.repeat > 0) {
    print("cold, median of {} processes\n", arguments.repeat);
    print("  process start and library load {:10.2f} ms\n", cold.start_ms);
    print("  session creation               {:10.2f} ms\n", cold.create_ms);
    print("  first run                      {:10.2f} ms\n", cold.first_ms);
    print("  second run                     {:10.2f} ms\n", cold.second_ms);
    print("  peak memory                    {:10.1f} MiB\n",
          static_cast<double>(cold.peak_rss_bytes) / (1 << 20));
  }
  print("hot, {} runs\n ", hot.size());
  for (const double p : kPercentiles) print(" p{:.0f} {:.3f} ms ", p, percentile(hot, p));
  print("\n");
}

int bench(BenchArguments arguments) {
  arguments.inputs.random = true;
  if (arguments.spawned_at_ns != 0 || arguments.serve) {
    // It would be measured.
    arguments.session.progress = false;
    set_progress_mode(ProgressMode::kNever);
  }
  if (arguments.spawned_at_ns != 0) return run_cold_process(arguments);
  const Session session = open_session(arguments.model, arguments.session.make());
  const std::vector<Value> inputs = make_inputs(session, arguments.inputs);
  if (arguments.serve) return serve(session, inputs);
  const std::vector<double> hot = run_with(
      session, arguments.inputs, [&] { return measure_hot(session, inputs, arguments.runs); });
  ColdNumbers cold;
  if (arguments.repeat > 0) cold = measure_cold(arguments.repeat);
  clear_progress();
  if (arguments.json) {
    fmt::print("{}\n", as_json(arguments, session.threads(), cold, hot).dump(2));
  } else {
    print_table(arguments, session.threads(), cold, hot);
  }
  return kExitOk;
}

}  // namespace

double percentile(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const double at = p / 100 * static_cast<double>(values.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, values.size() - 1);
  return std::lerp(values[low], values[high], at - static_cast<double>(low));
}

void declare_bench(Verb& verb) {
  const auto arguments = std::make_shared<BenchArguments>();
  verb.positional("model", arguments->model, "The ONNX file");
  verb.number("--repeat", arguments->repeat, "Fresh processes for the cold numbers; 0: none", 0,
              1000);
  verb.number("--runs", arguments->runs, "Hot runs; 0: as many as take about two seconds", 0,
              1000000);
  verb.flag("--json", arguments->json, "Print JSON");
  verb.flag("--serve", arguments->serve, "Answer requests on standard input (see below)");
  verb.hidden("--spawned-at", arguments->spawned_at_ns);
  arguments->inputs.declare_files(verb);
  arguments->inputs.declare_random(verb);
  arguments->session.declare(verb);
  verb.footer(kFooter);
  verb.action([arguments] { return bench(*arguments); });
}

}  // namespace sardonyx::cli
