// Makes the inputs of a run: from files, pictures, or seeded random numbers of chosen shapes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "command.h"
#include "picture.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {

struct InputOptions {
  std::vector<std::string> files;   // name=path, or a path for a model with one input
  std::vector<std::string> shapes;  // name=1x3x224x224
  bool random = false;
  uint64_t seed = 0;
  int64_t integers_below = 2;
  PictureOptions picture;

  void declare_files(Verb& verb);
  void declare_random(Verb& verb);
};

// What --shape's and the defaults give for an input: -1 nowhere. Defaults for a dimension that the
// model leaves open: dimension 0: 1; the last two of a rank-4 input whose dimension 1 is 1, 3 or 4:
// 224, its last but one and two, if the last is 1, 3 or 4: 224; others: 16.
std::vector<int64_t> default_shape(const ValueInfo& input);

// Seeded values: floats uniform in [-1, 1), integers uniform in [0, integers_below), bools 0 or 1,
// strings of one digit. The same on every machine.
Value random_value(ElementType type, const std::vector<int64_t>& shape, uint64_t seed,
                   int64_t integers_below);

// One Value per model input. All errors become CommandError(kExitInput), those of the options'
// texts CommandError(kExitUsage).
std::vector<Value> make_inputs(const Session& session, const InputOptions& options);

// The error of a call with the inputs that make_inputs gave: CommandError(kExitInput), with a hint
// at --shape where sizes of random inputs were guessed.
CommandError input_misfit(const Session& session, const InputOptions& options, const Error& error);

// What `call` gives; its argument errors become input_misfit.
template <typename Call>
auto run_with(const Session& session, const InputOptions& options, Call&& call) {
  try {
    return call();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    throw input_misfit(session, options, error);
  }
}

// One input from a file of any kind; shape: of --shape, or the model's.
Value read_input(const std::string& path, const ValueInfo& input, const std::vector<int64_t>& shape,
                 const PictureOptions& picture);

// Index of an input; throws CommandError(kExitInput) that lists the names.
size_t find_input(const Session& session, const std::string& name);

}  // namespace sardonyx::cli
