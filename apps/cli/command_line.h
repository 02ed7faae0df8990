// The command line as the verbs see it: a thin layer over CLI11, whose headers take seconds to
// compile and are therefore included by command_line.cc alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sardonyx::cli {

// One verb's options. Targets must live until the verb's action has run; their values at
// declaration are the defaults, which the help shows.
class Verb {
 public:
  explicit Verb(CLI::App* app) : app_(app) {}

  // Required; optional with optional_positional.
  void positional(const char* name, std::string& target, const char* help);
  void positional(const char* name, std::vector<std::string>& target, const char* help);
  void optional_positional(const char* name, std::string& target, const char* help);

  void flag(const char* name, bool& target, const char* help);
  void text(const char* name, std::string& target, const char* help, const char* type_name);
  // value_if_bare: what the option means without a value; null: it needs one.
  void choice(const char* name, std::string& target, const char* help,
              const std::vector<std::string>& choices, const char* value_if_bare = nullptr);
  // Values outside least..most are usage errors.
  void number(const char* name, int& target, const char* help, int least, int most);
  void number(const char* name, int64_t& target, const char* help, int64_t least);
  void number(const char* name, uint64_t& target, const char* help);
  void number(const char* name, double& target, const char* help, double least);
  // One value each time it is given.
  void repeatable(const char* name, std::vector<std::string>& target, const char* help,
                  const char* type_name = "NAME=VALUE");
  // A,B,C
  void list(const char* name, std::vector<std::string>& target, const char* help);
  void list(const char* name, std::vector<double>& target, const char* help);
  // An option that the help does not show.
  void hidden(const char* name, int64_t& target);
  void excludes(const char* one, const char* other);

  void footer(const char* text);
  // What the verb does; returns an exit code.
  void action(std::function<int()> action);

 private:
  CLI::App* app_;
};

struct VerbRow {
  const char* name;
  const char* help;
  void (*declare)(Verb& verb);
};

// Parses, then runs the chosen verb's action through `run`. --help and --version print and return
// 0; a wrong command line is reported through `report_usage` with the verb's name ("" for none).
struct CommandLine {
  const char* name;
  const char* help;
  std::string version_text;
  const char* footer;
  std::vector<VerbRow> verbs;
  std::function<int(const std::function<int()>& action)> run;
  std::function<int(const std::string& message, const std::string& verb)> report_usage;
};
int run_command_line(const CommandLine& line, int argc, char** argv);

}  // namespace sardonyx::cli
