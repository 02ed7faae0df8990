// GivenOutputs: the outputs of one Run that the caller supplies memory for. What lies over an input
// is written aside and copied when the Run has ended, since later steps may still read the input.
#pragma once

#include <span>
#include <vector>

#include "exec/bound_program.h"
#include "exec/signature.h"

namespace sardonyx {

// Throws Error(kInvalidArgument) when `given` is not of the type and shape that output `o` has.
void check_given_output(const BoundProgram& bound, size_t o, const TensorView& view,
                        const Tensor& given);

class GivenOutputs {
 public:
  // Looks at the defined tensors of `outputs`, and takes those out that have to wait. Throws
  // Error(kInvalidArgument) for a wrong type or shape and for two that share bytes. A shape that is
  // only known while running is checked then.
  GivenOutputs(const BoundProgram& bound, const Signature& signature,
               std::span<const Tensor> inputs, std::span<Tensor> outputs);

  // After the Run: fills what was taken out and puts it back.
  void finish(std::span<Tensor> outputs);

 private:
  struct Waiting {
    size_t output;
    Tensor memory;
  };
  const BoundProgram& bound_;
  std::vector<Waiting> waiting_;
};

}  // namespace sardonyx
