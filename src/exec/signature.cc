#include "exec/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "exec/evaluate.h"
#include "exec/step_message.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr int64_t kMaxKnownElements = 1024;
constexpr double kSerialStepNanoseconds = 1000.0;
// What a subgraph costs is not known here: enough to take the workers along.
constexpr double kControlFlowNanoseconds = 50000.0;

bool is_key_value(const BoundProgram& bound, int32_t buffer, const Tensor& tensor,
                  bool conditions) {
  return (bound.value_needed[buffer] || (conditions && bound.condition_needed[buffer])) &&
         tensor.is_defined() && tensor.size() <= kMaxKeyElements &&
         ((is_integer(tensor.type()) && !is_sub_byte(tensor.type())) ||
          tensor.type() == DataType::kBool);
}

// Buffers that share memory: views of one another and results written over an operand.
struct AliasClass {
  int32_t root = -1;  // the buffer whose place decides
  int32_t first_step = 0;
  int32_t last_step = -1;  // last use of any member
  int64_t size_bytes = 0;
  int32_t output = -1;    // program output that lives here
  bool is_fixed = false;  // an input, constant or known value: not ours to write
};

class Resolver {
 public:
  Resolver(const BoundProgram& bound, std::span<const Tensor> inputs, bool conditions)
      : bound_(bound), program_(bound.program), inputs_(inputs), conditions_(conditions) {}

  std::shared_ptr<const Signature> resolve() {
    start();
    const auto step_count = static_cast<int32_t>(bound_.steps.size());
    for (int32_t i = skip_branches(0); i < step_count; i = skip_branches(i + 1)) {
      try {
        resolve_step(i);
      } catch (const Error& error) {
        throw Error(error.code(), step_message(bound_, i, error.what()));
      }
    }
    place_outputs();
    place_arena();
    return signature_;
  }

 private:
  void start() {
    signature_ = std::make_shared<Signature>();
    signature_->key = make_key(bound_, inputs_, conditions_);
    signature_->key_without_conditions = make_key(bound_, inputs_, false);
    const size_t count = program_.buffers.size();
    signature_->steps.reserve(bound_.steps.size());
    classes_.reserve(count);
    signature_->views.resize(count);
    signature_->places.resize(count);
    known_.assign(count, false);
    dynamic_.assign(count, false);
    class_of_.assign(count, -1);
    output_of_.assign(count, -1);
    for (size_t o = program_.outputs.size(); o-- > 0;) {
      output_of_[program_.outputs[o]] = static_cast<int32_t>(o);
    }
    for (size_t b = 0; b < count; ++b) {
      const ProgramBuffer& buffer = program_.buffers[b];
      if (buffer.kind == ProgramBuffer::Kind::kConstant) set_known(b, buffer.constant);
    }
    for (size_t i = 0; i < program_.inputs.size(); ++i) {
      const int32_t b = program_.inputs[i];
      const Tensor& input = inputs_[i];
      if (!input.is_defined()) continue;
      if (is_key_value(bound_, b, input, conditions_)) {
        // A private copy: the caller's bytes change between Runs.
        signature_->known.push_back(input.clone());
        set_known(static_cast<size_t>(b), signature_->known.back());
        // Steps still read the caller's memory, which holds the same values.
      }
      signature_->views[b].type = input.type();
      dynamic_[b] = holds_values(input.type());
      if (!dynamic_[b]) signature_->views[b].shape = input.shape();
      signature_->places[b] = {Place::Kind::kInput, static_cast<int32_t>(i), 0, nullptr};
      new_class(b, -1, true);
    }
  }

  // The first step at or after i that is in no branch that another condition takes.
  int32_t skip_branches(int32_t i) {
    const std::vector<BoundBranch>& branches = bound_.branches;
    while (next_branch_ < branches.size() && branches[next_branch_].first == i) {
      const BoundBranch& branch = branches[next_branch_++];
      const std::optional<bool> condition = condition_of(branch.step);
      if (condition && *condition == branch.when) continue;
      i = branch.end;
      while (next_branch_ < branches.size() && branches[next_branch_].first < i) ++next_branch_;
    }
    return i;
  }

