#include "doctor_trial.h"

#include <fmt/format.h>

#include <cmath>

#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {
namespace {

// y = Sigmoid(x w) with x, y float [1, 2] and w = {{1, 2}, {3, -4}}; opset 13.
constexpr unsigned char kModel[] =
    "\x08\x07\x3a\x6e\x0a\x11\x0a\x01x\x0a\x01w\x12\x01m\x22\x06MatMul\x0a\x0f\x0a\x01m\x12\x01y"
    "\x22\x07Sigmoid\x12\x01t\x2a\x1b\x08\x02\x08\x02\x10\x01\x42\x01w\x4a\x10\x00\x00\x80\x3f\x00"
    "\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\xc0\x5a\x13\x0a\x01x\x12\x0e\x0a\x0c\x08\x01\x12\x08"
    "\x0a\x02\x08\x01\x0a\x02\x08\x02\x62\x13\x0a\x01y\x12\x0e\x0a\x0c\x08\x01\x12\x08\x0a\x02\x08"
    "\x01\x0a\x02\x08\x02\x42\x04\x0a\x00\x10\x0d";
constexpr float kInput[] = {0.5f, 0.25f};
constexpr int64_t kShape[] = {1, 2};
constexpr float kExpected[] = {0.77729986f, 0.5f};  // Sigmoid of 1.25 and of 0

}  // namespace

Finding run_trial() {
  Finding finding;
  finding.name = "trial run";
  try {
    Options options;
    options.log_level = LogLevel::kOff;  // also where the environment names none
    const Session session(std::as_bytes(std::span(kModel).first(sizeof kModel - 1)), options);
    const Value x = Value::copy_of<float>(kInput, kShape);
    const std::vector<Value> outputs = session.run({&x, 1});
    const std::span<const float> y = outputs.at(0).as<float>();
    bool is_right = y.size() == 2;
    for (size_t i = 0; is_right && i < y.size(); ++i) {
      is_right = std::abs(y[i] - kExpected[i]) < 1e-6f;
    }
    finding.text = is_right ? "a small model gives the right numbers" : "a small model runs";
    if (!is_right) {
      finding.complain(Finding::Status::kBroken,
                       fmt::format("it gives {} instead of {}: please report it with this page",
                                   fmt::join(y, ", "), fmt::join(kExpected, ", ")));
    }
    finding.facts = {{"right", is_right}};
  } catch (const std::exception& error) {
    finding.text = "a small model cannot be run";
    finding.complain(Finding::Status::kBroken, error.what());
    finding.facts = {{"right", false}};
  }
  return finding;
}

}  // namespace sardonyx::cli
