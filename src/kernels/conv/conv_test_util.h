// The oracle of the convolution tests. Test code only.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/blocked/blocked_test_util.h"
#include "kernels/conv/conv.h"

namespace sardonyx::kernels::testing {

// The window with the output size that these pads give.
inline Window2d with_output(Window2d w, int64_t pad_bottom, int64_t pad_right) {
  w.out_h =
      (w.in_h + w.pad_top + pad_bottom - (w.dilation_h * (w.kernel_h - 1) + 1)) / w.stride_h + 1;
  w.out_w =
      (w.in_w + w.pad_left + pad_right - (w.dilation_w * (w.kernel_w - 1) + 1)) / w.stride_w + 1;
  return w;
}

// Convolution by its definition, in double, on plain tensors; bias and residual may be empty.
inline std::vector<double> conv_oracle(const ConvShape& c, const std::vector<float>& x,
                                       const std::vector<float>& k, const std::vector<float>& bias,
                                       const std::vector<float>& residual,
                                       const Epilogue& epilogue) {
  const Window2d& w = c.window;
  const int64_t gi = c.in_channels / c.groups, go = c.out_channels / c.groups;
  std::vector<double> y;
  for (int64_t n = 0; n < c.batch; ++n) {
    for (int64_t o = 0; o < c.out_channels; ++o) {
      for (int64_t oh = 0; oh < w.out_h; ++oh) {
        for (int64_t ow = 0; ow < w.out_w; ++ow) {
          double sum = 0;
          for (int64_t i = 0; i < gi; ++i) {
            const int64_t plane = (n * c.in_channels + o / go * gi + i) * w.in_h;
            for (int64_t kh = 0; kh < w.kernel_h; ++kh) {
              for (int64_t kw = 0; kw < w.kernel_w; ++kw) {
                const int64_t ih = oh * w.stride_h + kh * w.dilation_h - w.pad_top;
                const int64_t iw = ow * w.stride_w + kw * w.dilation_w - w.pad_left;
                if (ih < 0 || iw < 0 || ih >= w.in_h || iw >= w.in_w) continue;
                sum += double{x[(plane + ih) * w.in_w + iw]} *
                       double{k[((o * gi + i) * w.kernel_h + kh) * w.kernel_w + kw]};
              }
            }
          }
          if (!bias.empty()) sum += bias[o];
          if (!residual.empty()) sum += residual[y.size()];
          y.push_back(activate(epilogue, sum));
        }
      }
    }
  }
  return y;
}

}  // namespace sardonyx::kernels::testing
