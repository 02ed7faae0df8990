#include "ops/gemm/batched.h"

#include <fmt/format.h>

#include <algorithm>

namespace sardonyx {
namespace {

// Matrix numbers of an operand with batch dimensions `dims` under the broadcast ones; empty when
// they are 0, 1, 2, ...
std::vector<int32_t> matrix_index(const Shape& dims, const Shape& batch) {
  if (dims == batch) return {};
  const size_t rank = batch.size(), missing = rank - dims.size();
  Shape step(rank, 0);
  int64_t size = 1;
  for (size_t i = rank; i-- > missing;) {
    if (dims[i - missing] != 1) step[i] = size;
    size *= dims[i - missing];
  }
  std::vector<int32_t> index(static_cast<size_t>(element_count(batch)));
  Shape at(rank, 0);
  int64_t matrix = 0;
  for (int32_t& entry : index) {
    entry = static_cast<int32_t>(matrix);
    for (size_t i = rank; i-- > 0;) {
      matrix += step[i];
      if (++at[i] < batch[i]) break;
      matrix -= step[i] * batch[i];
      at[i] = 0;
    }
  }
  return index;
}

}  // namespace

MatmulShape make_matmul_shape(const Shape& a, const Shape& b) {
  MatmulShape s;
  s.k = a.back();
  s.m = a.size() >= 2 ? a[a.size() - 2] : 1;
  s.n = b.size() >= 2 ? b.back() : 1;
  const Shape a_dims(a.begin(), a.begin() + (a.size() >= 2 ? a.size() - 2 : 0));
  const Shape b_dims(b.begin(), b.begin() + (b.size() >= 2 ? b.size() - 2 : 0));
  const Shape batch = broadcast_shapes(a_dims, b_dims).value_or(a_dims);
  s.batch = element_count(batch);
  s.a_count = element_count(a_dims);
  s.b_count = element_count(b_dims);
  if (s.b_count == 1 && s.a_count == s.batch) {
    s.m *= s.batch;
    s.batch = s.a_count = 1;
    return s;
  }
  s.a_index = matrix_index(a_dims, batch);
  s.b_index = matrix_index(b_dims, batch);
  return s;
}

SymShape infer_matmul(InferContext& context, const SymShape& a, const SymShape& b) {
  if (!a || !b) return std::nullopt;
  if (a->empty() || b->empty()) context.fail("operands must have at least one dimension");
  DimTable& dims = context.dims();
  const bool a_vector = a->size() == 1, b_vector = b->size() == 1;
  const Dim a_inner = a->back();
  const Dim b_inner = b_vector ? (*b)[0] : (*b)[b->size() - 2];
  if (a_inner.is_known() && b_inner.is_known() && a_inner != b_inner) {
    context.fail(fmt::format("inner dimensions {} and {} differ", a_inner.value, b_inner.value));
  }
  const size_t a_batch = a_vector ? 0 : a->size() - 2;
  const size_t b_batch = b_vector ? 0 : b->size() - 2;
  const size_t rank = std::max(a_batch, b_batch);
  Dims out;
  for (size_t i = 0; i < rank; ++i) {
    const Dim left = i + a_batch < rank ? Dim(1) : (*a)[i + a_batch - rank];
    const Dim right = i + b_batch < rank ? Dim(1) : (*b)[i + b_batch - rank];
    const std::optional<Dim> both = dims.broadcast(left, right);
    if (!both) {
      context.fail(fmt::format("batch dimensions {} and {} do not match", left.value, right.value));
    }
    out.push_back(*both);
  }
  if (!a_vector) out.push_back((*a)[a->size() - 2]);
  if (!b_vector) out.push_back(b->back());
  return out;
}

}  // namespace sardonyx
