// What needs third-party libraries that are not header-only: image codecs for now. It lives in
// libsardonyx_extras.so, which is opened on first use, so that the runtime itself links none of
// them. This header is all that both sides share: a plain C table of functions, and its loader.
// Called by operators that decode images, by the command line and by examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

extern "C" {

// Grows at the end only; a change of an existing entry raises SDX_EXTRAS_VERSION.
#define SDX_EXTRAS_VERSION 1u

// Of an encoded picture, read from its header alone.
typedef struct SdxImageInfo {
  uint32_t width;   // pixels, > 0
  uint32_t height;  // pixels, > 0
} SdxImageInfo;

typedef struct SdxExtras {
  uint32_t version;     // SDX_EXTRAS_VERSION of the library
  uint32_t size_bytes;  // sizeof(SdxExtras) of the library: entries behind it do not exist

  // Both return 0 and fill their result, or return nonzero and write why, in one line and with a
  // closing zero, to message[message_size]. They allocate no more than about 512 MiB whatever the
  // bytes say, and may be called from any thread.
  int (*image_info)(const uint8_t* bytes, size_t size, SdxImageInfo* info, char* message,
                    size_t message_size);
  // Decodes to interleaved RGB of 8 bits, rows from the top, no padding: pixels_size must be
  // width * height * 3 of image_info. Alpha is dropped, 16-bit samples keep their upper byte, grey
  // and CMYK become RGB; colour profiles, gamma and EXIF orientation are ignored.
  int (*image_decode)(const uint8_t* bytes, size_t size, uint8_t* pixels, size_t pixels_size,
                      char* message, size_t message_size);
} SdxExtras;

// The only export of libsardonyx_extras.so. Null when it cannot serve `version`.
typedef const SdxExtras* (*SdxExtrasGet)(uint32_t version);
}

namespace sardonyx {

// Opens the library once: SARDONYX_EXTRAS when set, else beside the executable or library that this
// code is part of, in the installation's library folder, then wherever the dynamic linker looks.
// Throws Error(kNotFound) that lists the places, Error(kFail) for a library of another version.
const SdxExtras& extras();

struct RgbImage {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> pixels;  // [height, width, 3]
};

// Decodes a PNG or JPEG. The size in the header is checked before anything is allocated. Throws
// Error(kInvalidArgument) for a damaged or too large picture, and what extras() throws.
RgbImage decode_image(std::span<const std::byte> encoded, int64_t max_pixels = int64_t{1} << 26);

}  // namespace sardonyx
