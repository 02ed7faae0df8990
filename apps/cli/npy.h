// NumPy's .npy files to and from Values: versions 1 to 3, little endian, C order (Fortran order is
// converted while reading). The header is untrusted: its shape is checked against the bytes that
// follow before anything is allocated. Format: numpy.lib.format.
#pragma once

#include <filesystem>
#include <iosfwd>

#include "sardonyx/value.h"

namespace sardonyx::cli {

// NumPy has no descriptor for bfloat16 and the float8 types; ml_dtypes stores them as raw V2 and
// V1, which are read as `raw_type` when that has the right width. Strings are <U or |S. Throws
// Error(kNoSuchFile), Error(kInvalidArgument) for damaged files and types without a counterpart.
Value read_npy(const std::filesystem::path& path, ElementType raw_type = ElementType::kUndefined);

// `size_bytes`: all that `in` holds.
Value read_npy(std::istream& in, uint64_t size_bytes, ElementType raw_type);

// False for the packed 4- and 2-bit types.
bool has_npy_type(ElementType type);

// Version 1. Throws Error(kInvalidArgument) for the packed 4- and 2-bit types, Error(kFail) when
// the file cannot be written.
void write_npy(const std::filesystem::path& path, const Value& value);

void write_npy(std::ostream& out, const Value& value);

}  // namespace sardonyx::cli
