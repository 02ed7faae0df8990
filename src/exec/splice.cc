#include "exec/splice.h"

#include <algorithm>
#include <utility>

namespace sardonyx {
namespace {

bool is_branch(const BoundProgram& bound, const BoundSubProgram& sub) {
  return (sub.attribute == "then_branch" || sub.attribute == "else_branch") &&
         sub.captures.size() == sub.body->program.inputs.size() &&
         sub.body->program.outputs.size() == bound.steps[sub.step].outputs.size();
}

class Splicer {
 public:
  explicit Splicer(BoundProgram& bound) : bound_(bound) {}

  void splice() {
    std::vector<bool> is_spliced;
    for (const BoundSubProgram& sub : bound_.subprograms) {
      is_spliced.push_back(is_branch(bound_, sub));
    }
    std::vector<Node> nodes = std::exchange(bound_.program.steps, {});
    std::vector<BoundStep> steps = std::exchange(bound_.steps, {});
    const std::vector<BoundSubProgram> subs = std::exchange(bound_.subprograms, {});
    // Branches lie within branches, and each is copied into all around it: no more than they need.
    size_t step_count = steps.size(), buffer_count = bound_.program.buffers.size();
    for (size_t i = 0; i < subs.size(); ++i) {
      if (!is_spliced[i]) continue;
      step_count += subs[i].body->steps.size();
      const size_t own = subs[i].body->program.buffers.size();
      buffer_count += own - std::min(own, subs[i].captures.size());
    }
    bound_.steps.reserve(step_count);
    bound_.program.steps.reserve(step_count);
    bound_.program.buffers.reserve(buffer_count);
    for (size_t i = 0; i < steps.size(); ++i) {
      std::array<int32_t, 2> branches = {-1, -1};
      for (const BoundSubProgram& sub : subs) {
        if (sub.step != static_cast<int32_t>(i) || !is_spliced[&sub - subs.data()]) continue;
        branches[sub.attribute == "then_branch"] = append(sub);
      }
      const auto here = static_cast<int32_t>(bound_.steps.size());
      steps[i].branches = branches;
      for (int32_t branch : branches) {
        if (branch >= 0) bound_.branches[branch].step = here;
      }
      bound_.steps.push_back(std::move(steps[i]));
      bound_.program.steps.push_back(std::move(nodes[i]));
      for (const BoundSubProgram& sub : subs) {
        if (sub.step != static_cast<int32_t>(i)) continue;
        bound_.subprograms.push_back({here, sub.attribute, sub.captures, sub.body});
      }
    }
  }

 private:
  // Returns the index of the new branch.
  int32_t append(const BoundSubProgram& sub) {
    const BoundProgram& body = *sub.body;
    std::vector<ProgramBuffer>& buffers = bound_.program.buffers;
    std::vector<int32_t> outer(body.program.buffers.size(), -1);  // of each buffer of the body
    for (size_t i = 0; i < sub.captures.size(); ++i) {
      outer[body.program.inputs[i]] = sub.captures[i];
    }
    for (size_t b = 0; b < outer.size(); ++b) {
      if (outer[b] >= 0) continue;
      outer[b] = static_cast<int32_t>(buffers.size());
      buffers.push_back(body.program.buffers[b]);
    }
    const auto map_all = [&](std::vector<int32_t>& ids) {
      for (int32_t& id : ids) id = id < 0 ? id : outer[id];
    };
    const auto first = static_cast<int32_t>(bound_.steps.size());
    const auto first_branch = static_cast<int32_t>(bound_.branches.size());
    BoundBranch branch{first, first + static_cast<int32_t>(body.steps.size()), -1,
                       sub.attribute == "then_branch", body.program.outputs};
    map_all(branch.outputs);
    bound_.branches.push_back(std::move(branch));
    for (BoundBranch inner : body.branches) {
      inner.first += first;
      inner.end += first;
      inner.step += first;
      map_all(inner.outputs);
      bound_.branches.push_back(std::move(inner));
    }
    for (size_t i = 0; i < body.steps.size(); ++i) {
      BoundStep step = body.steps[i];
      map_all(step.inputs);
      map_all(step.outputs);
      for (int32_t& index : step.branches) {
        if (index >= 0) index += first_branch + 1;
      }
      bound_.steps.push_back(std::move(step));
      Node node = body.program.steps[i];
      for (ValueIds* ids : {&node.inputs, &node.outputs, &node.captures}) {
        for (ValueId& id : *ids) {
          if (id != ValueId::kNone) id = static_cast<ValueId>(outer[static_cast<size_t>(id)]);
        }
      }
      bound_.program.steps.push_back(std::move(node));
    }
    for (BoundSubProgram inner : body.subprograms) {
      inner.step += first;
      map_all(inner.captures);
      bound_.subprograms.push_back(std::move(inner));
    }
    return first_branch;
  }

  BoundProgram& bound_;
};

}  // namespace

void splice_branches(BoundProgram& bound) {
  if (!bound.subprograms.empty()) Splicer(bound).splice();
}

}  // namespace sardonyx
