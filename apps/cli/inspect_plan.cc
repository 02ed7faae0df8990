#include "inspect_plan.h"

#include <fmt/format.h>

#include "base/staged_file.h"
#include "input_file.h"
#include "plan.h"
#include "progress.h"

namespace sardonyx::cli {
namespace {

std::string title_of(const std::string& model, const std::vector<ValueInfo>& infos,
                     const std::vector<Value>& inputs) {
  std::string title = std::filesystem::path(model).filename().string();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].has_value()) continue;
    title += fmt::format("{} {} {}", i == 0 ? ":" : ",", infos[i].name,
                         fmt::join(inputs[i].shape(), "x"));
  }
  return title;
}

// A slip of the keyboard must not cost a model. StagedFile refuses what is no file.
void check_replaces_a_picture(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return;
  constexpr std::string_view kStart = "<svg ";
  InputFile file(path);
  std::string found(kStart.size(), '\0');
  file.read(found.data(), static_cast<std::streamsize>(found.size()));
  if (file.gcount() == 0 || found == kStart) return;
  throw CommandError(kExitUsage, ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is no SVG picture, so it is not replaced; remove it or "
                                 "choose another place for --svg",
                                 path));
}

void write_picture(const std::string& path, const std::string& svg) {
  StagedFile file(path);
  file.write(std::as_bytes(std::span(svg)));
  file.publish();
}

}  // namespace

void PlanOptions::declare(Verb& verb) {
  verb.flag("--plan", plan, "Print the steps and buffers of a run instead");
  verb.text("--svg", svg, "Draw the memory of --plan's run over its steps", "FILE");
  inputs.declare_files(verb);
  inputs.declare_random(verb);
}

int inspect_plan(const std::string& model, const SessionOptions& session_options,
                 const PlanOptions& options, bool json) {
  if (!options.svg.empty()) check_replaces_a_picture(options.svg);
  InputOptions input_options = options.inputs;
  input_options.random = true;
  const Session session = open_session(model, session_options.make());
  const std::vector<Value> inputs = make_inputs(session, input_options);
  const PlanReport plan =
      run_with(session, input_options, [&] { return plan_of(session, inputs); });
  clear_progress();
  if (!options.svg.empty()) {
    write_picture(options.svg, plan_svg(plan, title_of(model, session.inputs(), inputs)));
  }
  if (json) {
    // Names in a model need not be UTF-8.
    fmt::print("{}\n",
               plan_json(plan).dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
  } else if (options.plan) {
    fmt::print("{}", plan_text(plan));
  }
  return kExitOk;
}

}  // namespace sardonyx::cli
