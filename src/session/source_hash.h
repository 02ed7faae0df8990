// What a compiled model remembers of the model it was made from.
#pragma once

#include <string>

#include "sardonyx/compile.h"

namespace sardonyx {

// "xxh3:" and 32 hexadecimal digits over the bytes of the model file, external data not included.
std::string source_hash(const ModelSource& source);

}  // namespace sardonyx
