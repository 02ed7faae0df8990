// What the parts of `sardonyx bench` share: arguments, clock, percentiles, and the numbers of one
// fresh process.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "command.h"
#include "inputs.h"

namespace sardonyx::cli {

struct BenchArguments {
  std::string model;
  int repeat = 5;  // fresh processes
  int runs = 0;    // hot; 0: as many as take about two seconds
  bool json = false;
  bool serve = false;
  int64_t spawned_at_ns = 0;  // set in a fresh process: when its parent started it
  SessionOptions session;
  InputOptions inputs;
};

// Of one process from its start to its second run.
struct ColdNumbers {
  double start_ms = 0;   // starting the process up to main: library load
  double create_ms = 0;  // reading the model up to a session
  double first_ms = 0;
  double second_ms = 0;
  int64_t peak_rss_bytes = 0;
};

// Milliseconds of CLOCK_MONOTONIC, the same clock in all processes.
inline double now_ms() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The p-th percentile (0 to 100) by linear interpolation; values in any order, not empty.
double percentile(std::vector<double> values, double p);

// Each field's median over `repeat` fresh processes of this command. Throws Error(kFail) with what
// a process wrote to stderr.
ColdNumbers measure_cold(int repeat);

// In a fresh process: measures, prints ColdNumbers as one line for measure_cold.
int run_cold_process(const BenchArguments& arguments);

// The most memory this process had at once; 0 where /proc does not say.
int64_t peak_rss_bytes();

}  // namespace sardonyx::cli
