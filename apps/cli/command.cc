#include "command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <iterator>

#include "base/cpu.h"
#include "model_file.h"
#include "progress.h"
#include "session/log.h"
#include "text.h"

namespace sardonyx::cli {
namespace {

constexpr std::pair<const char*, OptimizationLevel> kLevels[] = {
    {"none", OptimizationLevel::kNone},         {"basic", OptimizationLevel::kBasic},
    {"extended", OptimizationLevel::kExtended}, {"layout", OptimizationLevel::kLayout},
    {"all", OptimizationLevel::kAll},
};

CancelToken* g_interrupt = nullptr;

extern "C" void on_interrupt(int) { g_interrupt->cancel(); }

CommandError usage_error(const std::string& message) {
  return CommandError(kExitUsage, ErrorCode::kInvalidArgument, message);
}

}  // namespace

void SessionOptions::declare(Verb& verb) {
  verb.number("--threads", threads, "Threads of a run; 0: the cores this process may use", 0, 1024);
  verb.choice("--verify-compiled", verify_compiled,
              "When the weights of a compiled model are checked: after the first run, or before",
              {"off", "background", "full"});
  declare_loading(verb);
}

void SessionOptions::declare_loading(Verb& verb) {
  verb.choice("--level", level, "How far the graph is optimised",
              {"none", "basic", "extended", "layout", "all"});
  verb.list("--disable", disabled, "Passes and rules to leave out; inspect lists them");
  verb.number("--max-edits", max_edits, "Stop optimising after N edits of the graph; -1: do not",
              -1);
  verb.repeatable("--dim", dimensions, "Fix a named dimension of the model (repeatable)",
                  "NAME=SIZE");
  verb.choice("--log-level", log_level,
              "Least important lines that are logged to stderr; without it SARDONYX_LOG_LEVEL, or "
              "warning",
              {"verbose", "info", "warning", "error", "off"});
  verb.flag("--progress", progress,
            "Report progress on stderr; without it only when that is a terminal");
}

// Errors of the user's environment are no fault of a model.
void check_environment(const Options& options) {
  try {
    best_isa();
    log_level_of(options);
  } catch (const Error& error) {
    throw CommandError(kExitUsage, error);
  }
}

namespace {

void print_log_line(LogLevel level, std::string_view line) {
  clear_progress();
  // A table of passes has lines; other texts may quote names from a model.
  print_error("sardonyx: {}: {}\n", to_string(level),
              level == LogLevel::kVerbose ? lines(line) : one_line(line));
}

}  // namespace

Options SessionOptions::make() const {
  Options options;
  options.threads = threads;
  options.level = std::find_if(std::begin(kLevels), std::end(kLevels), [&](const auto& row) {
                    return level == row.first;
                  })->second;
  options.disabled_passes = disabled;
  options.max_edits = max_edits;
  for (const std::string& text : dimensions) {
    const auto [name, value] = split_assignment(text, "--dim");
    const int64_t size = parse_size(value, "--dim");
    if (options.free_dimensions.try_emplace(name, size).first->second != size) {
      throw usage_error(fmt::format("--dim fixes '{}' to {} and to {}; give it once", name,
                                    options.free_dimensions[name], size));
    }
  }
  options.verify_compiled = verify_compiled == "off"    ? VerifyCompiled::kOff
                            : verify_compiled == "full" ? VerifyCompiled::kFull
                                                        : VerifyCompiled::kBackground;
  options.cancel = interrupt_token();
  if (!log_level.empty()) options.log_level = parse_log_level(log_level);
  options.log = &print_log_line;
  if (progress) set_progress_mode(ProgressMode::kAlways);
  options.progress = [](std::string_view stage, double done) { show_progress(stage, done); };
  check_environment(options);
  return options;
}

Session open_session(const std::filesystem::path& model, const Options& options) {
  try {
    return Session(model, options);
  } catch (const Error& error) {
    throw model_error(model, error);
  }
}

std::vector<Value> run_session(const Session& session, const std::vector<Value>& inputs) {
  try {
    return session.run(inputs, RunOptions{interrupt_token()});
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInvalidArgument) throw CommandError(kExitInput, error);
    throw;
  }
}

std::pair<std::string, std::string> split_assignment(const std::string& text, const char* option) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    throw usage_error(fmt::format("{} wants NAME=VALUE, not '{}'", option, text));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

int64_t parse_size(const std::string& text, const char* option) {
  int64_t value = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 0) {
    throw usage_error(fmt::format("{}: '{}' is no size", option, text));
  }
  return value;
}

std::vector<int64_t> parse_shape(const std::string& text, const char* option) {
  std::vector<int64_t> shape;
  if (text == "scalar") return shape;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('x', at), text.size());
    shape.push_back(parse_size(text.substr(at, end - at), option));
    at = end + 1;
  }
  return shape;
}

CancelToken interrupt_token() {
  static CancelToken token;
  return token;
}

void install_interrupt_handler() {
  static CancelToken token = interrupt_token();
  g_interrupt = &token;
  struct sigaction handler = {};
  handler.sa_handler = &on_interrupt;
  handler.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &handler, nullptr);
  sigaction(SIGTERM, &handler, nullptr);
}

}  // namespace sardonyx::cli
