// ElementWalk: the elements of an index tensor of GatherElements or ScatterElements, and what each
// of them points at in the data: the same coordinates, but for one axis, where the index counts.
#pragma once

#include "ops/index/lanes.h"
#include "ops/infer.h"

namespace sardonyx {

struct ElementWalk {
  Shape dims;                       // of the indices
  SmallVector<int64_t, 6> strides;  // of the data; 0 for the axis
  int64_t count = 1;
  int64_t axis_size = 1, axis_stride = 1;  // of the data

  // Calls body(i, offset) for elements [part.begin, part.end): the offset in the data but for the
  // axis. Stops at the first failure.
  template <typename Body>
  Status run(Range part, Body&& body) const {
    if (part.begin >= part.end) return Status::ok();
    const size_t last = dims.size() - 1;
    SmallVector<int64_t, 6> index(dims.size(), 0);
    int64_t offset = 0, rest = part.begin;
    for (size_t axis = dims.size(); axis-- > 0;) {
      index[axis] = rest % dims[axis];
      rest /= dims[axis];
      offset += index[axis] * strides[axis];
    }
    for (int64_t i = part.begin; i < part.end; ++i) {
      SDX_RETURN_IF_FAILED(body(i, offset));
      for (size_t axis = last;; --axis) {
        offset += strides[axis];
        if (++index[axis] < dims[axis] || axis == 0) break;
        offset -= dims[axis] * strides[axis];
        index[axis] = 0;
      }
    }
    return Status::ok();
  }
};

ElementWalk plan_element_walk(const Shape& data, const Shape& indices, int64_t axis);

// Fails when the indices (input 1) do not fit into the data (input 0).
void check_element_indices(const InferContext& context);

}  // namespace sardonyx