  // Of an If whose branches are spliced, when it is known here.
  std::optional<bool> condition_of(int32_t s) const {
    const int32_t b = bound_.steps[s].inputs.empty() ? -1 : bound_.steps[s].inputs[0];
    if (b < 0 || !known_[b]) return std::nullopt;
    const TensorView& view = signature_->views[b];
    if (view.type != DataType::kBool || view.size() != 1) return std::nullopt;
    return *view.as<bool>();
  }

  void set_known(size_t b, const Tensor& tensor) {
    set_known(b, TensorView{tensor.type(), tensor.shape(), const_cast<void*>(tensor.raw())});
  }

  void set_known(size_t b, const TensorView& contents) {
    signature_->views[b] = contents;
    signature_->places[b] = {Place::Kind::kFixed, 0, 0, contents.data};
    known_[b] = true;
    if (class_of_[b] < 0) new_class(static_cast<int32_t>(b), -1, true);
  }

  int32_t new_class(int32_t buffer, int32_t step, bool fixed) {
    AliasClass fresh;
    fresh.root = buffer;
    fresh.first_step = step;
    fresh.last_step = std::max(step, bound_.last_use[buffer]);
    fresh.is_fixed = fixed;
    class_of_[buffer] = static_cast<int32_t>(classes_.size());
    classes_.push_back(fresh);
    return class_of_[buffer];
  }

  void resolve_step(int32_t s) {
    const BoundStep& step = bound_.steps[s];
    const Node& node = program_.steps[s];
    std::vector<const TensorView*>& inputs = step_inputs_;
    std::vector<bool>& known = step_known_;
    std::vector<TensorView*>& outputs = step_outputs_;
    inputs.clear();
    known.clear();
    outputs.clear();
    bool all_known = true, any_dynamic = false, values_known = true;
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      const int32_t b = step.inputs[k];
      inputs.push_back(b < 0 ? &absent_view() : &signature_->views[b]);
      known.push_back(b >= 0 && known_[b]);
      if (b < 0) continue;
      all_known = all_known && known_[b];
      any_dynamic = any_dynamic || dynamic_[b];
      if (k < 32 && ((step.op->value_inputs >> k) & 1) != 0) {
        values_known = values_known && known_[b];
      }
    }
    for (int32_t b : step.outputs) outputs.push_back(b < 0 ? &unused_ : &signature_->views[b]);

