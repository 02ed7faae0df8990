// Resize: nearest, linear and cubic resampling along any axes.
#include "ops/resize/resize.h"

#include "ops/op.h"

namespace sardonyx {

std::unique_ptr<Kernel> prepare_resize(const PrepareContext& context) {
  ResizeParams params = parse_resize(context.node);
  if (params.mode == ResizeMode::kNearest) {
    return prepare_resize_nearest(context, std::move(params));
  }
  return prepare_resize_interpolate(context, std::move(params));
}

namespace {

#define RESIZE_11                                                                         \
  "coordinate_transformation_mode: string = 'half_pixel', cubic_coeff_a: float = -0.75, " \
  "exclude_outside: int = 0, extrapolation_value: float = 0.0, "                          \
  "mode: string = 'nearest', nearest_mode: string = 'round_prefer_floor'"
#define RESIZE_13 "X: T1, roi: T2?, scales: float?, sizes: int64? -> Y: T1 | " RESIZE_11
#define RESIZE_18                       \
  RESIZE_13                             \
  ", antialias: int = 0, axes: ints?, " \
  "keep_aspect_ratio_policy: string = 'stretch'"
constexpr OpVersion kVersions[] = {
    {10, "X: T, scales: float -> Y: T | mode: string = 'nearest' | T: @all1"},
    {11, "X: T1, roi: T2, scales: float, sizes: int64? -> Y: T1 | " RESIZE_11
         " | T1: @all1, T2: @ieee"},
    {13, RESIZE_13 " | T1: @all13, T2: @ieee"},
    {18, RESIZE_18 " | T1: @all13, T2: @ieee"},
    {19, RESIZE_18 " | T1: @all13, T2: @ieee"},
};
#undef RESIZE_18
#undef RESIZE_13
#undef RESIZE_11

}  // namespace

extern const OpDef kResize = {.domain = "",
                              .name = "Resize",
                              .versions = kVersions,
                              .value_inputs = 0b1110,
                              .infer = infer_resize,
                              .prepare = prepare_resize};

}  // namespace sardonyx
