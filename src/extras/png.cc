#include <png.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>

#include "extras/codec.h"

namespace sardonyx::extras_library {
namespace {

// Chunks that libpng keeps (texts, profiles, palettes) may take this much each.
constexpr png_alloc_size_t kMaxChunkBytes = 8 << 20;
constexpr png_uint_32 kMaxSide = 1 << 20;

struct Reader {
  const uint8_t* bytes;
  size_t size;
  size_t position;
  Message message;
  png_structp png;
  png_infop info;
  png_bytepp rows;
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  const auto* reader = static_cast<const Reader*>(png_get_error_ptr(png));
  fail(reader->message, "damaged PNG", text);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep out, size_t count) {
  auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (count > reader->size - reader->position) png_error(png, "the file ends too early");
  std::memcpy(out, reader->bytes + reader->position, count);
  reader->position += count;
}

// Reads up to the first pixels. False without memory; other errors go through longjmp.
bool open(Reader* reader) {
  reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, &on_error, &on_warning);
  return reader->png != nullptr && (reader->info = png_create_info_struct(reader->png)) != nullptr;
}

void read_header(Reader* reader) {
  png_set_read_fn(reader->png, reader, &read_bytes);
  png_set_user_limits(reader->png, kMaxSide, kMaxSide);
  png_set_chunk_malloc_max(reader->png, kMaxChunkBytes);
  png_set_chunk_cache_max(reader->png, 128);
  png_read_info(reader->png, reader->info);
}

void close(Reader* reader) {
  std::free(reader->rows);
  png_destroy_read_struct(&reader->png, &reader->info, nullptr);
}

bool recognises(const uint8_t* bytes, size_t size) {
  return size >= 8 && png_sig_cmp(bytes, 0, 8) == 0;
}

int info(const uint8_t* bytes, size_t size, SdxImageInfo* out, Message message) {
  Reader reader = {bytes, size, 0, message, nullptr, nullptr, nullptr};
  if (!open(&reader)) {
    close(&reader);
    return fail(message, "out of memory");
  }
  if (setjmp(png_jmpbuf(reader.png)) != 0) {
    close(&reader);
    return 1;
  }
  read_header(&reader);
  out->width = png_get_image_width(reader.png, reader.info);
  out->height = png_get_image_height(reader.png, reader.info);
  close(&reader);
  return 0;
}

void read_pixels(Reader* reader, SdxImageInfo expected, uint8_t* pixels) {
  png_structp png = reader->png;
  png_set_expand(png);
  png_set_strip_16(png);
  png_set_gray_to_rgb(png);
  png_set_strip_alpha(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, reader->info);
  const size_t stride = size_t{expected.width} * 3;
  if (png_get_image_width(png, reader->info) != expected.width ||
      png_get_image_height(png, reader->info) != expected.height ||
      png_get_rowbytes(png, reader->info) != stride) {
    png_error(png, "unexpected layout");
  }
  reader->rows = static_cast<png_bytepp>(std::calloc(expected.height, sizeof(png_bytep)));
  if (reader->rows == nullptr) png_error(png, "out of memory");
  for (uint32_t y = 0; y < expected.height; ++y) reader->rows[y] = pixels + y * stride;
  png_read_image(png, reader->rows);
  png_read_end(png, nullptr);
}

int decode(const uint8_t* bytes, size_t size, SdxImageInfo expected, uint8_t* pixels,
           Message message) {
  Reader reader = {bytes, size, 0, message, nullptr, nullptr, nullptr};
  if (!open(&reader)) {
    close(&reader);
    return fail(message, "out of memory");
  }
  if (setjmp(png_jmpbuf(reader.png)) != 0) {
    close(&reader);
    return 1;
  }
  read_header(&reader);
  read_pixels(&reader, expected, pixels);
  close(&reader);
  return 0;
}

}  // namespace

const Codec kPng = {"PNG", &recognises, &info, &decode};

}  // namespace sardonyx::extras_library
