#include "plan/program.h"

namespace sardonyx {
namespace {

class Builder {
 public:
  explicit Builder(const Graph& graph) : graph_(graph), index_(graph.value_count(), -1) {}

  Program build() {
    for (ValueId id : graph_.inputs()) {
      program_.inputs.push_back(buffer_of(id));
      program_.buffers.back().kind = ProgramBuffer::Kind::kInput;
    }
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (!node.alive) continue;
      Node step = node;
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

Program make_program(const Graph& graph) { return Builder(graph).build(); }

}  // namespace sardonyx
