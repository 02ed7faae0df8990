// The picture codecs behind the table of base/extras.h: each recognises its format by the first
// bytes, reads the size, and decodes to RGB8 into memory of the caller. No exceptions: libpng and
// libjpeg report errors by longjmp, so the functions hold only plain data across their calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/extras.h"

namespace sardonyx::extras_library {

// Where a failure is described.
struct Message {
  char* text;
  size_t size;
};

// Writes "what: detail" (or "what") to the message, cut to its size; returns 1, the failure.
int fail(Message message, const char* what, const char* detail = nullptr);

struct Codec {
  const char* name;
  bool (*recognises)(const uint8_t* bytes, size_t size);
  int (*info)(const uint8_t* bytes, size_t size, SdxImageInfo* info, Message message);
  // pixels hold width * height * 3 bytes of `expected`, which info returned before.
  int (*decode)(const uint8_t* bytes, size_t size, SdxImageInfo expected, uint8_t* pixels,
                Message message);
};

extern const Codec kPng;
extern const Codec kJpeg;

}  // namespace sardonyx::extras_library
