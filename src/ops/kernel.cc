#include "ops/kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/schema.h"
#include "sardonyx/error.h"

namespace sardonyx {

void StepPlan::split(int phase, int64_t units, double nanoseconds_per_unit) {
  const double wanted = static_cast<double>(units) * nanoseconds_per_unit / kChunkNanoseconds;
  const int64_t most = std::clamp<int64_t>(units, 1, kMaxChunks);
  const int64_t count = wanted >= static_cast<double>(most) ? most : static_cast<int64_t>(wanted);
  chunks[static_cast<size_t>(phase)] = static_cast<int>(std::max<int64_t>(count, 1));
}

Status RunContext::allocate_output(size_t i, const Shape& shape) const {
  if (allocate == nullptr) {
    return Status(ErrorCode::kFail, "this run cannot allocate outputs of unknown shape");
  }
  return allocate(allocator, i, shape);
}

Status RunContext::give_output(size_t i, Tensor tensor) const {
  if (give == nullptr) return Status(ErrorCode::kFail, "control flow cannot run here");
  return give(allocator, i, std::move(tensor));
}

void PrepareContext::unsupported(const std::string& supported) const {
  std::string types;
  for (const ValueType* type : input_types) {
    if (!types.empty()) types += ", ";
    types += type == nullptr ? "-" : type_string(*type);
  }
  throw Error(ErrorCode::kNotImplemented,
              fmt::format("{} has no kernel for the input types ({}); supported: {}",
                          describe(node), types, supported));
}

}  // namespace sardonyx
