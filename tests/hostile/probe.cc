// Loads and runs models that may be bad, each in a process of its own, and reports what became of
// it: the tables of test_hostile.py say what should.
//
// Usage: hostile_probe < list
// A line of the list: LEVEL <tab> LIMIT <tab> FOLDER <tab> MODEL
//   LEVEL   none or all
//   LIMIT   memory_limit_bytes of the session, 0: none
//   FOLDER  empty: the model is loaded from its file; else from memory, with this folder for
//           external data ("-": none)
// A line of output: OUTCOME <tab> PEAK_KIB <tab> MILLISECONDS <tab> MESSAGE
//   OUTCOME  loaded (no run: an input is too large or no tensor), ran, load:CODE or run:CODE with
//            the name of an ErrorCode, exception, signal:N, exit:N, timeout
// Inputs are zeros; a dimension that is not fixed is 1.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "sardonyx/sardonyx.h"

namespace sardonyx {
namespace {

constexpr int64_t kMostInputElements = int64_t{1} << 20;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif
constexpr unsigned kSecondsToLive = kSanitized ? 120 : 30;
constexpr rlim_t kAddressSpaceBytes = rlim_t{768} << 20;  // the sanitizers need more for themselves

struct Task {
  std::string level, limit, folder, model;
};

struct Report {
  std::string outcome, message;
};

bool make_inputs(const Session& session, std::vector<Value>& values) {
  for (const ValueInfo& info : session.inputs()) {
    if (info.is_optional) {
      values.emplace_back();
      continue;
    }
    if (info.element_type == ElementType::kUndefined) return false;
    std::vector<int64_t> shape = info.shape;
    int64_t elements = 1;
    for (int64_t& dim : shape) {
      if (dim < 0) dim = 1;
      if (dim > kMostInputElements) return false;
      elements *= dim;
      if (elements > kMostInputElements) return false;
    }
    values.push_back(Value::tensor(info.element_type, shape));
  }
  return true;
}

Report try_model(const Task& task) {
  Options options;
  options.threads = 1;
  options.level = task.level == "none" ? OptimizationLevel::kNone : OptimizationLevel::kAll;
  options.memory_limit_bytes = std::strtoull(task.limit.c_str(), nullptr, 10);
  options.log_level = LogLevel::kOff;
  if (task.folder.size() > 1) options.external_data_folder = task.folder;
  const char* stage = "load:";
  try {
    std::string bytes;
    if (!task.folder.empty()) {
      std::ifstream file(task.model, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(file), {});
    }
    const Session session = task.folder.empty()
                                ? Session(std::filesystem::path(task.model), options)
                                : Session(std::as_bytes(std::span(bytes)), options);
    std::vector<Value> inputs;
    if (!make_inputs(session, inputs)) return {"loaded", ""};
    stage = "run:";
    session.run(inputs);
    return {"ran", ""};
  } catch (const Error& error) {
    return {std::string(stage) + to_string(error.code()), error.what()};
  } catch (const std::exception& error) {
    return {"exception", error.what()};
  }
}

// Control characters would break the line.
std::string one_line(std::string text) {
  for (char& each : text) {
    if (static_cast<unsigned char>(each) < 0x20) each = ' ';
  }
  return text;
}

// The rest of the stream.
std::string drain(int stream) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(stream, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

void put(int stream, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t put = ::write(stream, text.data() + done, text.size() - done);
    if (put <= 0) std::abort();
    done += static_cast<size_t>(put);
  }
}

std::string describe_end(int status, const std::string& said) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return number == SIGALRM ? "timeout\t" : "signal:" + std::to_string(number) + '\t';
  }
  // A leak shows only when the process ends.
  if (WEXITSTATUS(status) != 0) return "exit:" + std::to_string(WEXITSTATUS(status)) + '\t' + said;
  return said;
}

std::string probe(const Task& task) {
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) std::abort();
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe_ends[0]);
    ::alarm(kSecondsToLive);
    const rlimit limit = {kAddressSpaceBytes, kAddressSpaceBytes};
    if (!kSanitized) ::setrlimit(RLIMIT_AS, &limit);
    const Report report = try_model(task);
    put(pipe_ends[1], report.outcome + '\t' + one_line(report.message));
    std::exit(0);
  }
  ::close(pipe_ends[1]);
  const std::string said = drain(pipe_ends[0]);
  ::close(pipe_ends[0]);
  int status = 0;
  rusage usage = {};
  ::wait4(child, &status, 0, &usage);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  const std::string end = describe_end(status, said);
  const size_t tab = end.find('\t');
  return end.substr(0, tab) + '\t' + std::to_string(usage.ru_maxrss) + '\t' +
         std::to_string(static_cast<int64_t>(time.count())) + '\t' + end.substr(tab + 1);
}

int run() {
  std::ios::sync_with_stdio(false);
  Task task;
  while (std::getline(std::cin, task.level, '\t') && std::getline(std::cin, task.limit, '\t') &&
         std::getline(std::cin, task.folder, '\t') && std::getline(std::cin, task.model)) {
    std::cout << probe(task) << std::endl;  // flushed: a child must not inherit the rest
  }
  return 0;
}

}  // namespace
}  // namespace sardonyx

int main() { return sardonyx::run(); }
