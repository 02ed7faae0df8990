// Writing and reading of artifacts: what comes back, what is shared, what is refused.
#include "artifact/artifact.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "artifact/test_parts.h"
#include "base/mapped_file.h"
#include "plan/verify_program.h"

namespace sardonyx::artifact {
namespace {

using namespace artifact::testing;  // NOLINT

std::filesystem::path fresh_folder() {
  std::string pattern = ::testing::TempDir() + "sdx_artifact_XXXXXX";
  return ::mkdtemp(pattern.data());
}

const SectionInfo& section(const std::vector<SectionInfo>& sections, const std::string& name) {
  for (const SectionInfo& each : sections) {
    if (each.name == name) return each;
  }
  throw Error(ErrorCode::kFail, "no section " + name);
}

void expect_equal(const ValueInfo& a, const ValueInfo& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.kind, b.kind);
  ASSERT_EQ(a.item.size(), b.item.size());
  for (size_t i = 0; i < a.item.size(); ++i) expect_equal(a.item[i], b.item[i]);
  EXPECT_EQ(a.element_type, b.element_type);
  EXPECT_EQ(a.has_shape, b.has_shape);
  EXPECT_EQ(a.shape, b.shape);
  EXPECT_EQ(a.symbols, b.symbols);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.is_optional, b.is_optional);
}

TEST(Artifact, GivesBackEverything) {
  const CompiledPart part = full_part();
  const CompiledPart back = read(write(part));
  Comparison().programs(part.program, back.program);
  ASSERT_EQ(back.inputs.size(), part.inputs.size());
  for (size_t i = 0; i < part.inputs.size(); ++i) expect_equal(part.inputs[i], back.inputs[i]);
  ASSERT_EQ(back.outputs.size(), part.outputs.size());
  for (size_t i = 0; i < part.outputs.size(); ++i) expect_equal(part.outputs[i], back.outputs[i]);
  ASSERT_EQ(back.defaults.size(), 3u);
  EXPECT_FALSE(back.defaults[0].is_defined());
  EXPECT_TRUE(bitwise_equal(back.defaults[1], part.defaults[1]));
  EXPECT_EQ(back.metadata.producer_name, "maker");
  EXPECT_EQ(back.metadata.producer_version, "1.2");
  EXPECT_EQ(back.metadata.domain, "com.maker");
  EXPECT_EQ(back.metadata.graph_name, "net");
  EXPECT_EQ(back.metadata.description, "A net.");
  EXPECT_EQ(back.metadata.model_version, 7);
  EXPECT_EQ(back.metadata.ir_version, 10);
  EXPECT_EQ(back.metadata.opset_imports, part.metadata.opset_imports);
  EXPECT_EQ(back.metadata.custom, part.metadata.custom);
  EXPECT_EQ(back.warnings, part.warnings);
  EXPECT_EQ(back.facets, part.facets);
}

TEST(Artifact, SameProgramGivesSameBytes) {
  const Bytes first = write(full_part());
  EXPECT_EQ(first, write(full_part()));
  // Where symbols lie in their table is no part of a Program.
  EXPECT_EQ(first, write(full_part(40)));
  EXPECT_EQ(first, write(read(first)));
  // Two symbols that become one are another Program.
  CompiledPart other = full_part();
  (*other.program.buffers[3].type.shape)[0] = Dim::expression(0);
  EXPECT_NE(first, write(other));
}

