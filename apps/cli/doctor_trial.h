// The last check of `sardonyx doctor`: loads and runs a model of two operators.
#pragma once

#include "doctor_checks.h"

namespace sardonyx::cli {

Finding run_trial();

}  // namespace sardonyx::cli
