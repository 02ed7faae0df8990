// The numbers of the file format, described in docs/artifact.md. Called by the writer and the
// readers of this module.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sardonyx::artifact {

static_assert(std::endian::native == std::endian::little, "tensors are stored as they lie");

// As PNG's: a byte that is no ASCII, and line ends that a transfer as text would change.
inline constexpr uint8_t kMagic[8] = {0x93, 'S', 'D', 'X', '\r', '\n', 0x1a, '\n'};

inline constexpr uint64_t kPageBytes = 4096;
inline constexpr uint64_t kHashOffset = 32;   // in the head
inline constexpr uint64_t kTableOffset = 48;  // in the head
inline constexpr uint64_t kSectionRowBytes = 40;
inline constexpr uint64_t kConstantAlignment = 64;
// Constants of at most this many bytes lie in PROGRAM, whose hash is always checked: shapes, axes
// and the like, on which memory depends.
inline constexpr uint64_t kInlineBytes = 1024;

inline constexpr uint64_t kMaxHeadBytes = 64 * 1024;
inline constexpr uint32_t kMaxSections = 32;
inline constexpr int kMaxProgramDepth = 64;  // as deep as the ONNX reader goes
inline constexpr int kMaxTypeDepth = 64;
inline constexpr uint32_t kNone = 0xffffffff;  // no constant, no value

// In the order in which the writer places them.
enum class SectionKind : uint32_t {
  kProgram = 1,
  kIo = 2,
  kDebug = 3,
  kManifest = 4,
  kWeights = 5,
  kShapes = 6,  // input shapes to prepare for; absent when there are none
  kTune = 7,    // measured choices; not written yet
};

enum class Placement : uint8_t { kInline = 0, kWeights = 1, kStrings = 2, kItems = 3 };
inline constexpr unsigned kPlacementCount = 4;

// Types of constants that hold other constants, beside the numbers of TensorProto.DataType.
inline constexpr uint8_t kSequenceCode = 0xff;
inline constexpr uint8_t kOptionalCode = 0xfe;

// Numbers equal AttributeProto.AttributeType.
enum class AttributeCode : uint8_t {
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kType = 13,
  kTypes = 14,
};

enum class DimCode : uint8_t { kUnknown = 0, kKnown = 1, kSymbol = 2 };

inline constexpr uint64_t align_up(uint64_t value, uint64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace sardonyx::artifact
