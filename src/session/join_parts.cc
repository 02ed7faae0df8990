#include "session/join_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
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

  void add(const EpContextNode& node, artifact::CompiledPart compiled) {
    Program& part = compiled.program;
    check_count(node, "inputs", node.inputs.size(), part.inputs.size());
    check_count(node, "outputs", node.outputs.size(), part.outputs.size());
    std::vector<int32_t> to(part.buffers.size(), -1);  // buffer of the part -> of the whole
    for (size_t i = 0; i < part.inputs.size(); ++i) {
      to[part.inputs[i]] = input(node, i, part.buffers[part.inputs[i]], compiled);
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
      Value value{to[part.outputs[i]], false, std::move(compiled.outputs[i]), {}};
      value.info.name = node.outputs[i];
      if (is_input(node.outputs[i]) || !values_.emplace(node.outputs[i], std::move(value)).second) {
        refuse(node, fmt::format("value '{}' is produced twice", node.outputs[i]));
      }
    }
    for (std::string& warning : compiled.warnings) {
      joined_.warnings.push_back(std::move(warning));
    }
  }

  CompiledModel finish() {
    for (const EpContextInput& input : model_.graph_inputs) {
      auto found = values_.find(input.name);
      if (found == values_.end()) {  // no part reads it; it has its place all the same
        ProgramBuffer unused;
        unused.name = input.name;
        unused.kind = ProgramBuffer::Kind::kInput;
        Value value{new_buffer(std::move(unused)), true, {}, {}};
        value.info.name = input.name;
        found = values_.emplace(input.name, std::move(value)).first;
      }
      whole_.inputs.push_back(found->second.buffer);
      joined_.inputs.push_back(found->second.info);
      joined_.defaults.push_back(found->second.fallback);
    }
    for (const std::string& name : model_.graph_outputs) {
      const auto found = values_.find(name);
      if (found == values_.end()) {
        throw Error(ErrorCode::kInvalidGraph,
                    fmt::format("no compiled part produces the output '{}'", name));
      }
      whole_.outputs.push_back(found->second.buffer);
      joined_.outputs.push_back(found->second.info);
      joined_.outputs.back().is_optional = false;
    }
    joined_.program = std::move(whole_);
    return std::move(joined_);
  }

 private:
  // By the name that the model has for it.
  struct Value {
    int32_t buffer;
    bool is_graph_input;
    ValueInfo info;
    Tensor fallback;  // of a graph input
  };

  static void check_count(const EpContextNode& node, const char* what, size_t has, size_t wants) {
    if (has == wants) return;
    refuse(node, fmt::format("has {} {}, its compiled part has {}", has, what, wants));
  }

  const EpContextInput* find_input(const std::string& name) const {
    for (const EpContextInput& input : model_.graph_inputs) {
      if (input.name == name) return &input;
    }
    return nullptr;
  }
  bool is_input(const std::string& name) const { return find_input(name) != nullptr; }

  int32_t new_buffer(ProgramBuffer buffer) {
    whole_.buffers.push_back(std::move(buffer));
    return static_cast<int32_t>(whole_.buffers.size()) - 1;
  }

  // The buffer that input `i` of the node is; a new one when nothing has read it before.
  int32_t input(const EpContextNode& node, size_t i, ProgramBuffer& formal,
                artifact::CompiledPart& part) {
    const std::string& name = node.inputs[i];
    if (name.empty()) refuse(node, fmt::format("its input {} has no name", i));
    ValueInfo& taken = part.inputs[i];
    const auto found = values_.find(name);
    if (found != values_.end()) {
      const Value& value = found->second;
      const bool fits = cpu::same_kind(whole_.buffers[value.buffer].type, formal.type) &&
                        same_sizes(value.info, taken, value.is_graph_input);
      if (!fits) {
        refuse(node, fmt::format("input '{}' is {}, its compiled part takes {}", name,
                                 value.info.type, taken.type));
      }
      return value.buffer;
    }
    const EpContextInput* declared = find_input(name);
    if (declared == nullptr) {
      refuse(node, fmt::format("input '{}' is no input of the model and produced by no node before "
                               "it",
                               name));
    }
    check_declared(*declared, taken);
    formal.kind = ProgramBuffer::Kind::kInput;
    const int32_t buffer = new_buffer(std::move(formal));
    taken.name = name;
    values_.emplace(name, Value{buffer, true, std::move(taken), std::move(part.defaults[i])});
    return buffer;
  }

  // Sessions check inputs by what the first part says of them, so the others must say the same; of
  // what a part makes, sizes that are not known may still fit.
  static bool same_sizes(const ValueInfo& a, const ValueInfo& b, bool exactly) {
    if (exactly && (a.has_shape != b.has_shape || a.shape != b.shape)) return false;
    if (!a.item.empty() && !b.item.empty()) return same_sizes(a.item[0], b.item[0], exactly);
    if (!a.has_shape || !b.has_shape) return true;
    if (a.shape.size() != b.shape.size()) return false;
    for (size_t d = 0; d < a.shape.size(); ++d) {
      if (a.shape[d] >= 0 && b.shape[d] >= 0 && a.shape[d] != b.shape[d]) return false;
    }
    return true;
  }

  const EpContextModel& model_;
  Program whole_;
  CompiledModel joined_;
  std::map<std::string, Value> values_;
};

