#include "session/join_parts.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "cpu/facets.h"

namespace sardonyx {
namespace {

[[noreturn]] void refuse(const EpContextNode& node, const std::string& message) {
  throw Error(ErrorCode::kInvalidGraph, fmt::format("EPContext node '{}': {}", node.name, message));
}

class Joiner {
 public:
  explicit Joiner(const EpContextModel& model) : model_(model) {}

  void add(const EpContextNode& node, Program part) {
    check_count(node, "inputs", node.inputs.size(), part.inputs.size());
    check_count(node, "outputs", node.outputs.size(), part.outputs.size());
    std::vector<int32_t> to(part.buffers.size(), -1);  // buffer of the part -> of the whole
    for (size_t i = 0; i < part.inputs.size(); ++i) {
      to[part.inputs[i]] = input(node, node.inputs[i], part.buffers[part.inputs[i]]);
    }
    for (size_t b = 0; b < part.buffers.size(); ++b) {
      if (to[b] < 0) to[b] = new_buffer(std::move(part.buffers[b]));
    }
    const auto first_step = static_cast<int32_t>(whole_.steps.size());
    for (Node& step : part.steps) {
      for (ValueIds* ids : {&step.inputs, &step.outputs, &step.captures}) {
        for (ValueId& id : *ids) {
          if (id != ValueId::kNone) id = static_cast<ValueId>(to[static_cast<size_t>(id)]);
        }
      }
      whole_.steps.push_back(std::move(step));
    }
    for (SubProgram& sub : part.subprograms) {
      sub.step += first_step;
      for (int32_t& buffer : sub.captures) buffer = to[buffer];
      whole_.subprograms.push_back(std::move(sub));
    }
    for (size_t i = 0; i < part.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      if (!names_.emplace(node.outputs[i], to[part.outputs[i]]).second) {
        refuse(node, fmt::format("value '{}' is produced twice", node.outputs[i]));
      }
    }
  }

  Program finish() {
    // Inputs that no part reads still have their place.
    for (const std::string& name : model_.graph_inputs) {
      auto found = graph_inputs_.find(name);
      if (found == graph_inputs_.end()) {
        ProgramBuffer unused;
        unused.name = name;
        unused.kind = ProgramBuffer::Kind::kInput;
        found = graph_inputs_.emplace(name, new_buffer(std::move(unused))).first;
        names_.emplace(name, found->second);
      }
      whole_.inputs.push_back(found->second);
    }
    for (const std::string& name : model_.graph_outputs) {
      const auto found = names_.find(name);
      if (found == names_.end()) {
        throw Error(ErrorCode::kInvalidGraph,
                    fmt::format("no compiled part produces the output '{}'", name));
      }
      whole_.outputs.push_back(found->second);
    }
    return std::move(whole_);
  }

 private:
  static void check_count(const EpContextNode& node, const char* what, size_t has, size_t wants) {
    if (has == wants) return;
    refuse(node, fmt::format("has {} {}, its compiled part has {}", has, what, wants));
  }

  int32_t new_buffer(ProgramBuffer buffer) {
    whole_.buffers.push_back(std::move(buffer));
    return static_cast<int32_t>(whole_.buffers.size()) - 1;
  }

  int32_t input(const EpContextNode& node, const std::string& name, ProgramBuffer& formal) {
    if (name.empty()) refuse(node, "an input has no name");
    const auto found = names_.find(name);
    if (found != names_.end()) {
      const ValueType& given = whole_.buffers[found->second].type;
      if (!cpu::same_kind(given, formal.type)) {
        refuse(node,
               fmt::format("input '{}' is of another type than its compiled part takes", name));
      }
      return found->second;
    }
    bool is_graph_input = false;
    for (const std::string& each : model_.graph_inputs) is_graph_input |= each == name;
    if (!is_graph_input) {
      refuse(node, fmt::format("input '{}' is no input of the model and produced by no node before "
                               "it",
                               name));
    }
    formal.kind = ProgramBuffer::Kind::kInput;
    const int32_t buffer = new_buffer(std::move(formal));
    graph_inputs_.emplace(name, buffer);
    names_.emplace(name, buffer);
    return buffer;
  }

  const EpContextModel& model_;
  Program whole_;
  std::map<std::string, int32_t> names_;
  std::map<std::string, int32_t> graph_inputs_;
};

}  // namespace

CompiledModel join_parts(const EpContextModel& model, std::vector<artifact::CompiledPart> parts) {
  CompiledModel whole;
  Joiner joiner(model);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Isa isa = cpu::target_of(parts[i].facets);
    if (i != 0 && isa != whole.isa) {
      throw Error(ErrorCode::kFail,
                  fmt::format("the model's compiled parts are for {} and for {}; compile it again",
                              to_string(whole.isa), to_string(isa)));
    }
    whole.isa = isa;
    joiner.add(model.nodes[i], std::move(parts[i].program));
  }
  whole.program = joiner.finish();
  return whole;
}

void check_described_types(const CompiledModel& model) {
  const auto check = [&](const std::vector<ValueInfo>& infos, const std::vector<int32_t>& buffers,
                         const char* what) {
    for (size_t i = 0; i < infos.size(); ++i) {
      const ValueType& type = model.program.buffers[buffers[i]].type;
      if (type.kind == ValueType::Kind::kUnknown) continue;  // an input that nothing reads
      if (type.is_tensor() && type.element == infos[i].element_type) continue;
      throw Error(ErrorCode::kInvalidGraph,
                  fmt::format("{} '{}' is declared as {}, its compiled part holds another type",
                              what, infos[i].name, infos[i].type));
    }
  };
  check(model.inputs, model.program.inputs, "input");
  check(model.outputs, model.program.outputs, "output");
}

}  // namespace sardonyx
