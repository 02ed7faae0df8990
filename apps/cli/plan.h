// The faces of a PlanReport: a table, JSON, and a picture. Used by `sardonyx inspect --plan`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "session/plan_report.h"

namespace sardonyx::cli {

// "arena", "input", "output", "constant", "known", "dynamic".
const char* to_string(PlanBuffer::Place place);

// Without the domain of internal operators, which says nothing to a reader.
std::string short_op(const std::string& op);

// Steps, buffers, totals, and the same of subgraphs.
std::string plan_text(const PlanReport& plan);
nlohmann::ordered_json plan_json(const PlanReport& plan);

// A map of the arena as SVG: steps from left to right, addresses upwards, one box per buffer; the
// estimated cost of each step below. Subgraphs are left out.
std::string plan_svg(const PlanReport& plan, const std::string& title);

}  // namespace sardonyx::cli
