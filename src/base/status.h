// Status: how a kernel says that it could not finish. Cheap when all is well (one null pointer);
// holds a code and a message otherwise. Nothing is thrown inside a Run: workers keep the first
// failed Status and the caller of Run turns it into an Error.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "sardonyx/error.h"

namespace sardonyx {

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(ErrorCode code, std::string message)
      : failure_(std::make_unique<Failure>(Failure{code, std::move(message)})) {}

  static Status ok() { return Status(); }
  bool is_ok() const { return failure_ == nullptr; }
  ErrorCode code() const { return failure_ ? failure_->code : ErrorCode::kOk; }
  const std::string& message() const;

  // Throws sardonyx::Error when this is a failure.
  void throw_if_failed() const {
    if (failure_) throw Error(failure_->code, failure_->message);
  }

 private:
  struct Failure {
    ErrorCode code;
    std::string message;
  };
  std::unique_ptr<Failure> failure_;
};

#define SDX_RETURN_IF_FAILED(expression)           \
  do {                                             \
    ::sardonyx::Status sdx_status_ = (expression); \
    if (!sdx_status_.is_ok()) return sdx_status_;  \
  } while (false)

}  // namespace sardonyx
