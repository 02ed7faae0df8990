// Loads a model from memory and runs it once on zeros. Prints what the process held before, with
// the model's bytes, and at most after that: resident bytes. Usage: sdx_load_from_memory MODEL
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "base/mapped_file.h"
#include "sardonyx/sardonyx.h"

namespace {

long long resident_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    long long kib = 0;
    if (word == field && status >> kib) return kib * 1024;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sardonyx;
  if (argc != 2) return 2;
  const std::vector<std::byte> bytes = read_file(argv[1]);
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak becomes what is resident now
  const long long before = resident_bytes("VmRSS:");
  Options options;
  options.threads = 1;
  const Session session(std::span<const std::byte>(bytes), options);
  std::vector<Value> inputs;
  for (const ValueInfo& info : session.inputs()) {
    std::vector<int64_t> shape = info.shape;
    for (int64_t& dim : shape) dim = dim < 0 ? 1 : dim;
    inputs.push_back(Value::tensor(info.element_type, shape));
  }
  session.run(inputs);
  std::printf("%lld %lld\n", before, resident_bytes("VmHWM:"));
  return 0;
}
