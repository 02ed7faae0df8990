// Splicing: the steps of an If's branches become steps of the program that holds the If, so that a
// signature which knows the condition resolves the branch like any other steps: one arena, no
// memory of its own, no work per Run. Where the condition is only known while running, the branch
// is cut out again, as a program of its own that shares the kernels.
#pragma once

#include <memory>
#include <span>

#include "exec/bound_program.h"

namespace sardonyx {

// bodies: of bound.subprograms, all but their uses; they are used up. Puts the steps of both
// branches of every If right before it and lists them in bound.branches; other bodies go into
// bound.subprograms.
void splice_branches(BoundProgram& bound, std::span<std::shared_ptr<BoundProgram>> bodies);

// sub: of bound.subprograms. Makes the program of a spliced branch anew each time.
std::shared_ptr<const BoundProgram> body_of(const BoundProgram& bound, const BoundSubProgram& sub);

}  // namespace sardonyx
