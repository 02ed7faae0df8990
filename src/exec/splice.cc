#include "exec/splice.h"

#include <utility>

namespace sardonyx {
namespace {

bool is_branch(const Program& outer, const SubProgram& sub) {
  return (sub.attribute == "then_branch" || sub.attribute == "else_branch") &&
         sub.captures.size() == sub.program.inputs.size() &&
         sub.program.outputs.size() == outer.steps[sub.step].outputs.size();
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
  Splicer(Isa isa, BoundProgram& bound) : isa_(isa), bound_(bound) {}

  void splice(Program program) {
    size_t steps = 0, buffers = 0;
    count(program, steps, buffers);
    bound_.steps.reserve(steps);
    bound_.program.steps.reserve(steps);
    bound_.program.buffers.reserve(buffers);
    BufferMap to(program.buffers.size());
    bound_.program.inputs = std::move(program.inputs);
    bound_.program.outputs = std::move(program.outputs);
    add(std::move(program), to);
  }

 private:
  // Adds no fewer steps and buffers than the program and its branches have.
  static void count(const Program& program, size_t& steps, size_t& buffers) {
    steps += program.steps.size();
    buffers += program.buffers.size();
    for (const SubProgram& sub : program.subprograms) {
      if (is_branch(program, sub)) count(sub.program, steps, buffers);
    }
  }

  // to: has what the program captures, and gets the rest.
  void add(Program program, BufferMap& to) {
    std::vector<BoundStep> steps;
    steps.reserve(program.steps.size());
    for (const Node& node : program.steps) steps.push_back(bind_step(program, node, isa_));
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      if (to[b] >= 0) continue;
      to[b] = static_cast<int32_t>(bound_.program.buffers.size());
      bound_.program.buffers.push_back(std::move(program.buffers[b]));
    }
    program.buffers = {};  // what follows may use their memory
    size_t next = 0;       // subprograms are by step
    for (size_t i = 0; i < steps.size(); ++i) {
      std::vector<BoundSubProgram> subs;
      for (; next < program.subprograms.size(); ++next) {
        SubProgram& sub = program.subprograms[next];
        if (sub.step != static_cast<int32_t>(i)) break;
        to.apply(sub.captures);
        BoundSubProgram& bound = subs.emplace_back();
        if (is_branch(program, sub)) {
          bound.branch = add_branch(sub);
          steps[i].branches[sub.attribute == "then_branch"] = bound.branch;
        } else {
          bound.body = bind(std::move(sub.program), isa_);
        }
        bound.attribute = std::move(sub.attribute);
        bound.captures = std::move(sub.captures);
      }
      const auto here = static_cast<int32_t>(bound_.steps.size());
      for (BoundSubProgram& sub : subs) {
        sub.step = here;
        if (sub.branch >= 0) bound_.branches[sub.branch].step = here;
        bound_.subprograms.push_back(std::move(sub));
      }
      to.apply(bound_.steps.emplace_back(std::move(steps[i])));
      to.apply(bound_.program.steps.emplace_back(std::move(program.steps[i])));
    }
  }

  // Returns its index. sub.captures: of bound_.
  int32_t add_branch(SubProgram& sub) {
    BufferMap to(sub.program.buffers.size());
    for (size_t i = 0; i < sub.captures.size(); ++i) to[sub.program.inputs[i]] = sub.captures[i];
    BoundBranch branch;
    branch.when = sub.attribute == "then_branch";
    branch.first = static_cast<int32_t>(bound_.steps.size());
    branch.first_buffer = static_cast<int32_t>(bound_.program.buffers.size());
    const size_t index = bound_.branches.size();
    bound_.branches.emplace_back();  // before those inside
    branch.outputs = std::move(sub.program.outputs);
    add(std::move(sub.program), to);
    branch.end = static_cast<int32_t>(bound_.steps.size());
    branch.end_buffer = static_cast<int32_t>(bound_.program.buffers.size());
    to.apply(branch.outputs);
    bound_.branches[index] = std::move(branch);
    return static_cast<int32_t>(index);
  }

  const Isa isa_;
  BoundProgram& bound_;
};

// The reverse of Splicer::add_branch().
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

void bind_spliced(Program program, Isa isa, BoundProgram& bound) {
  Splicer(isa, bound).splice(std::move(program));
}

std::shared_ptr<const BoundProgram> body_of(const BoundProgram& bound, const BoundSubProgram& sub) {
  return sub.body != nullptr ? sub.body : cut_out(bound, sub);
}

}  // namespace sardonyx
