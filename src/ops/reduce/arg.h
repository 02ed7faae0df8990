// ArgMax and ArgMin: the position of the largest or smallest element along an axis; NaN wins, ties
// go to the first one or with select_last_index to the last.
#pragma once

#include "ops/infer.h"
#include "ops/kernel.h"

namespace sardonyx {

void infer_arg(InferContext& context);
std::unique_ptr<Kernel> prepare_arg(const PrepareContext& context, bool largest);

}  // namespace sardonyx
