// IndexTuples: the last axis of an index tensor read as coordinates of a slice of the data.
// GatherND reads such slices, ScatterND writes them.
#pragma once

#include "ops/index/lanes.h"

namespace sardonyx {

struct IndexTuples {
  int64_t count = 1;                       // of tuples
  int64_t per_batch = 1;                   // tuples
  int64_t batch_elements = 0;              // of the data
  int64_t slice = 1;                       // elements of a slice
  SmallVector<int64_t, 6> sizes, strides;  // of the axes that a tuple gives

  // The offset of the slice of tuple i.
  Status locate(const char* op, const int64_t* indices, int64_t i, int64_t& offset) const {
    offset = per_batch == count ? 0 : i / per_batch * batch_elements;
    for (size_t k = 0; k < sizes.size(); ++k) {
      int64_t index = indices[i * static_cast<int64_t>(sizes.size()) + static_cast<int64_t>(k)];
      if (!wrap_index(index, sizes[k])) return index_outside(op, index, sizes[k]);
      offset += index * strides[k];
    }
    return Status::ok();
  }
};

inline IndexTuples plan_index_tuples(const Shape& data, const Shape& indices, size_t batch_dims) {
  IndexTuples tuples;
  const size_t last = indices.size() - 1;
  const size_t end = batch_dims + static_cast<size_t>(indices[last]);
  tuples.count = element_count(indices, 0, last);
  tuples.per_batch = element_count(indices, batch_dims, last);
  tuples.batch_elements = element_count(data, batch_dims, data.size());
  tuples.slice = element_count(data, end, data.size());
  for (size_t axis = batch_dims; axis < end; ++axis) {
    tuples.sizes.push_back(data[axis]);
    tuples.strides.push_back(element_count(data, axis + 1, data.size()));
  }
  return tuples;
}

}  // namespace sardonyx
