// The batch dimensions of a matrix product: numpy broadcasting of everything before the last two
// dimensions, as tables of matrix indices. Shared by MatMul and PackedGemm.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/infer.h"
#include "tensor/shape.h"

namespace sardonyx {

struct MatmulShape {
  int64_t m = 1, n = 1, k = 0;
  int64_t batch = 1;                      // products
  int64_t a_count = 1, b_count = 1;       // distinct matrices
  std::vector<int32_t> a_index, b_index;  // matrix of each product; empty when it is the product's
                                          // own number

  int64_t a_of(int64_t product) const {
    return a_index.empty() ? product : a_index[static_cast<size_t>(product)];
  }
  int64_t b_of(int64_t product) const {
    return b_index.empty() ? product : b_index[static_cast<size_t>(product)];
  }
};

// For operands that `infer` accepted. A single right-hand matrix folds the batch into rows.
MatmulShape make_matmul_shape(const Shape& a, const Shape& b);

// The output shape of a product by numpy's matmul rules; fails on a clash.
SymShape infer_matmul(InferContext& context, const SymShape& a, const SymShape& b);

}  // namespace sardonyx
