#include "artifact/byte_writer.h"

#include <fmt/format.h>

#include "sardonyx/error.h"

namespace sardonyx::artifact {

void ByteWriter::put_count(size_t count) {
  if (count >= UINT32_MAX) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("a compiled model cannot hold a list of {} entries", count));
  }
  put(static_cast<uint32_t>(count));
}

void ByteWriter::text(std::string_view value) {
  put_count(value.size());
  bytes(std::as_bytes(std::span(value.data(), value.size())));
}

void ByteWriter::name(std::string_view value) {
  if (value.size() > UINT8_MAX) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("the name '{}...' has {} bytes; a compiled model can hold names of "
                            "operators and attributes of up to 255",
                            value.substr(0, 40), value.size()));
  }
  put(static_cast<uint8_t>(value.size()));
  bytes(std::as_bytes(std::span(value.data(), value.size())));
}

}  // namespace sardonyx::artifact
