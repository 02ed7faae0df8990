#include "ops/index/combine.h"

#include <algorithm>
#include <complex>

#include "ops/elementwise/binary.h"
#include "ops/shape/strided_copy.h"

namespace sardonyx {
namespace {

struct AddOp {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return a + b;
    }
  }
};
struct MulOp {
  template <typename T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else {
      return a * b;
    }
  }
};
// NaN wins.
struct MinOp {
  template <typename T>
  static T apply(T a, T b) {
    return a != a || a < b ? a : b;
  }
};
struct MaxOp {
  template <typename T>
  static T apply(T a, T b) {
    return a != a || a > b ? a : b;
  }
};

template <typename T>
void replace(const void* from, void* to, int64_t n) {
  std::copy_n(static_cast<const T*>(from), n, static_cast<T*>(to));
}

template <typename Op, typename T>
void combine(const void* from, void* to, int64_t n) {
  const T* update = static_cast<const T*>(from);
  T* value = static_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) {
    value[i] = from_compute<T>(Op::apply(to_compute(value[i]), to_compute(update[i])));
  }
}

template <typename Op>
Combine find(DataType type) {
  Combine found = nullptr;
  visit_numbers(type, [&]<typename T>(TypeTag<T>) { found = combine<Op, T>; });
  return found;
}

template <typename Op>
Combine find_complex(DataType type) {
  if (type == DataType::kComplex64) return combine<Op, std::complex<float>>;
  if (type == DataType::kComplex128) return combine<Op, std::complex<double>>;
  return find<Op>(type);
}

std::string reduction_of(const Node& node) {
  return node.attributes.get_string("reduction", "none");
}

}  // namespace

Combine find_combine(DataType type, const Node& node) {
  const std::string reduction = reduction_of(node);
  // Of truth values the sum is "or", the product "and".
  const bool is_bool = type == DataType::kBool;
  if (is_bool) type = DataType::kUint8;
  if (reduction == "max" || (is_bool && reduction == "add")) return find<MaxOp>(type);
  if (reduction == "min" || (is_bool && reduction == "mul")) return find<MinOp>(type);
  if (reduction == "add") return find_complex<AddOp>(type);
  if (reduction == "mul") return find_complex<MulOp>(type);
  Combine found = nullptr;
  visit_width(type, [&]<typename T>(TypeTag<T>) { found = replace<T>; });
  return found;
}

void check_reduction(const InferContext& context) {
  const std::string reduction = reduction_of(context.node());
  const bool known = reduction == "none" || reduction == "add" || reduction == "mul" ||
                     (context.node().version >= 18 && (reduction == "min" || reduction == "max"));
  if (!known) context.fail("attribute 'reduction' is '" + reduction + "'");
}

ScatterKernel::ScatterKernel(const PrepareContext& context)
    : combine_(find_combine(context.input_element(0), context.node)) {
  if (combine_ == nullptr) context.unsupported("numbers, for this reduction");
}

Status ScatterKernel::resolve(const ResolveContext& context, StepPlan& plan) const {
  plan.state = plan_scatter(context);
  plan.phases = 2;
  plan.split(0, copy_units(element_count(context.input_shape(0))),
             copy_nanoseconds(context.input_type(0)));
  return Status::ok();
}

Status ScatterKernel::run(const RunContext& context) const {
  if (context.phase == 1) return scatter(context);
  const TensorView& in = context.input(0);
  if (in.data == context.output(0).data) return Status::ok();
  const Range part = copy_part(context, in.size());
  if (part.begin < part.end) {
    copy_elements(in.type, in.data, part.begin, context.output(0).data, part.begin,
                  part.end - part.begin);
  }
  return Status::ok();
}

}  // namespace sardonyx
