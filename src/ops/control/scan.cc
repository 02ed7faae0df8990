// Scan: runs its body once for each position along an axis of its scanned inputs, carrying states
// from trip to trip and stacking the other outputs along an axis. Version 8 does so for every
// element of a batch.
#include <fmt/format.h>

#include <cstring>

#include "ops/control/scan_params.h"
#include "ops/control/subgraph.h"
#include "ops/op.h"
#include "ops/shape/axis_parts.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {8,
     "sequence_lens: I?, initial_state_and_scan_inputs: V~... -> final_state_and_scan_outputs: "
     "V~... | body: graph!, directions: ints?, num_scan_inputs: int! | I: int64, V: @all1"},
    {9,
     "initial_state_and_scan_inputs: V~... -> final_state_and_scan_outputs: V~... | body: graph!, "
     "num_scan_inputs: int!, scan_input_axes: ints?, scan_input_directions: ints?, "
     "scan_output_axes: ints?, scan_output_directions: ints? | V: @all1"},
    {11,
     "initial_state_and_scan_inputs: V~... -> final_state_and_scan_outputs: V~... | body: graph!, "
     "num_scan_inputs: int!, scan_input_axes: ints?, scan_input_directions: ints?, "
     "scan_output_axes: ints?, scan_output_directions: ints? | V: @all1"},
    {16,
     "initial_state_and_scan_inputs: V~... -> final_state_and_scan_outputs: V~... | body: graph!, "
     "num_scan_inputs: int!, scan_input_axes: ints?, scan_input_directions: ints?, "
     "scan_output_axes: ints?, scan_output_directions: ints? | V: @all13"},
    {19,
     "initial_state_and_scan_inputs: V~... -> final_state_and_scan_outputs: V~... | body: graph!, "
     "num_scan_inputs: int!, scan_input_axes: ints?, scan_input_directions: ints?, "
     "scan_output_axes: ints?, scan_output_directions: ints? | V: @all19"},
    {21,
     "initial_state_and_scan_inputs: V~... -> final_state_and_scan_outputs: V~... | body: graph!, "
     "num_scan_inputs: int!, scan_input_axes: ints?, scan_input_directions: ints?, "
     "scan_output_axes: ints?, scan_output_directions: ints? | V: @all21"},
    {23,
     "initial_state_and_scan_inputs: V~... -> final_state_and_scan_outputs: V~... | body: graph!, "
     "num_scan_inputs: int!, scan_input_axes: ints?, scan_input_directions: ints?, "
     "scan_output_axes: ints?, scan_output_directions: ints? | V: @all23"},
    {24,
     "initial_state_and_scan_inputs: V~... -> final_state_and_scan_outputs: V~... | body: graph!, "
     "num_scan_inputs: int!, scan_input_axes: ints?, scan_input_directions: ints?, "
     "scan_output_axes: ints?, scan_output_directions: ints? | V: @all24"},
    {25,
     "initial_state_and_scan_inputs: V~... -> final_state_and_scan_outputs: V~... | body: graph!, "
     "num_scan_inputs: int!, scan_input_axes: ints?, scan_input_directions: ints?, "
     "scan_output_axes: ints?, scan_output_directions: ints? | V: @all25"},
};

std::optional<size_t> find_axis(int64_t axis, size_t rank) {
  const auto axes = static_cast<int64_t>(rank);
  if (axis < -axes || axis >= axes) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + axes : axis);
}

std::string axis_complaint(int64_t axis, size_t rank, const char* what, size_t i) {
  return fmt::format("axis {} of {} {} lies outside [-{}, {}]", axis, what, i, rank,
                     static_cast<int64_t>(rank) - 1);
}

// Without its first axis, that of the batch.
ValueType one_of_batch(const ValueType& type) {
  ValueType one = type;
  if (one.shape && !one.shape->empty()) one.shape->erase(one.shape->begin());
  return one;
}

// The shape with an axis added before `axis`.
void add_axis(ValueType& type, size_t axis, const Dim& dim) {
  if (type.shape) type.shape->insert(type.shape->begin() + axis, dim);
}

