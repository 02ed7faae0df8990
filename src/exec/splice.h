// Splicing: the steps of an If's branches become steps of the program that holds the If, so that a
// signature which knows the condition resolves the branch like any other steps: one arena, no
// memory of its own, no work per Run. Where the condition is only known while running, the branch's
// own program runs instead.
#pragma once

#include "exec/bound_program.h"

namespace sardonyx {

// Puts the steps of both branches of every If right before it, and lists them in bound.branches.
// bound.subprograms must be bound (and so spliced) already. Kernels are shared with them.
void splice_branches(BoundProgram& bound);

}  // namespace sardonyx
