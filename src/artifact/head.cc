#include "artifact/head.h"

#include <fmt/format.h>

#include <cstring>

#include "artifact/byte_reader.h"
#include "artifact/byte_writer.h"
#include "sardonyx/error.h"

namespace sardonyx::artifact {
namespace {

void put_facets(ByteWriter& out, const Facets& facets) {
  for (const std::string* text : {&facets.provider, &facets.architecture, &facets.target}) {
    out.name(*text);
  }
  out.put_count(facets.required_isa.size());
  for (const std::string& level : facets.required_isa) out.name(level);
  out.put_count(facets.rows.size());
  for (const auto& [row, version] : facets.rows) {
    out.name(row);
    out.put(version);
  }
  out.put_count(facets.tuning.size());
  for (const auto& [name, value] : facets.tuning) {
    out.name(name);
    out.put(value);
  }
}

void read_facets_into(ByteReader& in, Facets& facets) {
  for (std::string* text : {&facets.provider, &facets.architecture, &facets.target}) {
    *text = in.name();
  }
  for (uint32_t left = in.count(1); left != 0; --left) facets.required_isa.emplace_back(in.name());
  for (uint32_t left = in.count(5); left != 0; --left) {
    const std::string row(in.name());
    facets.rows[row] = in.get<uint32_t>();
  }
  for (uint32_t left = in.count(9); left != 0; --left) {
    const std::string name(in.name());
    facets.tuning[name] = in.get<int64_t>();
  }
}

// Of all bytes but the hash itself.
Hash128 head_hash(std::span<const std::byte> head) {
  Hasher hasher;
  hasher.add(head.first(kHashOffset));
  hasher.add(head.subspan(kTableOffset));
  return hasher.result();
}

void put_hash(ByteWriter& out, const Hash128& hash) { out.bytes(std::as_bytes(std::span(hash))); }

Hash128 get_hash(ByteReader& in) {
  Hash128 hash;
  std::memcpy(hash.data(), in.take(hash.size()).data(), hash.size());
  return hash;
}

// Sections follow the head and one another, each at the next page.
void check_sections(const Head& head, const ByteReader& in) {
  uint64_t end = head.head_bytes;
  uint64_t seen = 0;
  for (const Section& section : head.sections) {
    const std::string name =
        fmt::format("section {} ({})", static_cast<uint32_t>(section.kind), name_of(section.kind));
    if (section.offset != align_up(end, kPageBytes)) {
      in.fail(fmt::format("{} starts at {}, expected {}", name, section.offset,
                          align_up(end, kPageBytes)));
    }
    if (section.offset > head.total_bytes || section.size > head.total_bytes - section.offset) {
      in.fail(fmt::format("{} at {} has {} bytes, the file {}", name, section.offset, section.size,
                          head.total_bytes));
    }
    end = section.offset + section.size;
    if (static_cast<uint32_t>(section.kind) >= 64) continue;  // of a newer minor format
    const uint64_t bit = uint64_t{1} << static_cast<uint32_t>(section.kind);
    if ((seen & bit) != 0) in.fail(name + " occurs twice");
    seen |= bit;
  }
  if (end != head.total_bytes) {
    in.fail(fmt::format("the sections end at {}, the file at {}", end, head.total_bytes));
  }
}

}  // namespace

const char* name_of(SectionKind kind) {
  switch (kind) {
    case SectionKind::kProgram:
      return "program";
    case SectionKind::kIo:
      return "io";
    case SectionKind::kDebug:
      return "debug";
    case SectionKind::kManifest:
      return "manifest";
    case SectionKind::kWeights:
      return "weights";
    case SectionKind::kShapes:
      return "shapes";
    case SectionKind::kTune:
      return "tune";
  }
  return "unknown";
}

const Section* Head::find(SectionKind kind) const {
  for (const Section& section : sections) {
    if (section.kind == kind) return &section;
  }
  return nullptr;
}

std::vector<std::byte> write_head(Head& head) {
  ByteWriter facets;
  put_facets(facets, head.facets);
  const uint64_t used = kTableOffset + kSectionRowBytes * head.sections.size() + facets.size();
  head.head_bytes = align_up(used, kPageBytes);
  if (head.head_bytes > kMaxHeadBytes) {
    throw Error(ErrorCode::kInvalidGraph,
                fmt::format("the facets of the compiled model take {} bytes; there is room for {}",
                            facets.size(), kMaxHeadBytes));
  }
  uint64_t end = head.head_bytes;
  for (Section& section : head.sections) {
    section.offset = align_up(end, kPageBytes);
    end = section.offset + section.size;
  }
  head.total_bytes = end;

  ByteWriter out;
  out.bytes(std::as_bytes(std::span(kMagic)));
  out.put(head.facets.format_major);
  out.put(head.facets.format_minor);
  out.put(static_cast<uint32_t>(head.head_bytes));
  out.put(head.total_bytes);
  out.put_count(head.sections.size());
  out.put_count(facets.size());
  put_hash(out, {});
  for (const Section& section : head.sections) {
    out.put(section.kind);
    out.put(uint32_t{0});
    out.put(section.offset);
    out.put(section.size);
    put_hash(out, section.hash);
  }
  out.bytes(facets.view());
  out.align(head.head_bytes);
  const Hash128 hash = head_hash(out.view());
  std::memcpy(out.buffer().data() + kHashOffset, hash.data(), hash.size());
  return std::move(out.buffer());
}

Head read_head(std::span<const std::byte> start, uint64_t total_bytes) {
  if (start.size() < sizeof(kMagic) || std::memcmp(start.data(), kMagic, sizeof(kMagic)) != 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        "this is no compiled model of Sardonyx: it does not start with the signature of one");
  }
  ByteReader in(start, "head");
  in.take(sizeof(kMagic));
  Head head;
  head.facets.format_major = in.get<uint16_t>();
  head.facets.format_minor = in.get<uint16_t>();
  if (head.facets.format_major != kFormatMajor) return head;

  head.head_bytes = in.get<uint32_t>();
  if (head.head_bytes == 0 || head.head_bytes % kPageBytes != 0 ||
      head.head_bytes > kMaxHeadBytes || head.head_bytes > start.size()) {
    in.fail(fmt::format("the head has {} bytes, of {}", head.head_bytes, start.size()));
  }
  in = ByteReader(start.first(head.head_bytes), "head");
  in.take(16);
  head.total_bytes = in.get<uint64_t>();
  const auto sections = in.get<uint32_t>();
  const auto facets_bytes = in.get<uint32_t>();
  if (get_hash(in) != head_hash(start.first(head.head_bytes))) in.fail("its hash does not agree");
  if (head.total_bytes != total_bytes) {
    in.fail(fmt::format("the file has {} bytes, expected {}", total_bytes, head.total_bytes));
  }
  if (sections > kMaxSections) in.fail(fmt::format("there are {} sections", sections));
  for (uint32_t i = 0; i < sections; ++i) {
    Section& section = head.sections.emplace_back();
    section.kind = static_cast<SectionKind>(in.get<uint32_t>());
    in.take(4);
    section.offset = in.get<uint64_t>();
    section.size = in.get<uint64_t>();
    section.hash = get_hash(in);
  }
  check_sections(head, in);
  ByteReader facets(in.take(facets_bytes), "head");
  read_facets_into(facets, head.facets);
  return head;
}

}  // namespace sardonyx::artifact
