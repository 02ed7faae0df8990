#include "ops/quantize/granularity.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise/convert.h"
#include "ops/elementwise/narrow.h"
#include "ops/typed.h"

namespace sardonyx {
namespace {

int64_t block_size_of(const Node& node) { return node.attributes.get_int("block_size", 0); }

// Before version 13 there is no axis: one scale for all.
int64_t axis_of(const Node& node) { return node.attributes.get_int("axis", 1); }

}  // namespace

void check_granularity(const InferContext& context) {
  const Node& node = context.node();
  const int64_t block = block_size_of(node);
  if (block < 0) context.fail(fmt::format("attribute 'block_size' is {}", block));
  const SymShape& x = context.input_shape(0);
  const SymShape& scale = context.input_shape(1);
  if (!x || !scale) return;
  if (const SymShape& zero = context.input_shape(2); zero) {
    bool same = zero->size() == scale->size();
    for (size_t i = 0; same && i < zero->size(); ++i) {
      const Dim &a = (*zero)[i], &b = (*scale)[i];
      same = !a.is_known() || !b.is_known() || a == b;
    }
    const auto a = to_shape(zero), b = to_shape(scale);
    if (!same && !(a && b && element_count(*a) == 1 && element_count(*b) == 1)) {
      context.fail("the shapes of scale and zero point differ");
    }
  }
  if (block > 0) {
    if (scale->size() != x->size()) {
      context.fail(fmt::format("blocks need a scale of rank {}, got {}", x->size(), scale->size()));
    }
    const auto axis = static_cast<size_t>(context.normalize_axis(axis_of(node), x->size()));
    for (size_t i = 0; i < x->size(); ++i) {
      const Dim &own = (*scale)[i], &of = (*x)[i];
      if (!own.is_known() || !of.is_known()) continue;
      const int64_t expected = i == axis ? (of.value + block - 1) / block : of.value;
      if (own.value != expected) {
        context.fail(
            fmt::format("the scale has size {} on axis {}, expected {}", own.value, i, expected));
      }
    }
    return;
  }
  const auto known = to_shape(scale);
  if (scale->empty() || (known && element_count(*known) == 1)) return;
  if (scale->size() > 1) context.fail("a scale of several axes needs attribute 'block_size'");
  if (node.version < 13) {
    if (known) context.fail("the scale must be a scalar");
    return;
  }
  const auto axis = static_cast<size_t>(context.normalize_axis(axis_of(node), x->size()));
  const Dim &own = (*scale)[0], &of = (*x)[axis];
  if (own.is_known() && of.is_known() && own != of) {
    context.fail(fmt::format("{} scales for axis {} of size {}", own.value, axis, of.value));
  }
}

Granularity granularity_of(const ResolveContext& context) {
  const Shape& x = context.input_shape(0);
  const Shape& scale = context.input_shape(1);
  const int64_t block = block_size_of(context.node());
  Granularity result;
  if (block == 0 && element_count(scale) == 1) return result;
  int64_t axis = axis_of(context.node());
  if (axis < 0) axis += static_cast<int64_t>(x.size());
  const auto at = static_cast<size_t>(axis);
  result.kind = block > 0 ? Granularity::Kind::kBlock : Granularity::Kind::kAxis;
  result.size = x[at];
  result.inner = element_count(x, at + 1, x.size());
  result.block = std::max<int64_t>(block, 1);
  result.blocks = block > 0 ? scale[at] : 1;
  return result;
}

void Granularity::load(const TensorView& values, int64_t begin, int64_t n, float* out) const {
  const auto one = [&](int64_t at, int64_t to, int64_t count) {
    float value = 0;
    load_floats(values.type, values.data, at, 1, &value);
    std::fill_n(out + to, count, value);
  };
  if (kind == Kind::kTensor) return one(0, 0, n);
  for (int64_t done = 0; done < n;) {
    const int64_t left = n - done;
    const int64_t column = (begin + done) % inner;
    const int64_t row = (begin + done) / inner;
    const int64_t index = row % size;
    int64_t count = 0;
    if (kind == Kind::kAxis && inner == 1) {
      count = std::min(left, size - index);
      load_floats(values.type, values.data, index, count, out + done);
    } else if (kind == Kind::kAxis) {
      count = std::min(left, inner - column);
      one(index, done, count);
    } else if (inner == 1) {
      count = std::min({left, block - index % block, size - index});
      one(row / size * blocks + index / block, done, count);
    } else {
      count = std::min(left, inner - column);
      const int64_t at = (row / size * blocks + index / block) * inner + column;
      load_floats(values.type, values.data, at, count, out + done);
    }
    done += count;
  }
}

void load_floats(DataType type, const void* data, int64_t begin, int64_t n, float* out) {
  if (type == DataType::kFloat) {
    std::copy_n(static_cast<const float*>(data) + begin, n, out);
    return;
  }
  if (is_narrow(type)) {
    widen(type, static_cast<const uint16_t*>(data) + begin, out, n);
    return;
  }
  const bool whole = visit_integers(type, [&]<typename T>(TypeTag<T>) {
    const T* from = static_cast<const T*>(data) + begin;
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(from[i]);
  });
  if (whole) return;
  constexpr int64_t kStep = 64;
  for (int64_t at = 0; at < n; at += kStep) {
    const int64_t count = std::min(kStep, n - at);
    if (is_integer(type)) {
      int64_t values[kStep];
      load_int64(type, data, begin + at, count, values);
      std::copy_n(values, count, out + at);
    } else {
      double values[kStep];
      load_double(type, data, begin + at, count, values);
      std::copy_n(values, count, out + at);
    }
  }
}

}  // namespace sardonyx
