#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "artifact/artifact.h"
#include "artifact/head.h"
#include "artifact/io_section.h"
#include "artifact/program_decoder.h"
#include "artifact/shapes_section.h"
#include "base/mapped_file.h"
#include "plan/verify_program.h"
#include "sardonyx/error.h"

namespace sardonyx::artifact {
namespace {

using Bytes = std::span<const std::byte>;

[[noreturn]] void fail(const Section& section, const char* what) {
  throw Error(ErrorCode::kFail,
              fmt::format("compiled model is damaged: section {}: {}; compile the model again",
                          name_of(section.kind), what));
}

Head read_this_format(Bytes bytes) {
  Head head = read_head(bytes, bytes.size());
  if (head.facets.format_major != kFormatMajor) {
    throw Error(ErrorCode::kNotImplemented,
                fmt::format("compiled model has format {}.{}, this version reads {}.x; compile the "
                            "model again",
                            head.facets.format_major, head.facets.format_minor, kFormatMajor));
  }
  return head;
}

Bytes bytes_of(Bytes file, const Section& section) {
  return file.subspan(section.offset, section.size);
}

// False when cancelled. Throws when the hash does not agree.
bool check_hash(Bytes file, const Section& section, const std::atomic<bool>* cancel = nullptr) {
  const std::optional<Hash128> hash = hash_of_pieces(
      section.size, cancel,
      [&](uint64_t offset, size_t size) { return file.subspan(section.offset + offset, size); });
  if (hash && *hash != section.hash) fail(section, "its hash does not agree");
  return hash.has_value();
}

Bytes checked_section(Bytes file, const Head& head, SectionKind kind) {
  const Section* section = head.find(kind);
  if (section == nullptr) fail({kind, 0, 0, {}}, "it is missing");
  check_hash(file, *section);
  return bytes_of(file, *section);
}

ValueType type_of(const ValueInfo& info) {
  if (info.kind == ValueKind::kTensor) return ValueType::tensor(info.element_type);
  if (info.kind == ValueKind::kNone || info.item.empty()) return {};
  return info.kind == ValueKind::kSequence ? ValueType::sequence(type_of(info.item[0]))
                                           : ValueType::optional(type_of(info.item[0]));
}

bool is_aligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kConstantAlignment == 0;
}

// Adds the path to what went wrong.
template <typename Read>
auto reading(const std::string& path, const Read& read) {
  const auto file = MappedFile::open(path);
  try {
    return read(file);
  } catch (const Error& error) {
    throw error.with_context("'" + path + "'");
  }
}

}  // namespace

CompiledPart read_artifact(Bytes bytes, std::shared_ptr<const void> owner,
                           const ReadOptions& options) {
  const Head head = read_this_format(bytes);
  if (!is_aligned(bytes.data())) {
    const Tensor copy =
        Tensor::view(DataType::kUint8, Shape{static_cast<int64_t>(bytes.size())}, bytes.data())
            .clone();
    bytes = {copy.data<std::byte>(), bytes.size()};
    owner = copy.owner();
  }
  const Bytes program = checked_section(bytes, head, SectionKind::kProgram);
  const Bytes io = checked_section(bytes, head, SectionKind::kIo);
  Bytes weights;
  if (const Section* section = head.find(SectionKind::kWeights)) {
    weights = bytes_of(bytes, *section);
    if (options.verify_weights) check_hash(bytes, *section);
  }

  CompiledPart part;
  part.facets = head.facets;
  part.image = bytes;
  part.owner = owner;
  ProgramDecoder decoder(program, weights, std::move(owner));
  part.program = decoder.decode();
  try {
    verify(part.program);
  } catch (const Error& error) {
    throw Error(ErrorCode::kFail, fmt::format("compiled model is damaged: section program: {}; "
                                              "compile the model again",
                                              error.what()));
  }
  read_io(io, decoder, part);
  if (head.find(SectionKind::kShapes) != nullptr) {
    part.shapes =
        read_shapes(checked_section(bytes, head, SectionKind::kShapes), part.inputs.size());
  }
  if (options.names && head.find(SectionKind::kDebug) != nullptr) {
    ProgramDecoder::decode_names(checked_section(bytes, head, SectionKind::kDebug), part.program);
  }
  return part;
}

CompiledPart read_interface(Bytes bytes) {
  const Head head = read_this_format(bytes);
  CompiledPart part;
  part.facets = head.facets;
  read_infos(checked_section(bytes, head, SectionKind::kIo), part);
  part.defaults.resize(part.inputs.size());
  const auto add = [&](const ValueInfo& info, ProgramBuffer::Kind kind, auto& ids) {
    ids.push_back(static_cast<int32_t>(part.program.buffers.size()));
    ProgramBuffer& buffer = part.program.buffers.emplace_back();
    buffer.kind = kind;
    buffer.type = type_of(info);
  };
  for (const ValueInfo& info : part.inputs) {
    add(info, ProgramBuffer::Kind::kInput, part.program.inputs);
  }
  for (const ValueInfo& info : part.outputs) {
    add(info, ProgramBuffer().kind, part.program.outputs);
  }
  return part;
}

CompiledPart read_artifact(const std::string& path, const ReadOptions& options) {
  return reading(path, [&](const std::shared_ptr<const MappedFile>& file) {
    return read_artifact(file->bytes(), file, options);
  });
}

bool is_artifact(Bytes start) {
  return start.size() >= sizeof(kMagic) && std::memcmp(start.data(), kMagic, sizeof(kMagic)) == 0;
}

Facets read_facets(Bytes start, uint64_t size_bytes) { return read_head(start, size_bytes).facets; }

std::string identity_of(Bytes start) {
  std::string text;
  for (const std::byte byte : start.subspan(kHashOffset, sizeof(Hash128))) {
    for (const unsigned digit :
         {static_cast<unsigned>(byte) >> 4, static_cast<unsigned>(byte) & 15}) {
      text += "0123456789abcdef"[digit];
    }
  }
  return text;
}

std::string read_manifest(Bytes bytes) {
  const Bytes json = checked_section(bytes, read_this_format(bytes), SectionKind::kManifest);
  return {reinterpret_cast<const char*>(json.data()), json.size()};
}

std::string read_manifest(const std::string& path) {
  return reading(path, [](const std::shared_ptr<const MappedFile>& file) {
    return read_manifest(file->bytes());
  });
}

bool verify_artifact(Bytes bytes, const std::atomic<bool>* cancel) {
  const Head head = read_this_format(bytes);
  uint64_t end = head.head_bytes;
  for (const Section& section : head.sections) {
    const Bytes padding = bytes.subspan(end, section.offset - end);
    if (std::any_of(padding.begin(), padding.end(),
                    [](std::byte b) { return b != std::byte{0}; })) {
      fail(section, "the padding before it is not zero");
    }
    if (!check_hash(bytes, section, cancel)) return false;
    end = section.offset + section.size;
  }
  return true;
}

std::vector<SectionInfo> list_sections(Bytes bytes) {
  std::vector<SectionInfo> infos;
  for (const Section& section : read_this_format(bytes).sections) {
    infos.push_back({name_of(section.kind), section.offset, section.size, section.hash});
  }
  return infos;
}

}  // namespace sardonyx::artifact