void infer(InferContext& context) {
  const Graph* body = subgraph_of(context.node(), "body");
  if (body == nullptr) return;
  const ScanParams params(context.node(), context.input_count(), context.output_count());
  std::vector<ValueType> inputs;
  Dim trips, batch;
  for (size_t i = 0; i < params.states + params.scanned; ++i) {
    const size_t input = params.first_input + i;
    if (!context.has_input(input)) context.fail(fmt::format("input {} is absent", input));
    ValueType type = context.input_type(input);
    if (params.has_batch) {
      if (type.shape && !type.shape->empty()) batch = type.shape->front();
      type = one_of_batch(type);
    }
    if (i < params.states) {
      // A state keeps its type; its shape may change from trip to trip.
      type = type.without_shapes();
    } else if (type.shape) {
      const int64_t given = params.input_axes[i - params.states];
      const std::optional<size_t> axis = find_axis(given, type.shape->size());
      if (!axis) {
        context.fail(axis_complaint(given, type.shape->size(), "scanned input", i - params.states));
      }
      trips = (*type.shape)[*axis];
      type.shape->erase(type.shape->begin() + *axis);
    }
    inputs.push_back(std::move(type));
  }
  if (body->inputs().size() != inputs.size()) {
    context.fail(fmt::format("the body has {} inputs, expected {} (states and slices)",
                             body->inputs().size(), inputs.size()));
  }
  const std::vector<ValueType> results = context.infer_subgraph(*body, inputs);
  if (results.size() != context.output_count()) {
    context.fail(fmt::format("the body has {} outputs, the node {}", results.size(),
                             context.output_count()));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    ValueType type = results[i];
    if (i < params.states) {
      check_carried(context, i, inputs[i], type);
      type = type.without_shapes();
    } else if (type.shape) {
      const int64_t given = params.output_axes[i - params.states];
      const std::optional<size_t> axis = find_axis(given, type.shape->size() + 1);
      if (!axis) {
        context.fail(axis_complaint(given, type.shape->size() + 1, "output", i - params.states));
      }
      add_axis(type, *axis, trips);
      if (params.has_batch) add_axis(type, 0, batch);
    }
    context.set_output(i, std::move(type));
  }
}

// An output made of slices; memory is had when the first one is there.
class Stack {
 public:
  // positions: along the axis. reversed: the first slice goes to the end.
  Stack(int64_t given_axis, bool is_reversed, int64_t positions)
      : given_axis_(given_axis), is_reversed_(is_reversed), positions_(positions) {}

  Status add(const Tensor& slice, int64_t trip) {
    if (!whole_.is_defined()) {
      SDX_RETURN_IF_FAILED(start(slice.type(), slice.shape()));
      slice_shape_ = slice.shape();
    } else if (slice.type() != whole_.type()) {
      return Status(ErrorCode::kInvalidArgument, "a stacked output changes its type");
    } else if (!(slice.shape() == slice_shape_)) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("a stacked output has the shape {} in trip 0 and {} in trip {}",
                                to_string(slice_shape_), to_string(slice.shape()), trip));
    }
    put_part(slice, whole_, axis_, is_reversed_ ? positions_ - 1 - trip : trip, 1);
    return Status::ok();
  }
  // Without a slice: what is known of one.
  Status start(DataType type, const Shape& slice) {
    const std::optional<size_t> axis = find_axis(given_axis_, slice.size() + 1);
    if (!axis) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("axis {} of an output lies outside [-{}, {}]", given_axis_,
                                slice.size() + 1, slice.size()));
    }
    axis_ = *axis;
    Shape shape = slice;
    shape.insert(shape.begin() + axis_, positions_);
    whole_ = Tensor::allocate(type, shape);
    // Positions that no trip reaches are zero, as are the bits that pad packed elements.
    if (!holds_objects(type) && whole_.size() != 0) {
      std::memset(whole_.raw(), 0, static_cast<size_t>(whole_.size_bytes()));
    }
    return Status::ok();
  }
  bool is_started() const { return whole_.is_defined(); }
  Tensor take() { return std::move(whole_); }

 private:
  int64_t given_axis_;
  bool is_reversed_;
  int64_t positions_;
  size_t axis_ = 0;
  Shape slice_shape_;
  Tensor whole_;
};

