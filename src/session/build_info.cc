#include "session/build_info.h"

#include <algorithm>

#include "kernels/rows.h"
#include "ops/op.h"
#include "sardonyx/session.h"

#ifndef SARDONYX_BUILD_FLAGS
#define SARDONYX_BUILD_FLAGS ""
#endif

namespace sardonyx {
namespace {

const char* compiler_name() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "unknown";
#endif
}

constexpr bool is_optimised() {
#ifdef __OPTIMIZE__
  return true;
#else
  return false;
#endif
}

constexpr bool is_sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

}  // namespace

BuildInfo build_info() {
  BuildInfo info;
  info.version = version();
  info.compiler = compiler_name();
  info.flags = SARDONYX_BUILD_FLAGS;
  info.is_optimised = is_optimised();
  info.is_sanitized = is_sanitized();
  info.rows = kernels::built_rows();
  for (const OpDef* op : all_ops()) {
    if (op->domain == kInternalDomain || op->versions.empty()) continue;
    ++info.operators;
    const std::string domain(op->domain.empty() ? "ai.onnx" : op->domain);
    int64_t& newest = info.newest_opsets[domain];
    newest = std::max<int64_t>(newest, op->versions.back().since);
  }
  return info;
}

}  // namespace sardonyx