// Walks a TensorShapeProto.
bool agrees(WireCursor shape, const std::vector<int64_t>& sizes) {
  size_t rank = 0;
  while (shape.next()) {
    if (shape.field() != 1) continue;
    if (rank == sizes.size()) return false;
    WireCursor dim = shape.message("TensorShapeProto.Dimension");
    while (dim.next()) {
      if (dim.field() != 1) continue;
      const int64_t size = dim.int64();
      if (size >= 0 && sizes[rank] >= 0 && size != sizes[rank]) return false;
    }
    ++rank;
  }
  return rank == sizes.size();
}

// Walks a TypeProto. What either does not say is no contradiction.
bool agrees(WireCursor type, const ValueInfo& info) {
  constexpr uint32_t kTensor = 1, kSequence = 4, kMap = 5, kSparse = 8, kOptional = 9;
  while (type.next()) {
    const uint32_t kind = type.field();
    if (kind == kMap || kind == kSparse) return false;
    if (kind == kTensor) {
      if (info.kind != ValueKind::kTensor) return false;
      WireCursor tensor = type.message("TypeProto.Tensor");
      while (tensor.next()) {
        if (tensor.field() == 1) {
          const int32_t element = tensor.int32();
          if (element != 0 && element != static_cast<int32_t>(info.element_type)) return false;
        } else if (tensor.field() == 2 && info.has_shape) {
          if (!agrees(tensor.message("TensorShapeProto"), info.shape)) return false;
        }
      }
    } else if (kind == kSequence || kind == kOptional) {
      if (info.kind != (kind == kSequence ? ValueKind::kSequence : ValueKind::kOptional)) {
        return false;
      }
      WireCursor holder = type.message("TypeProto.Sequence");
      while (holder.next()) {
        if (holder.field() == 1 && !info.item.empty() &&
            !agrees(holder.message("TypeProto"), info.item[0])) {
          return false;
        }
      }
    }
  }
  return true;
}

// An output that is an input, or comes twice, is not the node's to make.
bool makes_outputs(const EpContextModel& model, const EpContextNode& node) {
  const std::vector<std::string>& names = model.graph_outputs;
  if (node.outputs.size() != names.size()) return false;
  for (size_t i = 0; i < names.size(); ++i) {
    if (node.outputs[i] == names[i]) continue;
    const auto is_it = [&](const EpContextInput& input) { return input.name == names[i]; };
    const auto here = names.begin() + static_cast<std::ptrdiff_t>(i);
    if (!node.outputs[i].empty() || (std::find(names.begin(), here, names[i]) == here &&
                                     std::ranges::none_of(model.graph_inputs, is_it))) {
      return false;
    }
  }
  return true;
}

}  // namespace

void check_declared(const EpContextInput& declared, const ValueInfo& taken) {
  if (agrees(declared.type, taken)) return;
  throw Error(ErrorCode::kInvalidGraph,
              fmt::format("the model's file declares its input '{}' as another type or shape than "
                          "its compiled part takes, which is {}; compile the source model again",
                          declared.name, taken.type));
}

bool is_whole(const EpContextModel& model, const artifact::CompiledPart& part) {
  if (model.nodes.size() != 1) return false;
  const EpContextNode& node = model.nodes[0];
  const auto named_alike = [](const auto& a, const auto& b, const auto& name_of_a) {
    return std::ranges::equal(a, b, {}, name_of_a, &ValueInfo::name);
  };
  return std::ranges::equal(node.inputs, model.graph_inputs, {}, {}, &EpContextInput::name) &&
         named_alike(model.graph_inputs, part.inputs, &EpContextInput::name) &&
         named_alike(model.graph_outputs, part.outputs, std::identity()) &&
         makes_outputs(model, node);
}

CompiledModel join_parts(const EpContextModel& model, std::vector<artifact::CompiledPart> parts) {
  Joiner joiner(model);
  std::optional<Isa> target;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Isa isa = cpu::target_of(parts[i].facets);
    if (target && isa != *target) {
      throw Error(ErrorCode::kFail,
                  fmt::format("the model's compiled parts are for {} and for {}; compile it again",
                              to_string(*target), to_string(isa)));
    }
    target = isa;
    joiner.add(model.nodes[i], std::move(parts[i]));
  }
  CompiledModel whole = joiner.finish();
  whole.isa = target.value_or(whole.isa);
  return whole;
}

}  // namespace sardonyx
