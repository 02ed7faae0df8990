// The cold half of `sardonyx bench`: the command starts itself several times with the same
// arguments and --spawned-at; each process measures its own start and prints one line.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

#include "bench.h"
#include "progress.h"

namespace sardonyx::cli {
namespace {

std::vector<std::string> own_arguments() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string text; std::getline(in, text, '\0');) arguments.push_back(text);
  return arguments;
}

Error system_error(const char* what) {
  return Error(ErrorCode::kFail,
               fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

// What the process writes to stdout; its stderr is this process's own.
std::string run_process(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& text : arguments) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("pipe");
  const pid_t child = fork();
  if (child < 0) throw system_error("fork");
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execv("/proc/self/exe", pointers.data());
    _exit(127);
  }
  close(ends[1]);
  std::string output;
  std::array<char, 256> buffer;
  ssize_t count;
  while ((count = read(ends[0], buffer.data(), buffer.size())) > 0 ||
         (count < 0 && errno == EINTR)) {
    if (count > 0) output.append(buffer.data(), static_cast<size_t>(count));
    if (interrupt_token().is_cancelled()) kill(child, SIGTERM);
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    throw CommandError(
        WIFEXITED(status) ? static_cast<ExitCode>(WEXITSTATUS(status)) : kExitFailure,
        ErrorCode::kFail, "a fresh process failed (its message is above)");
  }
  return output;
}

ColdNumbers parse(const std::string& line) {
  ColdNumbers numbers;
  std::istringstream in(line);
  in >> numbers.start_ms >> numbers.create_ms >> numbers.first_ms >> numbers.second_ms >>
      numbers.peak_rss_bytes;
  if (!in) throw Error(ErrorCode::kFail, "a fresh process printed: " + line);
  return numbers;
}

template <typename Field>
Field median_of(const std::vector<ColdNumbers>& all, Field ColdNumbers::*field) {
  std::vector<double> values;
  for (const ColdNumbers& one : all) values.push_back(static_cast<double>(one.*field));
  return static_cast<Field>(percentile(values, 50));
}

}  // namespace

int64_t peak_rss_bytes() {
  // Not getrusage: its figure survives exec and starts with the parent's.
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

ColdNumbers measure_cold(int repeat) {
  std::vector<ColdNumbers> all;
  for (int i = 0; i < repeat; ++i) {
    show_progress(fmt::format("process {} of {}", i + 1, repeat), static_cast<double>(i) / repeat);
    std::vector<std::string> arguments = own_arguments();
    arguments.push_back("--spawned-at");
    arguments.push_back(fmt::format("{}", static_cast<int64_t>(now_ms() * 1e6)));
    all.push_back(parse(run_process(std::move(arguments))));
    if (interrupt_token().is_cancelled()) throw Error(ErrorCode::kFail, "interrupted");
  }
  return {median_of(all, &ColdNumbers::start_ms), median_of(all, &ColdNumbers::create_ms),
          median_of(all, &ColdNumbers::first_ms), median_of(all, &ColdNumbers::second_ms),
          median_of(all, &ColdNumbers::peak_rss_bytes)};
}

int run_cold_process(const BenchArguments& arguments) try {
  ColdNumbers numbers;
  const double begin = now_ms();
  numbers.start_ms = begin - static_cast<double>(arguments.spawned_at_ns) / 1e6;
  const Session session = open_session(arguments.model, arguments.session.make());
  numbers.create_ms = now_ms() - begin;
  const std::vector<Value> inputs = make_inputs(session, arguments.inputs);
  for (double ColdNumbers::*field : {&ColdNumbers::first_ms, &ColdNumbers::second_ms}) {
    const double before = now_ms();
    run_session(session, inputs);
    numbers.*field = now_ms() - before;
  }
  numbers.peak_rss_bytes = peak_rss_bytes();
  fmt::print("{} {} {} {} {}\n", numbers.start_ms, numbers.create_ms, numbers.first_ms,
             numbers.second_ms, numbers.peak_rss_bytes);
  return kExitOk;
} catch (const Error&) {
  // The process that started this one says so.
  if (interrupt_token().is_cancelled()) return kExitInterrupted;
  throw;
}

}  // namespace sardonyx::cli
