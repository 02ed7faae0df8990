#include "ops/blocked/pack.h"

#include <fmt/format.h>

namespace sardonyx {
namespace {

class PackKernel final : public Kernel {
 public:
  PackKernel(PackParams params, const PackFunctions& functions)
      : params_(std::move(params)), functions_(functions) {}

  Status run(const RunContext& context) const override {
    functions_.pack(params_, context.input(0).shape, context.in<float>(0), context.out<float>(0));
    return Status::ok();
  }

 private:
  PackParams params_;
  PackFunctions functions_;
};

}  // namespace

void infer_pack(InferContext& context, const PackFunctions& functions) {
  const PackParams params = parse_pack(context.node());
  const SymShape& plain = context.input_shape(0);
  if (plain && plain->size() != functions.rank) {
    context.fail(fmt::format("input of rank {}; expected {}", plain->size(), functions.rank));
  }
  const std::optional<Shape> shape = to_shape(plain);
  if (shape && !functions.supported(params, *shape)) {
    context.fail(fmt::format("a tensor {} that the attributes do not fit", to_string(*shape)));
  }
  context.set_output(0, DataType::kFloat,
                     Dims{shape ? Dim(functions.size(params, *shape)) : Dim::unknown()});
}

std::unique_ptr<Kernel> prepare_pack(const PrepareContext& context,
                                     const PackFunctions& functions) {
  return std::make_unique<PackKernel>(parse_pack(context.node), functions);
}

}  // namespace sardonyx
