#include "plan/program.h"

namespace sardonyx {
namespace {

class Builder {
 public:
  explicit Builder(const Graph& graph) : graph_(graph), index_(graph.value_count(), -1) {}

  Program build() {
    for (ValueId id : graph_.inputs()) add_input(id);
    for (const Capture& capture : graph_.captures()) add_input(capture.inner);
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (!node.alive) continue;
      Node step = node;
      add_subprograms(node, step);
      for (ValueIds* ids : {&step.inputs, &step.outputs, &step.captures}) {
        for (ValueId& value : *ids) {
          if (value != ValueId::kNone) value = static_cast<ValueId>(buffer_of(value));
        }
      }
      program_.steps.push_back(std::move(step));
    }
    for (ValueId id : graph_.outputs()) program_.outputs.push_back(buffer_of(id));
    return std::move(program_);
  }

 private:
  void add_input(ValueId id) {
    program_.inputs.push_back(buffer_of(id));
    program_.buffers.back().kind = ProgramBuffer::Kind::kInput;
  }

  // Moves the node's subgraphs out of its attributes into programs of their own.
  void add_subprograms(const Node& node, Node& step) {
    for_each_subgraph(node, [&](const std::string& attribute, Graph& body) {
      SubProgram sub;
      sub.step = static_cast<int32_t>(program_.steps.size());
      sub.attribute = attribute;
      for (const Capture& capture : body.captures()) {
        sub.captures.push_back(buffer_of(node.captures[static_cast<size_t>(capture.index)]));
      }
      sub.program = make_program(body);
      program_.subprograms.push_back(std::move(sub));
      step.attributes.erase(attribute);
    });
  }

  int32_t buffer_of(ValueId id) {
    int32_t& index = index_[static_cast<size_t>(id)];
    if (index >= 0) return index;
    const GraphValue& value = graph_.value(id);
    ProgramBuffer buffer;
    buffer.type = value.type;
    buffer.name = value.name;
    if (value.is_constant()) {
      buffer.kind = ProgramBuffer::Kind::kConstant;
      buffer.constant = value.constant;
    }
    index = static_cast<int32_t>(program_.buffers.size());
    program_.buffers.push_back(std::move(buffer));
    return index;
  }

  const Graph& graph_;
  std::vector<int32_t> index_;
  Program program_;
};

}  // namespace

Program::Program() = default;
Program::~Program() = default;
Program::Program(const Program&) = default;
Program& Program::operator=(const Program&) = default;
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;

Program make_program(const Graph& graph) { return Builder(graph).build(); }

}  // namespace sardonyx
