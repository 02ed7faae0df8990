// PackRecurrent (internal): W or R of a recurrent operator in the panel layout that PackedLSTM,
// PackedGRU and PackedRNN read. Portable: the panel width nr is an attribute, so that a weight can
// be packed on one machine for another; constant folding runs it ahead of time. Every direction of
// [directions, gates * hidden, depth] becomes one row of the result.
#include <fmt/format.h>

#include <numeric>

#include "ops/op.h"
#include "ops/rnn/packed_matrices.h"
#include "ops/typed.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

struct PackParams {
  std::vector<int> gates;  // of each matrix
  int64_t nr = 0;

  int64_t all_gates() const { return std::accumulate(gates.begin(), gates.end(), int64_t{0}); }
  PackedMatrices matrices(int64_t rows, int64_t depth) const {
    return {gates, rows / all_gates(), depth, nr};
  }
};

PackParams parse(const Node& node) {
  PackParams params;
  params.nr = node.attributes.get_int("nr", 0);
  const std::vector<int64_t> gates = node.attributes.get_ints("gates");
  const bool is_valid =
      !gates.empty() && gates.size() <= PackedMatrices::kMaxMatrices &&
      std::all_of(gates.begin(), gates.end(), [](int64_t count) {
        return count >= 1 && count <= static_cast<int64_t>(PackedMatrices::kMaxGates);
      });
  if (!is_valid || params.nr < 1 || params.nr > 1024) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("{}: nr {} and gates [{}] describe no packed matrices", describe(node),
                            params.nr, fmt::join(gates, ", ")));
  }
  params.gates.assign(gates.begin(), gates.end());
  return params;
}

void infer(InferContext& context) {
  const PackParams params = parse(context.node());
  const DataType element = context.input_element(0);
  const SymShape& w = context.input_shape(0);
  if (!w) return context.set_output(0, element, std::nullopt);
  if (w->size() != 3) {
    context.fail(fmt::format("the weights have {} dimensions; expected 3", w->size()));
  }
  const Dim rows = (*w)[1], depth = (*w)[2];
  if (rows.is_known() && rows.value % params.all_gates() != 0) {
    context.fail(
        fmt::format("{} rows are no multiple of the {} gates", rows.value, params.all_gates()));
  }
  DimTable& dims = context.dims();
  const Dim hidden = dims.floor_div(rows, params.all_gates());
  Dim columns(0);
  for (int gates : params.gates) {
    const Dim panels = dims.ceil_div(dims.mul(hidden, gates), params.nr);
    columns = dims.add(columns, dims.mul(panels, params.nr));
  }
  context.set_output(0, element, Dims{(*w)[0], dims.mul(columns, depth)});
}

struct PackState {
  int64_t rows = 0, depth = 0;
  int64_t panels = 0;  // of all directions
};

template <typename T>
class PackKernel final : public Kernel {
 public:
  explicit PackKernel(PackParams params) : params_(std::move(params)) {}

  Status resolve(const ResolveContext& context, StepPlan& plan) const override {
    const Shape& w = context.input_shape(0);
    auto s = std::make_shared<PackState>();
    s->rows = w[1];
    s->depth = w[2];
    if (element_count(w) != 0) s->panels = w[0] * params_.matrices(s->rows, s->depth).total_panels;
    plan.split(s->panels, 0.4 * static_cast<double>(s->depth * params_.nr));
    plan.state = std::move(s);
    return Status::ok();
  }

  Status run(const RunContext& context) const override {
    const auto& s = context.state_as<PackState>();
    if (s.panels == 0) return Status::ok();
    const PackedMatrices matrices = params_.matrices(s.rows, s.depth);
    const Range part = context.part(s.panels);
    for_each_direction(part, matrices.total_panels, [&](int64_t d, int64_t first, int64_t last) {
      pack_matrices(matrices, context.in<T>(0) + d * s.rows * s.depth,
                    context.out<T>(0) + d * matrices.elements, first, last);
    });
    return Status::ok();
  }

 private:
  PackParams params_;
};

std::unique_ptr<Kernel> prepare(const PrepareContext& context) {
  PackParams params = parse(context.node);
  if (context.input_element(0) == DataType::kDouble) {
    return std::make_unique<PackKernel<double>>(std::move(params));
  }
  return std::make_unique<PackKernel<float>>(std::move(params));
}

constexpr OpVersion kVersions[] = {
    {1, "W: T -> packed: T | gates: ints!, nr: int! | T: float double"},
};

}  // namespace

extern const OpDef kPackRecurrent = {.domain = kInternalDomain,
                                     .name = "PackRecurrent",
                                     .versions = kVersions,
                                     .infer = infer,
                                     .prepare = prepare};

}  // namespace sardonyx
