#include "plan.h"

namespace sardonyx::cli {

using Json = nlohmann::ordered_json;

Json plan_json(const PlanReport& plan) {
  Json result;
  result["isa"] = plan.isa;
  result["estimated_ns"] = plan.estimated_nanoseconds;
  result["arena_bytes"] = plan.arena_bytes;
  result["lower_bound_bytes"] = plan.lower_bound_bytes;
  result["constant_bytes"] = plan.constant_bytes;
  result["output_bytes"] = plan.output_bytes;
  result["steps_ahead"] = plan.steps_ahead;
  result["live_bytes"] = plan.live_bytes;
  result["steps"] = Json::array();
  for (const PlanStep& step : plan.steps) {
    Json& row = result["steps"].emplace_back();
    row = {{"name", step.name},
           {"op", step.op},
           {"kernel", step.kernel},
           {"dynamic", step.dynamic},
           {"inputs", step.inputs},
           {"outputs", step.outputs},
           {"read_bytes", step.read_bytes},
           {"written_bytes", step.written_bytes},
           {"chunks", step.chunks},
           {"estimated_ns", step.estimated_nanoseconds}};
    for (const SubPlan& sub : step.subplans) {
      Json& entry = row["subgraphs"][sub.attribute];
      if (sub.plan) {
        entry = plan_json(*sub.plan);
      } else {
        entry["unknown"] = sub.reason;
      }
    }
  }
  result["buffers"] = Json::array();
  for (const PlanBuffer& buffer : plan.buffers) {
    Json& row = result["buffers"].emplace_back();
    row = {{"name", buffer.name},
           {"type", buffer.type},
           {"place", to_string(buffer.place)},
           {"size_bytes", buffer.size_bytes},
           {"first_step", buffer.first_step},
           {"last_step", buffer.last_step}};
    if (buffer.place == PlanBuffer::Place::kArena) row["offset"] = buffer.offset;
    if (buffer.alias_of >= 0) row["alias_of"] = buffer.alias_of;
  }
  result["scratch"] = Json::array();
  for (const PlanScratch& scratch : plan.scratch) {
    result["scratch"].push_back(
        {{"step", scratch.step}, {"size_bytes", scratch.size_bytes}, {"offset", scratch.offset}});
  }
  return result;
}

}  // namespace sardonyx::cli
