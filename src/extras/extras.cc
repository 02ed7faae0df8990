#include <cstdio>
#include <limits>

#include "base/extras.h"
#include "extras/codec.h"

namespace sardonyx::extras_library {
namespace {

constexpr const Codec* kCodecs[] = {&kPng, &kJpeg};

const Codec* find_codec(const uint8_t* bytes, size_t size) {
  for (const Codec* codec : kCodecs) {
    if (bytes != nullptr && codec->recognises(bytes, size)) return codec;
  }
  return nullptr;
}

int image_info(const uint8_t* bytes, size_t size, SdxImageInfo* info, char* text,
               size_t text_size) {
  const Message message{text, text_size};
  const Codec* codec = find_codec(bytes, size);
  if (codec == nullptr) return fail(message, "neither a PNG nor a JPEG picture");
  return codec->info(bytes, size, info, message);
}

int image_decode(const uint8_t* bytes, size_t size, uint8_t* pixels, size_t pixels_size, char* text,
                 size_t text_size) {
  const Message message{text, text_size};
  SdxImageInfo info = {};
  if (const int failed = image_info(bytes, size, &info, text, text_size)) return failed;
  const uint64_t count = uint64_t{info.width} * info.height;
  if (count > std::numeric_limits<size_t>::max() / 3 || pixels_size != count * 3) {
    return fail(message, "the memory for the pixels does not have the picture's size");
  }
  return find_codec(bytes, size)->decode(bytes, size, info, pixels, message);
}

const SdxExtras kTable = {SDX_EXTRAS_VERSION, sizeof(SdxExtras), &image_info, &image_decode};

}  // namespace

int fail(Message message, const char* what, const char* detail) {
  std::snprintf(message.text, message.size, detail == nullptr ? "%s" : "%s: %s", what, detail);
  return 1;
}

}  // namespace sardonyx::extras_library

extern "C" __attribute__((visibility("default"))) const SdxExtras* sdx_extras_get(
    uint32_t version) {
  return version == SDX_EXTRAS_VERSION ? &sardonyx::extras_library::kTable : nullptr;
}
