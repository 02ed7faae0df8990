// Reads a model and writes it again: rewrite IN OUT [DATA_FILE THRESHOLD_BYTES].
#include <cstdio>
#include <cstdlib>

#include "onnx/reader.h"
#include "onnx/writer.h"
#include "sardonyx/error.h"

int main(int argc, char** argv) {
  using namespace sardonyx;
  if (argc != 3 && argc != 5) return 2;
  try {
    WriteOptions options;
    if (argc == 5) {
      options.external_data_file = argv[3];
      options.external_threshold_bytes = std::atoll(argv[4]);
    }
    write_model(*read_model(argv[1]), argv[2], options);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
