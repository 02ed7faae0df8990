// sardonyx doctor: what this build and machine are, and what may be wrong with them.

#include <fmt/format.h>

#include <algorithm>

#include "command.h"
#include "doctor_checks.h"
#include "text.h"

namespace sardonyx::cli {
namespace {

constexpr const char* kFooter = R"(
Each line is ok, a warning (it works, but see the advice), or broken. Exit code 1 when something is
broken, else 0.

Examples:
  sardonyx doctor
  sardonyx doctor --json)";

void print_text(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    fmt::print("{:8} {:10} {}\n", to_string(finding.status), finding.name, one_line(finding.text));
    if (!finding.advice.empty()) fmt::print("{:19} -> {}\n", "", one_line(finding.advice));
  }
}

nlohmann::ordered_json as_json(const std::vector<Finding>& findings, Finding::Status worst) {
  nlohmann::ordered_json result = {{"status", to_string(worst)}};
  for (const Finding& finding : findings) {
    nlohmann::ordered_json& row = result["checks"].emplace_back();
    row = {{"name", finding.name},
           {"status", to_string(finding.status)},
           {"text", finding.text},
           {"advice", finding.advice},
           {"facts", finding.facts}};
  }
  return result;
}

int doctor(bool json) {
  const std::vector<Finding> findings = run_checks();
  Finding::Status worst = Finding::Status::kOk;
  for (const Finding& finding : findings) worst = std::max(worst, finding.status);
  if (json) {
    // Names of folders need not be UTF-8.
    fmt::print(
        "{}\n",
        as_json(findings, worst).dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
  } else {
    print_text(findings);
  }
  return worst == Finding::Status::kBroken ? kExitFailure : kExitOk;
}

}  // namespace

void declare_doctor(Verb& verb) {
  const auto json = std::make_shared<bool>(false);
  verb.flag("--json", *json, "Print JSON");
  verb.footer(kFooter);
  verb.action([json] { return doctor(*json); });
}

}  // namespace sardonyx::cli
