// Fuzz target: bytes taken for an ONNX model are read and, when they are one, written and read
// again. Small and fast to build: it needs no operators.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "onnx/reader.h"
#include "onnx/writer.h"
#include "sardonyx/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  sardonyx::ReadOptions options;
  options.max_dense_bytes = int64_t{1} << 20;
  try {
    const std::unique_ptr<sardonyx::Model> model = sardonyx::read_model(bytes, nullptr, options);
    sardonyx::read_model(sardonyx::write_model(*model), nullptr, options);
  } catch (const sardonyx::Error&) {
    // The expected answer to bad bytes; anything else that is thrown ends the process.
  }
  return 0;
}
