#include "command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <iterator>

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
  verb.choice("--level", level, "How far the graph is optimised",
              {"none", "basic", "extended", "layout", "all"});
  verb.list("--disable", disabled, "Passes and rules to leave out; inspect lists them");
  verb.number("--max-edits", max_edits, "Stop optimising after N edits of the graph; -1: do not",
              -1);
  verb.repeatable("--dim", dimensions, "Fix a named dimension of the model (repeatable)",
                  "NAME=SIZE");
}

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
    options.free_dimensions[name] = parse_size(value, "--dim");
  }
  options.cancel = interrupt_token();
  return options;
}

Session open_session(const std::filesystem::path& model, const Options& options) {
  try {
    return Session(model, options);
  } catch (const Error& error) {
    const bool is_named = std::string(error.what()).find(model.string()) != std::string::npos;
    throw CommandError(kExitModel, is_named ? error : error.with_context(model.string()));
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
