// Fuzz target: bytes taken for the sections of a compiled model, in a file whose head and hashes
// agree. Whatever they say, the outcome is an Error, or a part that is written and read back to the
// same bytes. The input is PROGRAM, IO and DEBUG; the first two have their length in two bytes
// before them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "artifact/artifact.h"
#include "artifact/head.h"
#include "sardonyx/error.h"
#include "tensor/tensor.h"

namespace sardonyx::artifact {
namespace {

using Bytes = std::vector<std::byte>;

constexpr size_t kWeightsBytes = 8192;

std::span<const std::byte> take_section(std::span<const std::byte>& input) {
  uint16_t size = 0;
  if (input.size() < sizeof(size)) return {};
  std::memcpy(&size, input.data(), sizeof(size));
  const auto section =
      input.subspan(sizeof(size)).first(std::min<size_t>(size, input.size() - sizeof(size)));
  input = input.subspan(sizeof(size) + section.size());
  return section;
}

Bytes make_file(std::span<const std::byte> input) {
  static const Bytes kWeights(kWeightsBytes);
  const auto program = take_section(input), io = take_section(input);
  const std::pair<SectionKind, std::span<const std::byte>> sections[] = {
      {SectionKind::kProgram, program},
      {SectionKind::kIo, io},
      {SectionKind::kDebug, input},
      {SectionKind::kWeights, kWeights}};
  Head head;
  for (const auto& [kind, bytes] : sections) {
    head.sections.push_back({kind, 0, bytes.size(), hash_of(bytes)});
  }
  Bytes file = write_head(head);
  for (size_t i = 0; i < head.sections.size(); ++i) {
    file.resize(head.sections[i].offset);
    file.insert(file.end(), sections[i].second.begin(), sections[i].second.end());
  }
  return file;
}

CompiledPart read(const Bytes& bytes) {
  const Tensor memory =
      Tensor::view(DataType::kUint8, Shape{static_cast<int64_t>(bytes.size())}, bytes.data())
          .clone();
  return read_artifact({memory.data<std::byte>(), bytes.size()}, memory.owner());
}

Bytes write(const CompiledPart& part) {
  Bytes bytes;
  write_artifact(part, {}, [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return bytes;
}

void try_input(std::span<const std::byte> input) {
  CompiledPart part;
  try {
    part = read(make_file(input));
  } catch (const Error&) {
    return;
  }
  const Bytes once = write(part);
  if (write(read(once)) != once) std::abort();
}

}  // namespace
}  // namespace sardonyx::artifact

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sardonyx::artifact::try_input(std::as_bytes(std::span(data, size)));
  return 0;
}
