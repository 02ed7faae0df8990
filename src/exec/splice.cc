#include "exec/splice.h"

#include <algorithm>
#include <utility>

namespace sardonyx {
namespace {

bool is_branch(const BoundProgram& bound, const BoundSubProgram& sub, const Program& body) {
  return (sub.attribute == "then_branch" || sub.attribute == "else_branch") &&
         sub.captures.size() == body.inputs.size() &&
         body.outputs.size() == bound.steps[sub.step].outputs.size();
}

// Buffers of one program as those of another.
class BufferMap {
 public:
  explicit BufferMap(size_t buffers) : to_(buffers, -1) {}

  int32_t& operator[](size_t buffer) { return to_[buffer]; }
  void apply(std::vector<int32_t>& buffers) const {
    for (int32_t& id : buffers) id = id < 0 ? id : to_[id];
  }
  void apply(BoundStep& step) const {
    apply(step.inputs);
    apply(step.outputs);
  }
  void apply(Node& node) const {
    for (ValueIds* ids : {&node.inputs, &node.outputs, &node.captures}) {
      for (ValueId& id : *ids) {
        if (id != ValueId::kNone) id = static_cast<ValueId>(to_[static_cast<size_t>(id)]);
      }
    }
  }

 private:
  std::vector<int32_t> to_;
};

// Counted from elsewhere; -1 stays.
void shift(int32_t& index, int32_t by) {
  if (index >= 0) index += by;
}

class Splicer {
 public:
  Splicer(BoundProgram& bound, std::span<std::shared_ptr<BoundProgram>> bodies)
      : bound_(bound), bodies_(bodies) {}

  void splice() {
    std::vector<BoundSubProgram> subs = std::exchange(bound_.subprograms, {});
    std::vector<bool> is_spliced;
    // Branches lie within branches, and each moves into all around it: no more than they need.
    size_t step_count = bound_.steps.size(), buffer_count = bound_.program.buffers.size();
    for (size_t i = 0; i < subs.size(); ++i) {
      const Program& body = bodies_[i]->program;
      is_spliced.push_back(is_branch(bound_, subs[i], body));
      if (!is_spliced[i]) continue;
      step_count += body.steps.size();
      buffer_count += body.buffers.size() - std::min(body.buffers.size(), subs[i].captures.size());
    }
    std::vector<Node> nodes = std::exchange(bound_.program.steps, {});
    std::vector<BoundStep> steps = std::exchange(bound_.steps, {});
    bound_.steps.reserve(step_count);
    bound_.program.steps.reserve(step_count);
    bound_.program.buffers.reserve(buffer_count);
    size_t next = 0;  // subs are by step
    for (size_t i = 0; i < steps.size(); ++i) {
      const size_t begin = next;
      for (; next < subs.size() && subs[next].step == static_cast<int32_t>(i); ++next) {
        if (!is_spliced[next]) continue;
        subs[next].branch = append(subs[next], std::move(*bodies_[next]));
        steps[i].branches[subs[next].attribute == "then_branch"] = subs[next].branch;
      }
      const auto here = static_cast<int32_t>(bound_.steps.size());
      for (int32_t branch : steps[i].branches) {
        if (branch >= 0) bound_.branches[branch].step = here;
      }
      bound_.steps.push_back(std::move(steps[i]));
      bound_.program.steps.push_back(std::move(nodes[i]));
      for (size_t s = begin; s < next; ++s) {
        subs[s].step = here;
        if (!is_spliced[s]) {
          find_uses(*bodies_[s]);
          subs[s].body = std::move(bodies_[s]);
        }
        bound_.subprograms.push_back(std::move(subs[s]));
      }
    }
  }

