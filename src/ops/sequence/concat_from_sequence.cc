// ConcatFromSequence: the tensors of a sequence joined along an axis, an old or a new one.
#include <fmt/format.h>

#include "ops/op.h"
#include "ops/sequence/sequence.h"
#include "ops/shape/axis_parts.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {11,
     "input_sequence: S -> concat_result: T | axis: int!, new_axis: int = 0 | S: @seq1, T: @all1"},
};

struct Params {
  int64_t axis;
  bool is_new;

  explicit Params(const Node& node)
      : axis(node.attributes.get_int("axis", 0)),
        is_new(node.attributes.get_int("new_axis", 0) != 0) {}

  // The axis of the result, for parts of rank `rank`; nullopt when there is none.
  std::optional<size_t> find_axis(size_t rank) const {
    const auto axes = static_cast<int64_t>(rank) + (is_new ? 1 : 0);
    if (axis < -axes || axis >= axes) return std::nullopt;
    return static_cast<size_t>(axis < 0 ? axis + axes : axis);
  }
  std::string complaint(size_t rank) const {
    const auto axes = static_cast<int64_t>(rank) + (is_new ? 1 : 0);
    return fmt::format("axis {} lies outside [{}, {}]; the tensors have rank {}", axis, -axes,
                       axes - 1, rank);
  }
};

void infer(InferContext& context) {
  const ValueType item = item_type(context.input_type(0));
  SymShape shape = item.shape;
  if (shape) {
    const Params params(context.node());
    const std::optional<size_t> axis = params.find_axis(shape->size());
    if (!axis) context.fail(params.complaint(shape->size()));
    if (params.is_new) shape->insert(shape->begin() + *axis, Dim::unknown());
    (*shape)[*axis] = Dim::unknown();
  }
  context.set_output(0, item.element, std::move(shape));
}

class ConcatFromSequenceKernel final : public Kernel {
 public:
  explicit ConcatFromSequenceKernel(const Node& node) : params_(node) {}

  Status run(const RunContext& context) const override {
    const std::span<const Tensor> items = items_of(context.input(0));
    if (items.empty()) {
      return Status(ErrorCode::kInvalidArgument,
                    "the sequence is empty, expected one tensor or more to join");
    }
    Shape shape = items[0].shape();
    const std::optional<size_t> axis = params_.find_axis(shape.size());
    if (!axis) return Status(ErrorCode::kInvalidArgument, params_.complaint(shape.size()));
    if (params_.is_new) shape.insert(shape.begin() + *axis, 1);
    int64_t total = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      if (!fits(items[i], items[0], *axis) ||
          __builtin_add_overflow(total, width(items[i], *axis), &total)) {
        return Status(ErrorCode::kInvalidArgument,
                      fmt::format("tensor {} of the sequence is {}{}, which does not join {}{} "
                                  "along {}axis {}",
                                  i, name_of(items[i].type()), to_string(items[i].shape()),
                                  name_of(items[0].type()), to_string(items[0].shape()),
                                  params_.is_new ? "the new " : "", *axis));
      }
    }
    shape[*axis] = total;
    Tensor whole = allocate_whole(items[0].type(), shape);
    int64_t at = 0;
    for (const Tensor& item : items) {
      put_part(item, whole, *axis, at, width(item, *axis));
      at += width(item, *axis);
    }
    return context.give_output(0, std::move(whole));
  }

 private:
  int64_t width(const Tensor& item, size_t axis) const {
    return params_.is_new ? 1 : item.shape()[axis];
  }
  bool fits(const Tensor& item, const Tensor& first, size_t axis) const {
    if (item.type() != first.type() || item.shape().size() != first.shape().size()) return false;
    for (size_t d = 0; d < first.shape().size(); ++d) {
      if ((params_.is_new || d != axis) && item.shape()[d] != first.shape()[d]) return false;
    }
    return true;
  }

  Params params_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  require_sequence(context);
  return std::make_unique<ConcatFromSequenceKernel>(context.node);
}

}  // namespace

extern const OpDef kConcatFromSequence = {.domain = "",
                                          .name = "ConcatFromSequence",
                                          .versions = kVersions,
                                          .infer = infer,
                                          .prepare = prepare};

}  // namespace sardonyx
