// sardonyx inspect --plan: what one run does, step by step, and where its memory lies.
#pragma once

#include <string>

#include "command.h"
#include "inputs.h"

namespace sardonyx::cli {

struct PlanOptions {
  bool plan = false;
  std::string svg;  // file
  InputOptions inputs;

  void declare(Verb& verb);
  bool is_wanted() const { return plan || !svg.empty(); }
};

int inspect_plan(const std::string& model, const SessionOptions& session,
                 const PlanOptions& options, bool json);

}  // namespace sardonyx::cli