 private:
  // Returns the index of the new branch.
  int32_t append(const BoundSubProgram& sub, BoundProgram&& body) {
    std::vector<ProgramBuffer>& buffers = bound_.program.buffers;
    const auto first = static_cast<int32_t>(bound_.steps.size());
    const auto first_branch = static_cast<int32_t>(bound_.branches.size());
    BoundBranch branch;
    branch.first = first;
    branch.end = first + static_cast<int32_t>(body.steps.size());
    branch.when = sub.attribute == "then_branch";
    branch.first_buffer = static_cast<int32_t>(buffers.size());
    BufferMap outer(body.program.buffers.size());
    for (size_t i = 0; i < sub.captures.size(); ++i) {
      outer[body.program.inputs[i]] = sub.captures[i];
    }
    // Buffers of inner branches lie together, and stay so: nothing of theirs is captured.
    for (size_t b = 0; b < body.program.buffers.size(); ++b) {
      if (outer[b] >= 0) continue;
      outer[b] = static_cast<int32_t>(buffers.size());
      buffers.push_back(std::move(body.program.buffers[b]));
    }
    branch.end_buffer = static_cast<int32_t>(buffers.size());
    branch.outputs = std::move(body.program.outputs);
    outer.apply(branch.outputs);
    bound_.branches.push_back(std::move(branch));
    for (BoundBranch& inner : body.branches) {
      inner.first += first;
      inner.end += first;
      inner.step += first;
      const int32_t buffer_count = inner.end_buffer - inner.first_buffer;
      if (buffer_count > 0) inner.first_buffer = outer[inner.first_buffer];
      inner.end_buffer = inner.first_buffer + buffer_count;
      outer.apply(inner.outputs);
      bound_.branches.push_back(std::move(inner));
    }
    for (size_t i = 0; i < body.steps.size(); ++i) {
      BoundStep& step = bound_.steps.emplace_back(std::move(body.steps[i]));
      outer.apply(step);
      for (int32_t& index : step.branches) shift(index, first_branch + 1);
      outer.apply(bound_.program.steps.emplace_back(std::move(body.program.steps[i])));
    }
    for (BoundSubProgram& inner : body.subprograms) {
      inner.step += first;
      shift(inner.branch, first_branch + 1);
      outer.apply(inner.captures);
      bound_.subprograms.push_back(std::move(inner));
    }
    return first_branch;
  }

  BoundProgram& bound_;
  const std::span<std::shared_ptr<BoundProgram>> bodies_;
};

// The reverse of Splicer::append().
std::shared_ptr<BoundProgram> cut_out(const BoundProgram& bound, const BoundSubProgram& sub) {
  const BoundBranch& branch = bound.branches[sub.branch];
  auto body = std::make_shared<BoundProgram>();
  std::vector<ProgramBuffer>& buffers = body->program.buffers;
  BufferMap inner(bound.program.buffers.size());
  for (int32_t captured : sub.captures) {
    const ProgramBuffer& from = bound.program.buffers[captured];
    inner[captured] = static_cast<int32_t>(buffers.size());
    body->program.inputs.push_back(inner[captured]);
    buffers.push_back({ProgramBuffer::Kind::kInput, from.type, {}, from.name});
  }
  const auto first_buffer = static_cast<int32_t>(buffers.size());
  for (int32_t b = branch.first_buffer; b < branch.end_buffer; ++b) {
    inner[b] = static_cast<int32_t>(buffers.size());
    buffers.push_back(bound.program.buffers[b]);
  }
  body->program.outputs = branch.outputs;
  inner.apply(body->program.outputs);
  for (size_t i = sub.branch + 1; i < bound.branches.size(); ++i) {
    BoundBranch within = bound.branches[i];
    if (within.first >= branch.end || within.end > branch.end || within.step >= branch.end) break;
    within.first -= branch.first;
    within.end -= branch.first;
    within.step -= branch.first;
    within.first_buffer += first_buffer - branch.first_buffer;
    within.end_buffer += first_buffer - branch.first_buffer;
    inner.apply(within.outputs);
    body->branches.push_back(std::move(within));
  }
  for (int32_t i = branch.first; i < branch.end; ++i) {
    BoundStep& step = body->steps.emplace_back(bound.steps[i]);
    inner.apply(step);
    for (int32_t& index : step.branches) shift(index, -(sub.branch + 1));
    inner.apply(body->program.steps.emplace_back(bound.program.steps[i]));
  }
  for (BoundSubProgram within : bound.subprograms) {
    if (within.step < branch.first || within.step >= branch.end) continue;
    within.step -= branch.first;
    shift(within.branch, -(sub.branch + 1));
    inner.apply(within.captures);
    body->subprograms.push_back(std::move(within));
  }
  find_uses(*body);
  return body;
}

}  // namespace

void splice_branches(BoundProgram& bound, std::span<std::shared_ptr<BoundProgram>> bodies) {
  if (!bound.subprograms.empty()) Splicer(bound, bodies).splice();
}

std::shared_ptr<const BoundProgram> body_of(const BoundProgram& bound, const BoundSubProgram& sub) {
  return sub.body != nullptr ? sub.body : cut_out(bound, sub);
}

}  // namespace sardonyx
