// Splicing: the steps of an If's branches become steps of the program that holds the If, so that a
// signature which knows the condition resolves the branch like any other steps: one arena, no
// memory of its own, no work per Run. Where the condition is only known while running, the branch
// is cut out again, as a program of its own that shares the kernels.
#pragma once

#include <memory>

#include "exec/bound_program.h"

namespace sardonyx {

// Binds the steps into an empty program, those of both branches of an If right before it. Other
// subgraphs become programs of their own. Throws as bind() does.
void bind_spliced(Program program, Isa isa, BoundProgram& bound);

// sub: of bound.subprograms. Makes the program of a spliced branch anew each time.
std::shared_ptr<const BoundProgram> body_of(const BoundProgram& bound, const BoundSubProgram& sub);

}  // namespace sardonyx
