#include "base/status.h"

namespace sardonyx {

const std::string& Status::message() const {
  static const std::string& kEmpty = *new std::string;
  return failure_ ? failure_->message : kEmpty;
}

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kOk:
      return "Ok";
    case ErrorCode::kFail:
      return "Fail";
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kNoSuchFile:
      return "NoSuchFile";
    case ErrorCode::kNoModel:
      return "NoModel";
    case ErrorCode::kEngineError:
      return "EngineError";
    case ErrorCode::kRuntimeException:
      return "RuntimeException";
    case ErrorCode::kInvalidProtobuf:
      return "InvalidProtobuf";
    case ErrorCode::kModelLoaded:
      return "ModelLoaded";
    case ErrorCode::kNotImplemented:
      return "NotImplemented";
    case ErrorCode::kInvalidGraph:
      return "InvalidGraph";
    case ErrorCode::kEpFail:
      return "EpFail";
    case ErrorCode::kModelLoadCanceled:
      return "ModelLoadCanceled";
    case ErrorCode::kModelRequiresCompilation:
      return "ModelRequiresCompilation";
    case ErrorCode::kNotFound:
      return "NotFound";
  }
  return "Unknown";
}

}  // namespace sardonyx