TEST(Artifact, MapsWeightsAndStoresEachOnce) {
  const Bytes bytes = write(full_part());
  const CompiledPart part = read(bytes);
  const auto sections = list_sections(part.image);
  const SectionInfo& weights = section(sections, "weights");
  // 20 x 30 floats (twice a constant, once an attribute), 1025 bytes, an item of a sequence.
  EXPECT_EQ(weights.size_bytes, 2432u + 1088u + 2400u);
  for (const char* name : {"program", "io", "debug", "manifest", "weights"}) {
    EXPECT_EQ(section(sections, name).offset % 4096, 0u) << name;
  }
  std::map<std::string, const ProgramBuffer*> named;
  for (const ProgramBuffer& buffer : part.program.buffers) named[buffer.name] = &buffer;
  EXPECT_EQ(named["big"]->constant.raw(), part.image.data() + weights.offset);
  EXPECT_EQ(named["odd"]->constant.raw(), part.image.data() + weights.offset + 2432);
  EXPECT_EQ(part.program.subprograms[0].program.buffers[3].constant.raw(),
            named["big"]->constant.raw());
  int views = 0;
  for (const ProgramBuffer& buffer : part.program.buffers) {
    if (buffer.kind != ProgramBuffer::Kind::kConstant) continue;
    if (holds_objects(buffer.constant.type())) continue;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.constant.raw()) % 64, 0u);
    EXPECT_EQ(buffer.constant.owner(), part.owner);
    EXPECT_FALSE(buffer.constant.is_private());
    ++views;
  }
  EXPECT_GT(views, 70);
}

TEST(Artifact, ConstantsKeepTheFileAlive) {
  const auto folder = fresh_folder();
  const std::string path = (folder / "m.bin").string();
  write_artifact(small_part(), {}, path);
  Tensor weight;
  {
    const CompiledPart part = read_artifact(path);
    weight = part.program.buffers[1].constant;
  }
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(bitwise_equal(weight, small_part().program.buffers[1].constant));
}

TEST(Artifact, AnyAlignmentOfMemoryWillDo) {
  const Bytes bytes = write(full_part());
  for (const size_t shift : {1, 4, 32}) {
    const CompiledPart part = read(bytes, {}, shift);
    Comparison().programs(full_part().program, part.program);
    const auto* weight = static_cast<const std::byte*>(part.program.buffers[8].constant.raw());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(weight) % 64, 0u);
    EXPECT_TRUE(weight > part.image.data() && weight < part.image.data() + part.image.size());
  }
}

TEST(Artifact, NamesCanBeLeftOut) {
  ReadOptions options;
  options.names = false;
  const Bytes bytes = write(small_part());
  EXPECT_EQ(read(bytes, options).program.buffers[0].name, "");
  EXPECT_EQ(read(bytes).program.buffers[0].name, "x");
}

TEST(Artifact, ManifestIsForPeople) {
  Manifest manifest;
  manifest.producer = "sardonyx 0.1.0";
  manifest.source_file = "m\xff.onnx";
  manifest.source_hash = "blake2b:00";
  manifest.options = {{"level", "all"}};
  manifest.notes = {{"seconds", "1.5"}};
  const Bytes bytes = write(small_part(), manifest);
  const auto json = nlohmann::json::parse(read_manifest(bytes));
  EXPECT_EQ(json["producer"], "sardonyx 0.1.0");
  EXPECT_EQ(json["format"], "1.0");
  EXPECT_EQ(json["source"]["file"], "m\xef\xbf\xbd.onnx");
  EXPECT_EQ(json["source"]["hash"], "blake2b:00");
  EXPECT_EQ(json["options"]["level"], "all");
  EXPECT_EQ(json["notes"]["seconds"], "1.5");
  EXPECT_EQ(json["rows"]["ai.sardonyx.PackedGemm"], 2);
  EXPECT_EQ(json["section_bytes"]["weights"], 4000);
  // No result depends on it.
  Comparison().programs(read(bytes).program, read(write(small_part())).program);
}

TEST(Artifact, FileAppearsWholeOrNotAtAll) {
  const auto folder = fresh_folder();
  const std::string path = (folder / "m.bin").string();
  std::ofstream(path) << "old";
  std::atomic<bool> cancel{false};
  WriteOptions options;
  options.cancel = &cancel;
  std::vector<double> fractions;
  options.progress = [&](double done) {
    fractions.push_back(done);
    if (done > 0.5) cancel = true;
  };
  EXPECT_EQ(code_of([&] { write_artifact(small_part(), {}, path, options); }),
            ErrorCode::kModelLoadCanceled);
  EXPECT_EQ(read_file(path).size(), 3u);

  cancel = false;
  fractions.clear();
  options.progress = [&](double done) { fractions.push_back(done); };
  const uint64_t size = write_artifact(small_part(), {}, path, options);
  EXPECT_EQ(read_file(path), write(small_part()));
  EXPECT_EQ(std::filesystem::file_size(path), size);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.back(), 1.0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);

  EXPECT_EQ(read_facets(read_file(path), size), facets());
  EXPECT_EQ(read_manifest(path), read_manifest(write(small_part())));
  Comparison().programs(read_artifact(path).program, small_part().program);
  std::filesystem::remove_all(folder);
}