class ScanKernel final : public Kernel {
 public:
  explicit ScanKernel(const PrepareContext& context)
      : params_(context.node, context.input_count(), context.output_types.size()) {
    for (const ValueType* type : context.output_types) {
      types_.push_back(type == nullptr ? ValueType() : *type);
    }
  }

  Status run(const RunContext& context) const override {
    std::vector<Tensor> inputs;
    // What the body captures comes behind.
    for (size_t i = 0; i < params_.states + params_.scanned; ++i) {
      inputs.push_back(context.input_tensor(params_.first_input + i));
    }
    std::vector<Tensor> outputs;
    if (params_.has_batch) {
      SDX_RETURN_IF_FAILED(run_batch(context, inputs, outputs));
    } else {
      int64_t trips = 0;
      SDX_RETURN_IF_FAILED(count_trips(inputs, trips));
      SDX_RETURN_IF_FAILED(run_one(context, std::move(inputs), trips, trips, outputs));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (context.is_wanted(i)) SDX_RETURN_IF_FAILED(context.give_output(i, std::move(outputs[i])));
    }
    return Status::ok();
  }

 private:
  // The length that the scanned inputs have along their axes.
  Status count_trips(std::span<const Tensor> inputs, int64_t& trips) const {
    for (size_t i = 0; i < params_.scanned; ++i) {
      const Shape& shape = inputs[params_.states + i].shape();
      const std::optional<size_t> axis = find_axis(params_.input_axes[i], shape.size());
      if (!axis) {
        return Status(ErrorCode::kInvalidArgument,
                      axis_complaint(params_.input_axes[i], shape.size(), "scanned input", i));
      }
      if (i > 0 && shape[*axis] != trips) {
        return Status(ErrorCode::kInvalidArgument,
                      fmt::format("scanned input {} has {} positions along axis {}, input 0 has {}",
                                  i, shape[*axis], *axis, trips));
      }
      trips = shape[*axis];
    }
    return Status::ok();
  }

  // positions: of the stacked outputs; trips of them are filled.
  Status run_one(const RunContext& context, std::vector<Tensor> inputs, int64_t trips,
                 int64_t positions, std::vector<Tensor>& results) const {
    std::vector<Stack> stacks;
    for (size_t i = 0; i < params_.stacked; ++i) {
      stacks.emplace_back(params_.output_axes[i], params_.output_reversed[i], positions);
    }
    std::vector<Tensor> operands(inputs.begin(), inputs.begin() + to_signed(params_.states));
    operands.resize(inputs.size());
    for (int64_t trip = 0; trip < trips; ++trip) {
      for (size_t i = 0; i < params_.scanned; ++i) {
        const Tensor& whole = inputs[params_.states + i];
        const size_t axis = *find_axis(params_.input_axes[i], whole.shape().size());
        operands[params_.states + i] =
            view_slice(whole, axis, params_.input_reversed[i] ? trips - 1 - trip : trip);
      }
      std::vector<Tensor> outputs(params_.states + params_.stacked);
      SDX_RETURN_IF_FAILED(context.subgraphs->run("body", operands, outputs));
      for (size_t i = 0; i < params_.states; ++i) operands[i] = std::move(outputs[i]);
      for (size_t i = 0; i < params_.stacked; ++i) {
        SDX_RETURN_IF_FAILED(stacks[i].add(outputs[params_.states + i], trip));
      }
    }
    for (size_t i = 0; i < params_.states; ++i) {
      // What never went through the body is still an input's memory.
      results.push_back(trips == 0 ? keep(operands[i]) : std::move(operands[i]));
    }
    for (size_t i = 0; i < params_.stacked; ++i) {
      if (!stacks[i].is_started()) {
        SDX_RETURN_IF_FAILED(stacks[i].start(types_[params_.states + i].element, slice_shape(i)));
      }
      results.push_back(stacks[i].take());
    }
    return Status::ok();
  }

