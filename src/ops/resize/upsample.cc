// Upsample: the predecessor of Resize; coordinates are divided by the scale, nearest rounds down.
#include "ops/op.h"
#include "ops/resize/resize.h"

namespace sardonyx {
namespace {

constexpr OpVersion kVersions[] = {
    {1,
     "X: T -> Y: T | height_scale: float!, mode: string = 'nearest', width_scale: float! | "
     "T: bool int32 int64 float16 float double"},
    {7, "X: T -> Y: T | mode: string = 'nearest', scales: floats! | T: @all1"},
    {9, "X: T, scales: float -> Y: T | mode: string = 'nearest' | T: @all1"},
    {10, "X: T, scales: float -> Y: T | mode: string = 'nearest' | T: @all1"},
};

}  // namespace

extern const OpDef kUpsample = {.domain = "",
                                .name = "Upsample",
                                .versions = kVersions,
                                .value_inputs = 0b10,
                                .infer = infer_resize,
                                .prepare = prepare_resize};

}  // namespace sardonyx
