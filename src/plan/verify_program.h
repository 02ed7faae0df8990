// verify(Program): is a Program well formed, so that binding and running it stays inside its own
// memory? All indices exist; every buffer has one definition, before its uses; constants have the
// type they declare; subprograms capture only what their step holds. Says nothing about operators.
// Called by the writer and the reader of artifacts; costs one walk over the steps.
#pragma once

#include "plan/program.h"

namespace sardonyx {

// Subprograms included. Throws Error(kInvalidGraph) that names the first fault found.
void verify(const Program& program);

}  // namespace sardonyx
