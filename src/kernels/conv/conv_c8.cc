// Convolution tiles for block width 8.
#include "kernels/conv/conv_task.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/conv/conv_c8.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/conv/conv_tiles-inl.h"
#include "kernels/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::kernels {
namespace HWY_NAMESPACE {

const ConvTaskKernels& conv_task_row_c8() {
  static constexpr ConvTaskKernels row = {run_conv_task<8>, best_panel_blocks<8>};
  return row;
}

}  // namespace HWY_NAMESPACE
}  // namespace sardonyx::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::kernels {
SDX_KERNEL_TABLE(ConvTaskKernels, conv_task_kernels_c8, conv_task_row_c8)
}  // namespace sardonyx::kernels
#endif
