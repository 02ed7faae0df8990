#include "command_line.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>

#include "text.h"

namespace sardonyx::cli {
namespace {

// Actions of all verbs land here through CLI11's callbacks: only the chosen one's is called.
std::function<int()> g_chosen_action;

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : ". Did you mean " + near + "?";
}

// For a first word that is no verb.
std::string verb_hint(CLI::App& app, int argc, char** argv) {
  if (argc < 2) return "";
  const std::string word = argv[1];
  std::error_code ignored;
  if (std::filesystem::is_regular_file(word, ignored)) {
    return ". Say what to do with the file, as in: sardonyx inspect " + word;
  }
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    verbs.push_back(verb->get_name());
  }
  const std::string hint = did_you_mean(word, verbs);
  if (!hint.empty() || word.starts_with('-')) return hint;
  std::string known;
  for (const std::string& verb : verbs) known += (known.empty() ? "" : ", ") + verb;
  return "; '" + word + "' is none of them: " + known;
}

// For an option that the verb does not have; CLI11's message ends with it.
std::string option_hint(const CLI::App& verb, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return "";
  const std::string message = error.what();
  const size_t at = message.find("--");
  if (at == std::string::npos) return "";
  const std::string word = message.substr(at, message.find_first_of(" =", at) - at);
  std::vector<std::string> options;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  return did_you_mean(word, options);
}

}  // namespace

void Verb::positional(const char* name, std::string& target, const char* help) {
  app_->add_option(name, target, help)->required();
}

void Verb::positional(const char* name, std::vector<std::string>& target, const char* help) {
  app_->add_option(name, target, help)->required();
}

void Verb::optional_positional(const char* name, std::string& target, const char* help) {
  app_->add_option(name, target, help);
}

void Verb::flag(const char* name, bool& target, const char* help) {
  app_->add_flag(name, target, help);
}

void Verb::text(const char* name, std::string& target, const char* help, const char* type_name) {
  CLI::Option* option = app_->add_option(name, target, help)->type_name(type_name);
  option->check(CLI::Validator(
      [](const std::string& text) {
        return text.empty() ? std::string("is empty; leave the option out or give it a value")
                            : std::string();
      },
      "", ""));
  if (!target.empty()) option->capture_default_str();
}

void Verb::choice(const char* name, std::string& target, const char* help,
                  const std::vector<std::string>& choices, const char* value_if_bare) {
  std::string names;
  for (const std::string& each : choices) names += (names.empty() ? "" : "|") + each;
  CLI::Option* option = app_->add_option(name, target, help)
                            ->check(CLI::IsMember(choices).description(""))
                            ->type_name(names);
  if (!target.empty()) option->capture_default_str();
  if (value_if_bare == nullptr) return;
  // CLI11 then hands over an empty text.
  option->expected(0, 1)->default_str(value_if_bare);
}

void Verb::number(const char* name, int& target, const char* help, int least, int most) {
  app_->add_option(name, target, help)
      ->check(CLI::Range(least, most).description(""))
      ->type_name("N")
      ->capture_default_str();
}

void Verb::number(const char* name, int64_t& target, const char* help, int64_t least) {
  app_->add_option(name, target, help)
      ->check(CLI::Range(least, std::numeric_limits<int64_t>::max()).description(""))
      ->type_name("N")
      ->capture_default_str();
}

void Verb::number(const char* name, uint64_t& target, const char* help) {
  app_->add_option(name, target, help)->type_name("N")->capture_default_str();
}

void Verb::number(const char* name, double& target, const char* help, double least) {
  app_->add_option(name, target, help)
      ->check(CLI::Range(least, std::numeric_limits<double>::max()).description(""))
      ->type_name("X")
      ->capture_default_str();
}

void Verb::repeatable(const char* name, std::vector<std::string>& target, const char* help,
                      const char* type_name) {
  app_->add_option(name, target, help)->allow_extra_args(false)->type_name(type_name);
}

void Verb::list(const char* name, std::vector<std::string>& target, const char* help) {
  app_->add_option(name, target, help)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
}

void Verb::list(const char* name, std::vector<double>& target, const char* help) {
  app_->add_option(name, target, help)->delimiter(',')->allow_extra_args(false)->type_name("X,...");
}

void Verb::hidden(const char* name, int64_t& target) { app_->add_option(name, target)->group(""); }

void Verb::excludes(const char* one, const char* other) {
  app_->get_option(one)->excludes(app_->get_option(other));
}

void Verb::footer(const char* text) { app_->footer(text); }

void Verb::action(std::function<int()> action) {
  app_->callback([action = std::move(action)] { g_chosen_action = action; });
}

int run_command_line(const CommandLine& line, int argc, char** argv) {
  CLI::App app(line.help, line.name);
  app.set_version_flag("--version", line.version_text);
  app.footer(line.footer);
  app.require_subcommand(1);
  for (const VerbRow& row : line.verbs) {
    Verb verb(app.add_subcommand(row.name, row.help));
    row.declare(verb);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    if (chosen.empty()) return line.report_usage(error.what() + verb_hint(app, argc, argv), "");
    return line.report_usage(error.what() + option_hint(*chosen[0], error), chosen[0]->get_name());
  }
  return line.run(g_chosen_action);
}

}  // namespace sardonyx::cli
