// What a Program of this provider needs of a machine, and what this machine has. Called by session
// when a compiled model is written, judged or loaded.
#pragma once

#include "artifact/facets.h"
#include "base/cpu.h"
#include "plan/program.h"

namespace sardonyx::cpu {

inline constexpr const char* kProviderName = "CPUExecutionProvider";

// `isa` and `block`: what the Program was compiled for.
artifact::Facets facets_of(const Program& program, Isa isa, int block);

// What this machine and this build offer, SARDONYX_MAX_ISA taken into account.
artifact::Offer offer();

// The row that the steps of a Program with these facets bind to. Throws Error(kFail) for a level
// that is not known.
Isa target_of(const artifact::Facets& facets);

// The same kinds and element types, whatever the shapes.
bool same_kind(const ValueType& a, const ValueType& b);

// Checks a Program that was read from a file as the resolver checks a model: operators and versions
// exist, attributes and types fit, subprograms belong to operators that run them. Throws
// Error(kInvalidGraph) naming the step.
void check_program(const Program& program);

}  // namespace sardonyx::cpu