  // Version 8: the batch is axis 0 of everything, the sequence axis 1 of what is scanned.
  Status run_batch(const RunContext& context, std::span<const Tensor> inputs,
                   std::vector<Tensor>& results) const {
    int64_t batch = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Shape& shape = inputs[i].shape();
      if (shape.empty() || (i > 0 && shape[0] != batch)) {
        return Status(ErrorCode::kInvalidArgument,
                      fmt::format("input {} has the shape {}, expected a batch of {} first",
                                  i + params_.first_input, to_string(shape),
                                  i > 0 ? std::to_string(batch) : "any size"));
      }
      batch = shape[0];
    }
    results.resize(params_.states + params_.stacked);
    std::vector<Stack> stacks(results.size(), Stack(0, false, batch));
    for (int64_t b = 0; b < batch; ++b) {
      std::vector<Tensor> one;
      for (const Tensor& input : inputs) one.push_back(view_slice(input, 0, b));
      int64_t positions = 0;
      SDX_RETURN_IF_FAILED(count_trips(one, positions));
      int64_t trips = positions;
      if (context.has_input(0)) SDX_RETURN_IF_FAILED(read_length(context, b, batch, trips));
      std::vector<Tensor> outputs;
      SDX_RETURN_IF_FAILED(run_one(context, std::move(one), trips, positions, outputs));
      for (size_t i = 0; i < outputs.size(); ++i) {
        SDX_RETURN_IF_FAILED(stacks[i].add(outputs[i], b));
      }
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (!stacks[i].is_started()) {
        Shape shape = i < params_.states ? inputs[i].shape() : known_shape(types_[i], 0, 0);
        if (i < params_.states) shape.erase(shape.begin());
        SDX_RETURN_IF_FAILED(stacks[i].start(types_[i].element, shape));
      }
      results[i] = stacks[i].take();
    }
    return Status::ok();
  }

  // sequence_lens[b], at most `length` on entry.
  static Status read_length(const RunContext& context, int64_t b, int64_t batch, int64_t& length) {
    const TensorView& lengths = context.input(0);
    if (!(lengths.shape == Shape{batch})) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("sequence_lens has the shape {}, expected [{}]",
                                to_string(lengths.shape), batch));
    }
    const int64_t given = lengths.as<int64_t>()[b];
    if (given < 0 || given > length) {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("sequence_lens[{}] is {}, expected 0 to {}", b, given, length));
    }
    length = given;
    return Status::ok();
  }

  // Position `at` of `axis`, which goes. Borrowed when it lies in one piece.
  static Tensor view_slice(const Tensor& whole, size_t axis, int64_t at) {
    Shape shape = whole.shape();
    shape.erase(shape.begin() + axis);
    const bool is_one_piece = element_count(whole.shape(), 0, axis) == 1;
    if (!is_one_piece || is_sub_byte(whole.type())) {
      return take_part(whole, axis, at, 1).reshaped(shape);
    }
    const int64_t bytes = *storage_bytes(whole.type(), element_count(shape));
    return Tensor::view(whole.type(), shape, whole.data<std::byte>() + at * bytes);
  }

  // What inference knows of the dimensions from `first` on, without one; unknown sizes as 0.
  static Shape known_shape(const ValueType& type, size_t first, size_t skipped) {
    Shape shape;
    for (size_t d = first; type.shape && d < type.shape->size(); ++d) {
      const Dim& dim = (*type.shape)[d];
      if (d != skipped) shape.push_back(dim.is_known() ? dim.value : 0);
    }
    return shape;
  }
  // Of a slice of a stacked output, when there was no trip.
  Shape slice_shape(size_t i) const {
    const ValueType& type = types_[params_.states + i];
    if (!type.shape) return {};
    const size_t first = params_.has_batch ? 1 : 0;
    const auto axis = find_axis(params_.output_axes[i], type.shape->size() - first);
    return known_shape(type, first, axis ? *axis + first : SIZE_MAX);
  }

  static std::ptrdiff_t to_signed(size_t i) { return static_cast<std::ptrdiff_t>(i); }

  ScanParams params_;
  std::vector<ValueType> types_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  return std::make_unique<ScanKernel>(context);
}

}  // namespace

extern const OpDef kScan = {.domain = "",
                            .name = "Scan",
                            .versions = kVersions,
                            .traits = kControlFlow | kNoFold,
                            .infer = infer,
                            .prepare = prepare};

}  // namespace sardonyx
