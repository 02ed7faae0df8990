// The `sardonyx` command: parses the command line, runs one verb, turns errors into one line on
// stderr and an exit code.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "command.h"
#include "progress.h"
#include "text.h"

namespace sardonyx::cli {
namespace {

constexpr const char* kFooter = R"(
Exit codes:
  0    success
  1    a run failed, or results differ (verify)
  2    wrong use of the command line
  3    the model cannot be loaded
  4    an input cannot be read or does not fit the model
  130  interrupted

Examples:
  sardonyx inspect model.onnx
  sardonyx run model.onnx --random --shape x=1x3x224x224
  sardonyx run model.onnx --input x=photo.jpg --output-dir results
  sardonyx bench model.onnx --threads 1 --runs 100
  sardonyx compile model.onnx
  sardonyx verify path/to/onnx/test_relu
  sardonyx doctor

Environment:
  SARDONYX_MAX_ISA    scalar|sse4|avx2|avx512: use no newer instructions than these
  SARDONYX_LOG_LEVEL  verbose|info|warning|error|off: as --log-level, which wins
  SARDONYX_EXTRAS     the file of libsardonyx_extras.so, which reads pictures

`sardonyx VERB --help` says more. See also docs/cli.md.)";

int report(const Error& error, int exit_code) {
  clear_progress();
  if (interrupt_token().is_cancelled()) {
    print_error("sardonyx: interrupted\n");
    return kExitInterrupted;
  }
  print_error("sardonyx: {}: {}\n", to_string(error.code()), one_line(error.what()));
  return exit_code;
}

int run_action(const std::function<int()>& action) {
  install_interrupt_handler();
  try {
    const int exit_code = action();
    clear_progress();
    return exit_code;
  } catch (const CommandError& error) {
    return report(error, error.exit_code());
  } catch (const Error& error) {
    return report(error, kExitFailure);
  } catch (const std::bad_alloc&) {
    return report(Error(ErrorCode::kFail, "out of memory"), kExitFailure);
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) return kExitFailure;  // finish_output() says it
    return report(Error(ErrorCode::kRuntimeException, error.what()), kExitFailure);
  }
}

int report_usage(const std::string& message, const std::string& verb) {
  print_error("sardonyx: {}: {}\nTry: sardonyx {}{}--help\n",
              to_string(ErrorCode::kInvalidArgument), one_line(message), verb,
              verb.empty() ? "" : " ");
  return kExitUsage;
}

int run_command(int argc, char** argv) {
  CommandLine line;
  line.name = "sardonyx";
  line.help = "Runs ONNX models.";
  line.version_text = std::string("sardonyx ") + version();
  line.footer = kFooter;
  line.verbs = {
      {"inspect", "Describe a model and what optimising makes of it", &declare_inspect},
      {"run", "Run a model and summarise its outputs", &declare_run},
      {"bench", "Measure cold starts and hot runs", &declare_bench},
      {"compile", "Compile a model ahead of time, so that it starts at once", &declare_compile},
      {"check", "Judge whether a compiled model can be used here", &declare_check},
      {"verify", "Compare a model with recorded test data", &declare_verify},
      {"ops", "List the operators, their versions and types", &declare_ops},
      {"doctor", "Describe this build and machine, and what may be wrong", &declare_doctor},
  };
  line.run = &run_action;
  line.report_usage = &report_usage;
  return run_command_line(line, argc, argv);
}

// A file that is opened must not become what a closed standard stream was: such a one is made one
// that cannot be written.
void fill_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
}

// What was printed may still be in a buffer when the disk is full.
int finish_output(int exit_code) {
  const bool had_failed = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0) {
    if (!had_failed) return exit_code;
    // The reason is long gone; one more byte is refused for the same.
    if (std::fputc('\n', stdout) != EOF) std::fflush(stdout);
  }
  // Whoever closes a pipe has read enough.
  if (errno != EPIPE) {
    print_error("sardonyx: {}: cannot write to standard output{}{}\n", to_string(ErrorCode::kFail),
                errno == 0 ? "" : ": ", errno == 0 ? "" : std::strerror(errno));
  }
  return exit_code == kExitOk ? kExitFailure : exit_code;
}

}  // namespace
}  // namespace sardonyx::cli

int main(int argc, char** argv) {
  sardonyx::cli::fill_closed_streams();
  return sardonyx::cli::finish_output(sardonyx::cli::run_command(argc, argv));
}
