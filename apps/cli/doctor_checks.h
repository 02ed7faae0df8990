// The checks of `sardonyx doctor`: each looks at one thing and says how it is and what to do.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sardonyx::cli {

struct Finding {
  enum class Status { kOk, kWarning, kBroken };
  std::string name;  // "cores"
  Status status = Status::kOk;
  std::string text;    // what was found
  std::string advice;  // what to do; empty when there is nothing
  nlohmann::ordered_json facts;

  // The worse status stays; advice is added.
  void complain(Status worse, const std::string& what_to_do);
};

// "ok", "warning", "broken".
const char* to_string(Finding::Status status);

std::vector<Finding> run_checks();

}  // namespace sardonyx::cli