    if (step.op->has(kControlFlow)) {
      const std::optional<bool> condition = condition_of(s);
      const int32_t branch = condition ? step.branches[*condition] : -1;
      return branch < 0 || passes_values(branch) ? add_dynamic_step(s) : take_branch(s, branch);
    }
    bool resolved = false;
    if (!any_dynamic && values_known && !step.op->has(kDataDependentShape) && !step.gives_outputs) {
      resolved = infer_step(node, *step.op, inputs, known, outputs, infer_scratch_);
      check_output_types(program_, step.outputs, outputs);
    }
    if (!resolved) return add_dynamic_step(s);
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i] < 0) outputs[i] = &absent_view();
    }
    if (evaluate_now(step, node, all_known, inputs, outputs)) return;
    // Strings are objects, which the arena cannot hold.
    const auto is_text = [](const TensorView* out) { return out->type == DataType::kString; };
    if (std::any_of(outputs.begin(), outputs.end(), is_text)) return add_dynamic_step(s);

    // An axis of an empty tensor may be longer than anything that a kernel could make or count.
    if (are_all_empty(outputs)) return place_step_outputs(step, s);

    ResolvedStep ready;
    ready.step = s;
    ResolveContext context(node, inputs, {outputs.data(), outputs.size()});
    step.kernel->resolve(context, ready.plan).throw_if_failed();
    place_step_outputs(step, s);
    add_scratch(ready, s);
    signature_->estimated_nanoseconds += estimated_nanoseconds(ready.plan);
    signature_->steps.push_back(std::move(ready));
  }

  // Does the branch hand on a sequence or optional from outside, of which nothing is known here?
  bool passes_values(int32_t branch) const {
    const std::vector<int32_t>& outputs = bound_.branches[branch].outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](int32_t b) {
      return !dynamic_[b] && holds_values(signature_->views[b].type);
    });
  }

  void set_dynamic(int32_t b, int32_t s) {
    dynamic_[b] = true;
    signature_->places[b].kind = Place::Kind::kDynamic;
    new_class(b, s, true);
  }

  void add_dynamic_step(int32_t s) {
    const BoundStep& step = bound_.steps[s];
    ResolvedStep dynamic;
    dynamic.step = s;
    dynamic.dynamic = true;
    signature_->steps.push_back(std::move(dynamic));
    signature_->estimated_nanoseconds +=
        step.op->has(kControlFlow) ? kControlFlowNanoseconds : kSerialStepNanoseconds;
    const std::vector<ValueType> types =
        step.gives_outputs ? types_without_shapes(step) : partial_types(step, s);
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const int32_t b = step.outputs[i];
      if (b < 0) continue;
      if (step.op->has(kDataDependentShape) || !place_static(types[i], b, s)) {
        set_dynamic(b, s);
        types_of_dynamic_[b] = types[i];
      }
    }
  }

  // A result with a shape that is known all the same lies in the arena, and what follows is static.
  bool place_static(const ValueType& type, int32_t b, int32_t s) {
    const std::optional<Shape> shape = to_shape(type.shape);
    if (!type.is_tensor() || !shape || type.element == DataType::kString) return false;
    const std::optional<int64_t> count = checked_element_count(*shape);
    if (!count || !storage_bytes(type.element, *count)) return false;
    signature_->views[b].type = type.element;
    signature_->views[b].shape = *shape;
    place_own(b, s);
    return true;
  }

  // Of a step that gives its outputs. Shapes in the program may be what the model declares, which
  // is no promise.
  std::vector<ValueType> types_without_shapes(const BoundStep& step) const {
    std::vector<ValueType> types;
    for (int32_t b : step.outputs) {
      types.push_back(b < 0 ? ValueType() : program_.buffers[b].type.without_shapes());
    }
    return types;
  }

  std::vector<ValueType> partial_types(const BoundStep& step, int32_t s) const {
    std::vector<ValueType> types(step.inputs.size());
    std::vector<Tensor> contents(step.inputs.size());
    std::vector<const Tensor*> constants(step.inputs.size(), nullptr);
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      const int32_t b = step.inputs[k];
      if (b < 0) continue;
      const TensorView& view = signature_->views[b];
      if (dynamic_[b]) {
        types[k] = types_of_dynamic_.at(b);
      } else if (view.is_present()) {
        types[k] = ValueType::tensor(view.type, to_dims(view.shape));
      }
      if (!known_[b]) continue;
      contents[k] = Tensor::view(view.type, view.shape, view.data);
      constants[k] = &contents[k];
    }
    return infer_types(program_.steps[s], *step.op, types, constants);
  }

  // The results of the branch, whose steps are resolved, are those of the If at step s.
  void take_branch(int32_t s, int32_t branch) {
    const std::vector<int32_t>& outputs = bound_.steps[s].outputs;
    bool moves = false;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const int32_t b = outputs[i], from = bound_.branches[branch].outputs[i];
      if (b < 0) continue;
      if (class_of_[from] < 0) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("output {} is an input that was not given", i));
      }
      const ValueType &wanted = program_.buffers[b].type, &given = program_.buffers[from].type;
      if (wanted.kind != given.kind || wanted.element != given.element) {
        throw Error(ErrorCode::kInvalidGraph,
                    fmt::format("output {} '{}' is {}, the program says {}", i,
                                program_.buffers[b].name, type_string(given), type_string(wanted)));
      }
      if (dynamic_[from]) {
        set_dynamic(b, s);
        types_of_dynamic_[b] = types_of_dynamic_.at(from);
        moves = true;
      } else if (known_[from]) {
        set_known(static_cast<size_t>(b), signature_->views[from]);
      } else {
        signature_->views[b].type = signature_->views[from].type;
        signature_->views[b].shape = signature_->views[from].shape;
        if (!join(class_of_[from], b)) share(class_of_[from], b);
      }
    }
    if (!moves) return;
    ResolvedStep step;
    step.step = s;
    step.dynamic = true;
    step.branch = branch;
    signature_->steps.push_back(std::move(step));
  }

  // Steps whose outputs follow from shapes and constants alone run here, once per signature.
  bool evaluate_now(const BoundStep& step, const Node& node, bool all_known,
                    const std::vector<const TensorView*>& inputs,
                    const std::vector<TensorView*>& outputs) {
    if (!all_known && !step.op->has(kShapeOnly)) return false;
    if (step.op->has(kNonDeterministic) || step.op->has(kControlFlow)) return false;
    for (const TensorView* output : outputs) {
      if (output->is_present() && element_count(output->shape) > kMaxKnownElements) return false;
    }
    const std::vector<Tensor> results = run_serially(node, *step.kernel, inputs, outputs);
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      if (step.outputs[i] < 0) continue;
      signature_->known.push_back(results[i]);
      set_known(static_cast<size_t>(step.outputs[i]), results[i]);
    }
    return true;
  }

  void place_step_outputs(const BoundStep& step, int32_t s) {
    for (size_t i = 0; i < step.outputs.size(); ++i) {
      const int32_t b = step.outputs[i];
      if (b < 0) continue;
      if (i == 0 && (alias_view(step, b) || alias_in_place(step, b, s))) continue;
      place_own(b, s);
    }
  }

  void place_own(int32_t b, int32_t s) {
    AliasClass& fresh = classes_[new_class(b, s, false)];
    fresh.size_bytes = signature_->views[b].size_bytes();
    fresh.output = output_of_[b];
  }

  // Joins buffer b to the class; fails when both must be outputs of their own.
  bool join(int32_t class_index, int32_t b) {
    AliasClass& target = classes_[class_index];
    const int32_t output = output_of_[b];
    if (output >= 0) {
      if (target.is_fixed || target.output >= 0) return false;
      target.output = output;
    }
    share(class_index, b);
    return true;
  }

  void share(int32_t class_index, int32_t b) {
    AliasClass& target = classes_[class_index];
    target.last_step = std::max(target.last_step, bound_.last_use[b]);
    class_of_[b] = class_index;
  }

  bool alias_view(const BoundStep& step, int32_t b) {
    if (!step.op->has(kView) || step.inputs.empty() || step.inputs[0] < 0) return false;
    const int32_t in = step.inputs[0];
    if (dynamic_[in] || class_of_[in] < 0) return false;
    if (signature_->views[in].type == DataType::kString) return false;
    return join(class_of_[in], b);
  }

  bool alias_in_place(const BoundStep& step, int32_t b, int32_t s) {
    for (size_t k = 0; k < step.inputs.size() && k < 32; ++k) {
      const int32_t in = step.inputs[k];
      if (((step.op->in_place >> k) & 1) == 0 || in < 0 || class_of_[in] < 0) continue;
      const AliasClass& target = classes_[class_of_[in]];
      if (target.is_fixed || target.last_step != s) continue;
      if (signature_->views[in].size_bytes() != signature_->views[b].size_bytes()) continue;
      if (signature_->views[in].type == DataType::kString) continue;
      // No other operand may live in that memory, save the same one where the mask allows it, too:
      // a convolution whose residual is also its input would read what it has overwritten.
      bool shared = false;
      for (size_t other = 0; other < step.inputs.size(); ++other) {
        const int32_t operand = step.inputs[other];
        if (other == k || operand < 0 || class_of_[operand] != class_of_[in]) continue;
        shared = shared || operand != in || other >= 32 || ((step.op->in_place >> other) & 1) == 0;
      }
      if (!shared && join(class_of_[in], b)) return true;
    }
    return false;
  }

  void add_scratch(ResolvedStep& ready, int32_t s) {
    int most_chunks = 1;
    for (int phase = 0; phase < ready.plan.phases; ++phase) {
      most_chunks = std::max(most_chunks, ready.plan.chunks[phase]);
    }
    const auto request = [&](int64_t bytes, int64_t ResolvedStep::*offset) {
      if (bytes == 0) return;
      scratch_.push_back({signature_->steps.size(), offset});
      scratch_requests_.push_back({s, s, bytes, -1});
    };
    request(ready.plan.scratch_bytes, &ResolvedStep::scratch_offset);
    request(ready.plan.scratch_bytes_per_chunk * most_chunks, &ResolvedStep::chunk_scratch_offset);
  }

  // Outputs that no step writes in place are copied at the end of a Run.
  void place_outputs() {
    for (size_t o = 0; o < program_.outputs.size(); ++o) {
      const int32_t b = program_.outputs[o];
      const int32_t c = class_of_[b];
      const bool written = c >= 0 && classes_[c].output == static_cast<int32_t>(o);
      if (!written) signature_->copies.push_back({static_cast<int32_t>(o), b});
    }
  }

  void place_arena() {
    struct Item {
      ArenaRequest request;
      int32_t class_index;  // or -1: scratch
      size_t scratch;
    };
    std::vector<Item> items;
    for (size_t c = 0; c < classes_.size(); ++c) {
      const AliasClass& alias = classes_[c];
      if (alias.is_fixed || alias.output >= 0) continue;
      items.push_back(
          {{alias.first_step, alias.last_step, alias.size_bytes, -1}, static_cast<int32_t>(c), 0});
    }
    for (size_t i = 0; i < scratch_.size(); ++i) items.push_back({scratch_requests_[i], -1, i});
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
      return a.request.first_step < b.request.first_step;
    });
    std::vector<ArenaRequest> requests;
    for (const Item& item : items) requests.push_back(item.request);
    signature_->arena = place_in_arena(requests, static_cast<int64_t>(kTensorAlignment));
    std::vector<int64_t> class_offset(classes_.size(), 0);
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].class_index >= 0) {
        class_offset[items[i].class_index] = requests[i].offset;
      } else {
        const Scratch& scratch = scratch_[items[i].scratch];
        signature_->steps[scratch.step].*scratch.offset = requests[i].offset;
      }
    }
    for (size_t b = 0; b < class_of_.size(); ++b) {
      if (class_of_[b] < 0 || dynamic_[b]) continue;
      const AliasClass& alias = classes_[class_of_[b]];
      Place& place = signature_->places[b];
      if (alias.is_fixed) {
        place = signature_->places[alias.root];
        signature_->views[b].data =
            place.kind == Place::Kind::kFixed ? const_cast<void*>(place.address) : nullptr;
      } else if (alias.output >= 0) {
        place = {Place::Kind::kOutput, alias.output, 0, nullptr};
      } else {
        place = {Place::Kind::kArena, 0, class_offset[class_of_[b]], nullptr};
      }
    }
  }

  struct Scratch {
    size_t step;
    int64_t ResolvedStep::*offset;
  };

  const BoundProgram& bound_;
  const Program& program_;
  std::span<const Tensor> inputs_;
  const bool conditions_;
  std::shared_ptr<Signature> signature_;
  std::vector<const TensorView*> step_inputs_;  // of the step being resolved
  std::vector<bool> step_known_;
  std::vector<TensorView*> step_outputs_;
  TensorView unused_;
  InferScratch infer_scratch_;
  size_t next_branch_ = 0;  // into bound_.branches
  std::vector<bool> known_;
  std::vector<bool> dynamic_;
  std::unordered_map<int32_t, ValueType> types_of_dynamic_;  // what is known of them, per buffer
  std::vector<int32_t> class_of_;
  std::vector<int32_t> output_of_;  // of each buffer, the first program output that it is; or -1
  std::vector<AliasClass> classes_;
  std::vector<Scratch> scratch_;
  std::vector<ArenaRequest> scratch_requests_;
};

}  // namespace

double estimated_nanoseconds(const StepPlan& plan) {
  double total = 0;
  for (int phase = 0; phase < plan.phases; ++phase) {
    total +=
        plan.chunks[phase] > 1 ? plan.chunks[phase] * kChunkNanoseconds : kSerialStepNanoseconds;
  }
  return total;
}

SignatureKey make_key(const BoundProgram& bound, std::span<const Tensor> inputs, bool conditions) {
  SignatureKey key;
  key.reserve(8 * inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    // How many elements it has, and their shapes, are known while running only.
    if (holds_values(input.type())) continue;
    key.push_back(static_cast<int64_t>(input.shape().size()));
    for (int64_t dim : input.shape()) key.push_back(dim);
    if (is_key_value(bound, bound.program.inputs[i], input, conditions)) {
      for (int64_t value : integer_values(input)) key.push_back(value);
    }
  }
  return key;
}

std::shared_ptr<const Signature> resolve_signature(const BoundProgram& bound,
                                                   std::span<const Tensor> inputs,
                                                   bool conditions) {
  return Resolver(bound, inputs, conditions).resolve();
}

}  // namespace sardonyx
