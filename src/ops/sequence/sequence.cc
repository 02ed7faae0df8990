#include "ops/sequence/sequence.h"

#include <fmt/format.h>

namespace sardonyx {

void require_sequence(const PrepareContext& context) {
  if (!context.has_input(0) || context.input_types[0]->kind != ValueType::Kind::kSequence) {
    context.unsupported("a sequence as input 0");
  }
}

Status read_position(const TensorView& view, int64_t count, bool may_be_end, int64_t& position) {
  if (view.size() != 1) {
    return Status(
        ErrorCode::kInvalidArgument,
        fmt::format("the position has the shape {}, expected one element", to_string(view.shape)));
  }
  const int64_t given = integer_values(Tensor::view(view.type, view.shape, view.data))[0];
  const int64_t last = may_be_end ? count : count - 1;
  if (given < -count || given > last) {
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("position {} lies outside [{}, {}] of a sequence of {} tensors",
                              given, -count, last, count));
  }
  position = given < 0 ? given + count : given;
  return Status::ok();
}

Status check_same_type(DataType type, std::span<const Tensor> items) {
  if (items.empty() || items[0].type() == type) return Status::ok();
  return Status(ErrorCode::kInvalidArgument,
                fmt::format("a tensor of {} does not fit a sequence of {} tensors", name_of(type),
                            name_of(items[0].type())));
}

}  // namespace sardonyx
