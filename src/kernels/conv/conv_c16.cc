// Convolution tiles for block width 16.
#include "kernels/conv/conv_task.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/conv_c16.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/conv/conv_tiles-inl.h"
#include "kernels/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

const ConvTaskKernels& conv_task_row_c16() {
  static constexpr ConvTaskKernels row = {run_conv_task<16>, best_panel_blocks<16>};
  return row;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(ConvTaskKernels, conv_task_kernels_c16, conv_task_row_c16)
}  // namespace sardonyx::kernels
#endif
