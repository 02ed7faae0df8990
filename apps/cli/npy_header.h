// The text header of a .npy file, a Python dictionary, and how its type descriptors map to element
// types. Used by npy.cc alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sardonyx/element_type.h"

namespace sardonyx::cli {

struct NpyHeader {
  std::string descriptor;  // "<f4"
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// What a descriptor says about one element. type: kUndefined for raw bytes (V).
struct NpyType {
  ElementType type = ElementType::kUndefined;
  size_t item_bytes = 0;
  enum class Text : uint8_t { kNone, kUtf32, kBytes } text = Text::kNone;
};

// Throws Error(kInvalidArgument) that says what is wrong with the text.
NpyHeader parse_npy_header(std::string_view text);

// Throws Error(kInvalidArgument) for types without a counterpart and for big-endian ones.
NpyType parse_npy_descriptor(const std::string& descriptor);

// "<f4" for kFloat; empty when NumPy has no such type (strings, packed types).
std::string npy_descriptor(ElementType type);

// The header of version 1 from the magic on, padded so that the data starts on 64 bytes.
std::string make_npy_header(const std::string& descriptor, const std::vector<int64_t>& shape);

}  // namespace sardonyx::cli
