// What the verbs of the command share: how they join the parser, exit codes, opening a session, and
// stopping on Ctrl-C. Each verb is one file, declare_<verb> its only entry.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "command_line.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {

// Documented in docs/cli.md and in the help.
enum ExitCode : int {
  kExitOk = 0,
  kExitFailure = 1,  // a run failed, or results differ
  kExitUsage = 2,    // the command line
  kExitModel = 3,    // the model cannot be loaded
  kExitInput = 4,    // an input cannot be read or does not fit the model
  kExitInterrupted = 130,
};

// An Error that knows the exit code it leads to; others lead to kExitFailure.
class CommandError : public Error {
 public:
  CommandError(ExitCode exit_code, const Error& error) : Error(error), exit_code_(exit_code) {}
  CommandError(ExitCode exit_code, ErrorCode code, const std::string& message)
      : Error(code, message), exit_code_(exit_code) {}
  ExitCode exit_code() const noexcept { return exit_code_; }

 private:
  ExitCode exit_code_;
};

void declare_inspect(Verb& verb);
void declare_run(Verb& verb);
void declare_bench(Verb& verb);
void declare_verify(Verb& verb);
void declare_ops(Verb& verb);
void declare_doctor(Verb& verb);
void declare_compile(Verb& verb);
void declare_check(Verb& verb);

// Options of the verbs that load models.
struct SessionOptions {
  int threads = 0;
  std::string level = "all";
  std::vector<std::string> disabled;
  int64_t max_edits = -1;
  std::vector<std::string> dimensions;  // name=value
  std::string verify_compiled = "background";
  std::string log_level;  // empty: SARDONYX_LOG_LEVEL, or warning
  bool progress = false;

  void declare(Verb& verb);
  // Without those that only runs need.
  void declare_loading(Verb& verb);
  // Throws CommandError(kExitUsage), also for wrong environment variables.
  Options make() const;
};

// Throws CommandError(kExitUsage) for environment variables that hold what they must not.
void check_environment(const Options& options = {});

// Errors become CommandError(kExitModel) that names the file, or kExitUsage for wrong options.
Session open_session(const std::filesystem::path& model, const Options& options);

// Session::run whose argument errors become CommandError(kExitInput).
std::vector<Value> run_session(const Session& session, const std::vector<Value>& inputs);

// "name=value" -> both parts; throws CommandError(kExitUsage) that names the option.
std::pair<std::string, std::string> split_assignment(const std::string& text, const char* option);

// A positive number or 0; throws CommandError(kExitUsage) that names the option.
int64_t parse_size(const std::string& text, const char* option);

// "1x3x224x224" or "scalar"; throws CommandError(kExitUsage) that names the option.
std::vector<int64_t> parse_shape(const std::string& text, const char* option);

// Set by Ctrl-C (SIGINT) and SIGTERM, once install_interrupt_handler was called; every session and
// run of the command gets it. A second signal ends the process at once.
CancelToken interrupt_token();
void install_interrupt_handler();

}  // namespace sardonyx::cli