TEST(Artifact, SinkMayRefuse) {
  const Sink full = [](std::span<const std::byte>) {
    throw Error(ErrorCode::kFail, "the disk is full");
  };
  std::string message;
  EXPECT_EQ(code_of([&] { write_artifact(small_part(), {}, full); }, &message), ErrorCode::kFail);
  EXPECT_EQ(message, "the disk is full");
}

TEST(Artifact, RefusesWhatItHasNoPlaceFor) {
  struct Case {
    const char* message;
    std::function<void(CompiledPart&)> change;
  };
  const auto attribute = [](AttributeValue value) {
    return [value](CompiledPart& part) { part.program.steps[0].attributes.set("a", value); };
  };
  const auto nest = [](int levels) {
    return [levels](CompiledPart& part) {
      for (int i = 0; i < levels; ++i) {
        CompiledPart outer = small_part();
        SubProgram sub{0, "body", {}, std::move(part.program)};
        outer.program.subprograms.push_back(std::move(sub));
        part = std::move(outer);
      }
    };
  };
  ValueType deep;
  for (int i = 0; i < 64; ++i) deep = ValueType::sequence(deep);
  const Case cases[] = {
      {"graph", attribute(std::make_shared<Graph>())},
      {"graphs", attribute(std::vector<std::shared_ptr<Graph>>{})},
      {"ref", attribute(AttributeRef{"a", 1})},
      {"deeper than 64", attribute(deep)},
      {"deeper than 64", nest(64)},
      {"a constant optional holds a value of type optional",
       attribute(tensor_of_values(kOptionalType,
                                  std::vector<Tensor>{tensor_of_values(kOptionalType, {})}))},
      {"256 bytes", [](CompiledPart& part) { part.program.steps[0].op = std::string(256, 'a'); }},
      {"256 attributes",
       [](CompiledPart& part) {
         for (int i = 0; i < 256; ++i) {
           part.program.steps[0].attributes.set(std::to_string(i), int64_t{i});
         }
       }},
      {"256 dimensions",
       [](CompiledPart& part) { part.program.buffers[2].type.shape = Dims(256, Dim(1)); }},
      {"256 dimensions",
       [](CompiledPart& part) {
         part.program.steps[0].attributes.set("a", numbered(DataType::kInt8, Shape(256, 1)));
       }},
      {"there is room for 65536",
       [](CompiledPart& part) {
         for (int i = 0; i < 10000; ++i) part.facets.rows["row" + std::to_string(i)] = 1;
       }},
  };
  for (const Case& c : cases) {
    CompiledPart part = small_part();
    c.change(part);
    std::string message;
    EXPECT_EQ(code_of([&] { write(part); }, &message), ErrorCode::kInvalidGraph) << c.message;
    EXPECT_NE(message.find(c.message), std::string::npos) << message;
  }
  CompiledPart part = small_part();
  nest(63)(part);
  Comparison().programs(read(write(part)).program, part.program);
  part.defaults.clear();
  EXPECT_EQ(code_of([&] { write(part); }), ErrorCode::kInvalidArgument);
}

// The head grows by pages; a verdict still reads only it.
TEST(Artifact, ManyRowsTakeMorePages) {
  CompiledPart part = small_part();
  for (int i = 0; i < 1000; ++i) part.facets.rows["row" + std::to_string(i)] = 1;
  const Bytes bytes = write(part);
  EXPECT_EQ(load<uint32_t>(bytes, 12), 3 * 4096u);
  EXPECT_EQ(read_facets(std::span(bytes).first(12288), bytes.size()), part.facets);
  EXPECT_EQ(code_of([&] { read_facets(std::span(bytes).first(8192), bytes.size()); }),
            ErrorCode::kFail);
  EXPECT_EQ(read(bytes).facets, part.facets);
}

}  // namespace
}  // namespace sardonyx::artifact
