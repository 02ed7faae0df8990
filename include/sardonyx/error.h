// Errors of the public API: one exception type that carries a code and a message. The message names
// what was found, what was expected and what to do; each layer it passes through adds what it
// knows. Thrown by load, compile, configuration and argument checks, never from inside a running
// kernel.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "sardonyx/export.h"

namespace sardonyx {

// Numbers equal ONNX Runtime's OrtErrorCode, so that a code means the same through every face.
enum class ErrorCode : int {
  kOk = 0,
  kFail = 1,
  kInvalidArgument = 2,
  kNoSuchFile = 3,
  kNoModel = 4,
  kEngineError = 5,
  kRuntimeException = 6,
  kInvalidProtobuf = 7,
  kModelLoaded = 8,
  kNotImplemented = 9,
  kInvalidGraph = 10,
  kEpFail = 11,
  kModelLoadCanceled = 12,
  kModelRequiresCompilation = 13,
  kNotFound = 14,
};

// "InvalidArgument", "NoSuchFile", ...; "Unknown" for a number outside the enum.
SARDONYX_API const char* to_string(ErrorCode code) noexcept;

class SARDONYX_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  ErrorCode code() const noexcept { return code_; }

  // The same error with `context` put in front: "context: message".
  Error with_context(const std::string& context) const {
    return Error(code_, context + ": " + what());
  }

 private:
  ErrorCode code_;
};

}  // namespace sardonyx
