#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "extras/codec.h"

// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

#include <jerror.h>

namespace sardonyx::extras_library {
namespace {

// A progressive file may repeat scans over the whole picture at next to no cost in bytes.
constexpr int kMaxScans = 200;
constexpr long kMaxMemoryBytes = 512l << 20;

struct ErrorManager {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  Message message;
};

ErrorManager* manager_of(j_common_ptr common) {
  return reinterpret_cast<ErrorManager*>(common->err);
}

[[noreturn]] void on_error(j_common_ptr common) {
  char text[JMSG_LENGTH_MAX];
  common->err->format_message(common, text);
  ErrorManager* manager = manager_of(common);
  fail(manager->message, "damaged JPEG", text);
  std::longjmp(manager->jump, 1);
}

// libjpeg fills what is missing from a truncated file with grey; here that is an error.
void on_message(j_common_ptr common, int level) {
  const int code = common->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) on_error(common);
}

void on_output(j_common_ptr) {}

void on_progress(j_common_ptr common) {
  if (reinterpret_cast<j_decompress_ptr>(common)->input_scan_number <= kMaxScans) return;
  ErrorManager* manager = manager_of(common);
  fail(manager->message, "damaged JPEG", "too many scans");
  std::longjmp(manager->jump, 1);
}

struct Reader {
  jpeg_decompress_struct jpeg;
  ErrorManager errors;
  jpeg_progress_mgr progress;
};

void prepare(Reader* reader, Message message) {
  std::memset(reader, 0, sizeof *reader);
  reader->jpeg.err = jpeg_std_error(&reader->errors.base);
  reader->errors.base.error_exit = &on_error;
  reader->errors.base.emit_message = &on_message;
  reader->errors.base.output_message = &on_output;
  reader->errors.message = message;
  reader->progress.progress_monitor = &on_progress;
}

void read_header(Reader* reader, const uint8_t* bytes, size_t size) {
  jpeg_create_decompress(&reader->jpeg);
  reader->jpeg.progress = &reader->progress;
  reader->jpeg.mem->max_memory_to_use = kMaxMemoryBytes;
  jpeg_mem_src(&reader->jpeg, bytes, size);
  jpeg_read_header(&reader->jpeg, TRUE);
}

bool recognises(const uint8_t* bytes, size_t size) {
  return size >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

int info(const uint8_t* bytes, size_t size, SdxImageInfo* out, Message message) {
  Reader reader;
  prepare(&reader, message);
  if (setjmp(reader.errors.jump) != 0) {
    jpeg_destroy_decompress(&reader.jpeg);
    return 1;
  }
  read_header(&reader, bytes, size);
  out->width = reader.jpeg.image_width;
  out->height = reader.jpeg.image_height;
  jpeg_destroy_decompress(&reader.jpeg);
  return 0;
}

// Adobe's CMYK is stored inverted (0 is full ink); plain CMYK is not.
void cmyk_to_rgb(const uint8_t* cmyk, size_t count, bool inverted, uint8_t* rgb) {
  for (size_t i = 0; i < count; ++i, cmyk += 4, rgb += 3) {
    for (int c = 0; c < 3; ++c) {
      const int light = inverted ? cmyk[c] : 255 - cmyk[c];
      const int key = inverted ? cmyk[3] : 255 - cmyk[3];
      rgb[c] = static_cast<uint8_t>((light * key + 127) / 255);
    }
  }
}

void read_pixels(Reader* reader, SdxImageInfo expected, uint8_t* pixels) {
  jpeg_decompress_struct* jpeg = &reader->jpeg;
  const bool is_cmyk = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
  jpeg->out_color_space = is_cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(jpeg);
  if (jpeg->output_width != expected.width || jpeg->output_height != expected.height ||
      jpeg->output_components != (is_cmyk ? 4 : 3)) {
    ERREXIT(jpeg, JERR_BAD_STATE);
  }
  const size_t stride = size_t{expected.width} * 3;
  // Freed with the decompressor.
  JSAMPARRAY line = nullptr;
  if (is_cmyk) {
    line = jpeg->mem->alloc_sarray(reinterpret_cast<j_common_ptr>(jpeg), JPOOL_IMAGE,
                                   expected.width * 4, 1);
  }
  while (jpeg->output_scanline < jpeg->output_height) {
    uint8_t* row = pixels + jpeg->output_scanline * stride;
    JSAMPROW target = is_cmyk ? line[0] : row;
    jpeg_read_scanlines(jpeg, &target, 1);
    if (is_cmyk) cmyk_to_rgb(line[0], expected.width, jpeg->saw_Adobe_marker != 0, row);
  }
  jpeg_finish_decompress(jpeg);
}

int decode(const uint8_t* bytes, size_t size, SdxImageInfo expected, uint8_t* pixels,
           Message message) {
  Reader reader;
  prepare(&reader, message);
  if (setjmp(reader.errors.jump) != 0) {
    jpeg_destroy_decompress(&reader.jpeg);
    return 1;
  }
  read_header(&reader, bytes, size);
  read_pixels(&reader, expected, pixels);
  jpeg_destroy_decompress(&reader.jpeg);
  return 0;
}

}  // namespace

const Codec kJpeg = {"JPEG", &recognises, &info, &decode};

}  // namespace sardonyx::extras_library
