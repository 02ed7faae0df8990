// Loads and runs models that may be bad, some dozens in a process, and reports what became of each:
// the tables of test_hostile.py say what should. A model that ends its process is reported as that
// end, and the next one gets a fresh process.
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
//   PEAK_KIB, MILLISECONDS  of resident memory and of processor time, which do not depend on what
//            else the machine does; 0 where the process ended
// Inputs are zeros; a dimension that is not fixed is 1.
#include <malloc.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
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
constexpr int kProcessorSeconds = kSanitized ? 120 : 20;  // of a model
constexpr unsigned kSecondsToLive = 600;  // a model that waits for ever takes no processor time
// A model that harms the process without ending it may be blamed on the next ones; a leak is found
// when the process ends.
constexpr size_t kModelsPerProcess = kSanitized ? 1 : 64;
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

void put(int stream, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t put = ::write(stream, text.data() + done, text.size() - done);
    if (put <= 0) std::abort();
    done += static_cast<size_t>(put);
  }
}

int64_t processor_milliseconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const int64_t seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
  return seconds * 1000 + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

// The peak of resident memory becomes what is resident now.
void reset_peak() {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

int64_t peak_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib;
  }
  return 0;
}

void limit_time() {
  itimerval processor = {};
  processor.it_value.tv_sec = kProcessorSeconds;
  ::setitimer(ITIMER_PROF, &processor, nullptr);
  ::alarm(kSecondsToLive);
}

[[noreturn]] void try_models(std::span<const Task> tasks, int stream) {
  const rlimit limit = {kAddressSpaceBytes, kAddressSpaceBytes};
  if (!kSanitized) ::setrlimit(RLIMIT_AS, &limit);
  for (const Task& task : tasks) {
    limit_time();
    reset_peak();
    const int64_t begin = processor_milliseconds();
    const Report report = try_model(task);
    const int64_t spent = processor_milliseconds() - begin;
    put(stream, report.outcome + '\t' + std::to_string(peak_kib()) + '\t' + std::to_string(spent) +
                    '\t' + one_line(report.message) + '\n');
  }
  std::exit(0);
}

std::string describe_end(int status) {
  if (!WIFSIGNALED(status)) return "exit:" + std::to_string(WEXITSTATUS(status)) + "\t0\t0\t";
  const int number = WTERMSIG(status);
  if (number == SIGALRM || number == SIGPROF) return "timeout\t0\t0\t";
  return "signal:" + std::to_string(number) + "\t0\t0\t";
}

// Reports of the first tasks, at least one: all, or those up to the one that ended the process.
std::vector<std::string> probe(std::span<const Task> tasks) {
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child < 0) std::abort();
  if (child == 0) {
    ::close(pipe_ends[0]);
    try_models(tasks, pipe_ends[1]);
  }
  ::close(pipe_ends[1]);
  std::vector<std::string> reports(1);
  char buffer[4096];
  for (ssize_t got; (got = ::read(pipe_ends[0], buffer, sizeof(buffer))) > 0;) {
    for (const char each : std::string_view(buffer, static_cast<size_t>(got))) {
      if (each == '\n') {
        reports.emplace_back();
      } else {
        reports.back() += each;
      }
    }
  }
  ::close(pipe_ends[0]);
  reports.pop_back();  // what follows the last end of line
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) {
    if (reports.size() == tasks.size()) reports.pop_back();  // a leak, say
    reports.push_back(describe_end(status));
  }
  return reports;
}

int run() {
  std::ios::sync_with_stdio(false);
  std::vector<Task> tasks;
  Task task;
  while (std::getline(std::cin, task.level, '\t') && std::getline(std::cin, task.limit, '\t') &&
         std::getline(std::cin, task.folder, '\t') && std::getline(std::cin, task.model)) {
    std::replace(task.model.begin(), task.model.end(), '\1', '\n');
    tasks.push_back(task);
  }
  std::span<const Task> rest = tasks;
  while (!rest.empty()) {
    const std::vector<std::string> reports =
        probe(rest.first(std::min(rest.size(), kModelsPerProcess)));
    for (const std::string& report : reports) std::cout << report << '\n';
    std::cout.flush();  // a child must not inherit the rest
    rest = rest.subspan(reports.size());
  }
  return 0;
}

}  // namespace
}  // namespace sardonyx

int main() { return sardonyx::run(); }
