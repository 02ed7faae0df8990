// Damaged and malicious artifacts: never a crash, a hang or memory out of proportion; damage is
// found before use.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "artifact/test_allocation.h"
#include "artifact/test_parts.h"

namespace sardonyx::artifact {
namespace {

using namespace artifact::testing;  // NOLINT

// Reads what may be damaged: Error or a part that can be written again.
bool survives(const Bytes& bytes) {
  largest_allocation() = 0;
  bool is_read = false;
  try {
    const CompiledPart part = read(bytes);
    is_read = true;
    write(part);
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::kOk);
    EXPECT_FALSE(is_read && error.code() != ErrorCode::kInvalidGraph) << error.what();
  }
  EXPECT_LE(largest_allocation(), 64 * bytes.size() + 65536);
  return is_read;
}

struct Range {
  uint64_t begin, end;
};

// Offset and end of a section, by its kind.
Range section_of(const Bytes& bytes, SectionKind kind) {
  for (uint32_t i = 0; i < load<uint32_t>(bytes, kCountOffset); ++i) {
    if (load<uint32_t>(bytes, row_offset(i)) != static_cast<uint32_t>(kind)) continue;
    const auto offset = load<uint64_t>(bytes, row_offset(i) + 8);
    return {offset, offset + load<uint64_t>(bytes, row_offset(i) + 16)};
  }
  ADD_FAILURE() << "no such section";
  return {};
}

bool holds(const Range& range, uint64_t at) { return at >= range.begin && at < range.end; }

TEST(HostileArtifact, EveryFlippedByteIsFound) {
  const Bytes good = write(small_part());
  const Range weights = section_of(good, SectionKind::kWeights);
  const Range manifest = section_of(good, SectionKind::kManifest);
  const Range head{0, 4096};
  ReadOptions full;
  full.verify_weights = true;
  const std::atomic<bool> never{false};
  Bytes bytes = good;
  for (uint64_t at = 0; at < good.size(); ++at) {
    bytes[at] ^= std::byte{0x10};
    EXPECT_EQ(code_of([&] { verify_artifact(bytes); }) == ErrorCode::kOk, false) << at;
    bool is_used = holds(head, at);
    for (SectionKind kind : {SectionKind::kProgram, SectionKind::kIo, SectionKind::kDebug}) {
      is_used = is_used || holds(section_of(good, kind), at);
    }
    EXPECT_EQ(code_of([&] { read(bytes); }) != ErrorCode::kOk, is_used) << at;
    EXPECT_EQ(code_of([&] { read(bytes, full); }) != ErrorCode::kOk, is_used || holds(weights, at))
        << at;
    if (!is_used) {
      EXPECT_EQ(code_of([&] { UncheckedWeights(read(bytes)).check(never); }) != ErrorCode::kOk,
                holds(weights, at))
          << at;
    }
    EXPECT_EQ(code_of([&] { read_facets(bytes, bytes.size()); }) != ErrorCode::kOk,
              holds(head, at) && at != 8 && at != 9)  // another format is reported, not thrown
        << at;
    EXPECT_EQ(code_of([&] { read_manifest(bytes); }) != ErrorCode::kOk,
              holds(head, at) || holds(manifest, at))
        << at;
    bytes[at] = good[at];
  }
}

TEST(HostileArtifact, EveryCutIsFound) {
  const Bytes good = write(small_part());
  for (size_t size = 0; size < good.size(); ++size) {
    const Bytes cut(good.begin(), good.begin() + static_cast<ptrdiff_t>(size));
    const ErrorCode code = code_of([&] { read(cut); });
    EXPECT_EQ(code, size < 8 ? ErrorCode::kInvalidArgument : ErrorCode::kFail) << size;
    EXPECT_EQ(code_of([&] { verify_artifact(cut); }), code) << size;
    EXPECT_EQ(code_of([&] { read_facets(cut, cut.size()); }), code) << size;
  }
  Bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_EQ(code_of([&] { read(longer); }), ErrorCode::kFail);
}

// Hashes that agree prove nothing: every byte of the decoded sections takes other values.
TEST(HostileArtifact, DecoderStandsAlone) {
  const Bytes good = write(full_part());
  int accepted = 0, refused = 0;
  for (const SectionKind kind : {SectionKind::kProgram, SectionKind::kIo, SectionKind::kDebug}) {
    const Range range = section_of(good, kind);
    for (uint64_t at = range.begin; at < range.end; ++at) {
      for (const int value : {0xff, static_cast<int>(good[at]) + 1}) {
        Bytes bytes = good;
        bytes[at] = static_cast<std::byte>(value);
        seal(bytes);
        ++(survives(bytes) ? accepted : refused);
      }
    }
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(HostileArtifact, DecoderStandsRandomSections) {
  std::minstd_rand engine(7);
  const Bytes good = write(full_part());
  for (int round = 0; round < 3000; ++round) {
    Bytes bytes = good;
    const auto kind = static_cast<SectionKind>(1 + engine() % 3);
    const Range range = section_of(good, kind);
    const uint64_t size = range.end - range.begin;
    const uint64_t begin = range.begin + engine() % size;
    // Noise, words of ones, or bytes from elsewhere in the section.
    for (uint64_t at = begin; at < std::min(range.end, begin + (1u << (engine() % 10))); ++at) {
      if (round % 3 == 0) bytes[at] = static_cast<std::byte>(engine());
      if (round % 3 == 1) bytes[at] = std::byte{0xff};
      if (round % 3 == 2) bytes[at] = good[range.begin + engine() % size];
    }
    seal(bytes);
    survives(bytes);
  }
}

TEST(HostileArtifact, EveryCutOfASectionIsRefused) {
  const Bytes good = write(full_part());
  for (const SectionKind kind : {SectionKind::kProgram, SectionKind::kIo, SectionKind::kDebug}) {
    const Range range = section_of(good, kind);
    for (uint64_t size = 0; size < range.end - range.begin; ++size) {
      // Only the size changes; where the next section starts stays true within one page.
      Bytes bytes = good;
      const uint64_t pages = align_up(size, 4096) == 0 ? 4096 : align_up(size, 4096);
      if (pages != align_up(range.end - range.begin, 4096)) continue;
      for (uint32_t i = 0; i < load<uint32_t>(bytes, kCountOffset); ++i) {
        if (load<uint32_t>(bytes, row_offset(i)) != static_cast<uint32_t>(kind)) continue;
        store(bytes, row_offset(i) + 16, size);
      }
      if (size == 0) continue;  // the next section would start earlier
      seal(bytes);
      EXPECT_EQ(code_of([&] { read(bytes); }), ErrorCode::kFail) << size;
    }
  }
}

TEST(HostileArtifact, TableOfSectionsIsChecked) {
  struct Case {
    const char* message;
    uint64_t offset;  // in the head
    uint64_t value;
    size_t size;
  };
  const Bytes good = write(small_part());
  const auto offset_of = [](size_t section) { return row_offset(section) + 8; };
  const auto size_of = [](size_t section) { return row_offset(section) + 16; };
  const Case cases[] = {
      {"expected", 16, good.size() + 1, 8},
      {"expected", 16, UINT64_MAX, 8},
      {"the head has", 12, 0, 4},
      {"the head has", 12, 4095, 4},
      {"the head has", 12, 1 << 20, 4},
      {"there are 33 sections", kCountOffset, 33, 4},
      {"there are 4294967295 sections", kCountOffset, UINT32_MAX, 4},
      {"starts at 4096", offset_of(1), 4096, 8},  // on top of section 0
      {"starts at 18446744073709547520", offset_of(1), UINT64_MAX - 4095, 8},
      {"starts at 8193", offset_of(1), 8193, 8},
      {"starts at 4096", offset_of(0), 4096, 8},  // fine; see below
      {"18446744073709551615 bytes", size_of(0), UINT64_MAX, 8},
      {"section 1 (program) at 4096 has", size_of(0), good.size(), 8},
      {"starts at 8192, expected 12288", size_of(0), 4097, 8},
      {"starts at", size_of(1), 0, 8},
      {"the file at", size_of(4), 3999, 8},
      {"4001 bytes", size_of(4), 4001, 8},
      {"occurs twice", row_offset(1), 1, 4},
      {"program: it is missing", row_offset(0), 60, 4},
      {"program: it is missing", row_offset(0), 0xffffffff, 4},
      {"io: it is missing", row_offset(1), 60, 4},
      {"3000000000 bytes are expected", 28, 3000000000, 4},  // facets beyond the page
      {"bytes are expected", 28, 3, 4},
  };
  for (const Case& c : cases) {
    Bytes bytes = good;
    std::memcpy(bytes.data() + c.offset, &c.value, c.size);
    if (c.offset != 12) seal(bytes, false);
    std::string message;
    const ErrorCode code = code_of([&] { read(bytes); }, &message);
    if (bytes == good) {
      EXPECT_EQ(code, ErrorCode::kOk) << message;
      continue;
    }
    EXPECT_EQ(code, ErrorCode::kFail) << c.message;
    EXPECT_NE(message.find(c.message), std::string::npos) << message << ", not " << c.message;
  }
  // Without constants in them, the weights may be missing; constants then lie nowhere.
  Bytes bytes = good;
  store(bytes, row_offset(4), uint32_t{60});
  seal(bytes, false);
  std::string message;
  EXPECT_EQ(code_of([&] { read(bytes); }, &message), ErrorCode::kFail);
  EXPECT_NE(message.find("the weights have 0"), std::string::npos) << message;
}

TEST(HostileArtifact, NewerFormatsAreRecognised) {
  // A newer minor format: more fields behind the facets, sections that are not known.
  Bytes bytes = write(small_part());
  store(bytes, 10, uint16_t{9});
  store(bytes, 28, load<uint32_t>(bytes, 28) + 100);
  store(bytes, row_offset(2), uint32_t{1000});  // was DEBUG
  seal(bytes);
  const CompiledPart part = read(bytes);
  EXPECT_EQ(part.facets.format_minor, 9);
  EXPECT_EQ(part.program.steps.size(), 1u);
  EXPECT_TRUE(verify_artifact(bytes));
  EXPECT_EQ(list_sections(bytes)[2].name, "unknown");

  // Another major one: nothing else is believed.
  store(bytes, 8, uint16_t{2});
  EXPECT_EQ(read_facets(bytes, bytes.size()).format_major, 2);
  EXPECT_EQ(read_facets(std::span(bytes).first(12), 12).format_major, 2);
  std::string message;
  EXPECT_EQ(code_of([&] { read(bytes); }, &message), ErrorCode::kNotImplemented);
  EXPECT_NE(message.find("format 2.9"), std::string::npos) << message;
}

// Programs that decode but would leave their memory.
TEST(HostileArtifact, ProgramsAreVerified) {
  struct Case {
    const char* message;
    std::function<void(Program&)> change;
  };
  const Case cases[] = {
      {"step 0 names buffer 99", [](Program& p) { p.steps[0].inputs[0] = ValueId{99}; }},
      {"step 0 names buffer -2", [](Program& p) { p.steps[0].inputs[0] = ValueId{-2}; }},
      {"step 0 names buffer 99", [](Program& p) { p.steps[0].outputs[0] = ValueId{99}; }},
      {"before it has contents", [](Program& p) { p.steps[0].inputs[0] = ValueId{3}; }},
      {"has contents already", [](Program& p) { p.steps[0].outputs[0] = ValueId{0}; }},
      {"has contents already", [](Program& p) { p.steps[1].outputs[0] = ValueId{2}; }},
      {"step 1 names buffer -1", [](Program& p) { p.steps[1].captures[0] = ValueId::kNone; }},
      {"output 0 names buffer -1", [](Program& p) { p.outputs[0] = -1; }},
      {"output 1 uses buffer 5", [](Program& p) { p.outputs[1] = 5; }},
      {"which is no input or another one", [](Program& p) { p.inputs[1] = p.inputs[0]; }},
      {"which is no input or another one", [](Program& p) { p.inputs[1] = 2; }},
      {"input 1 names buffer 1000", [](Program& p) { p.inputs[1] = 1000; }},
      {"constant 7 has no contents", [](Program& p) { p.buffers[7].constant = Tensor(); }},
      {"constant 7 is a float[3], its type says int8[3]",
       [](Program& p) { p.buffers[7].type.element = DataType::kInt8; }},
      {"constant 7 is a float[3], its type says float[4]",
       [](Program& p) { (*p.buffers[7].type.shape)[0] = Dim(4); }},
      {"constant 11 is a sequence[2], its type says seq(int8)",
       [](Program& p) {
         p.buffers[11].type = ValueType::sequence(ValueType::tensor(DataType::kInt8));
       }},
      {"constant 11 is a sequence[2], its type says float",
       [](Program& p) { p.buffers[11].type = ValueType::tensor(DataType::kFloat); }},
      {"a subprogram belongs to step 9", [](Program& p) { p.subprograms[1].step = 9; }},
      {"a subprogram belongs to step 0", [](Program& p) { p.subprograms[1].step = 0; }},
      {"which the step does not", [](Program& p) { p.subprograms[0].captures[0] = 0; }},
      {"captures 3 buffers and has 2 inputs",
       [](Program& p) { p.subprograms[0].captures.push_back(p.subprograms[0].captures[0]); }},
      {"step 0 names buffer 4",
       [](Program& p) { p.subprograms[0].program.steps[0].inputs[0] = ValueId{4}; }},
  };
  for (const Case& c : cases) {
    CompiledPart part = full_part();
    c.change(part.program);
    std::string message;
    EXPECT_EQ(code_of([&] { write(part); }, &message), ErrorCode::kInvalidGraph) << c.message;
    EXPECT_NE(message.find(c.message), std::string::npos) << message << ", not " << c.message;
  }
}

}  // namespace
}  // namespace sardonyx::artifact
