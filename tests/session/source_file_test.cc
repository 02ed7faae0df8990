// A session needs neither its source file nor the external data after create: whatever happens to
// them, results stay the same and nothing faults.
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/model.h"
#include "tests/session/in_child.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

// Tensors of every place: initializers, defaults of inputs, attributes that are read while running
// (the value of ConstantOfShape, at shapes that are new), constants of subgraphs and of Constant
// nodes, strings.
std::unique_ptr<Model> many_places() {
  auto model = parse_model_text(R"(g (float[N,64] x, bool c, float[64] bias = {3, ...}) =>
      (float[N,64] y, float[A,B] filled, string[600] t)
      <float[64,64] w = {0.5, ...}, string[600] words = {"some words", ...}> {
    h = MatMul(x, w) b = Add(h, bias)
    y = If(c) <then_branch = p () => (q) <float[64] inner = {2, ...}> { q = Mul(b, inner) },
               else_branch = e () => (q) { k = Constant <value = float[64] {4, ...}> () q = Sub(b, k) }>
    size = Shape(x) filled = ConstantOfShape <value = float[1] {7}> (size)
    t = Identity(words) })");
  return model;
}

std::vector<std::vector<float>> run(const Session& session, int64_t n, bool condition) {
  Value c = Value::tensor(ElementType::kBool, {});
  c.as<bool>()[0] = condition;
  const std::vector<Value> results = session.run({{"x", wave({n, 64})}, {"c", c}});
  EXPECT_EQ(elements<std::string>(results[2]), Strings(600, "some words"));
  return {to_vector(results[0]), to_vector(results[1])};
}

struct Damage {
  const char* name;
  void (*apply)(const fs::path& file);
};

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class SourceFileTest : public ::testing::TestWithParam<Damage> {};

TEST_P(SourceFileTest, MayChangeAfterCreate) {
  for (bool external : {false, true}) {
    for (OptimizationLevel level : {OptimizationLevel::kNone, OptimizationLevel::kAll}) {
      const TemporaryFolder folder;
      WriteOptions write;
      if (external) {
        write.external_data_file = "weights";
        write.external_threshold_bytes = 1;
      }
      write_model(*many_places(), (folder / "m.onnx").string(), write);
      ASSERT_EQ(fs::exists(folder / "weights"), external);
      Options options;
      options.level = level;
      const Session session(folder / "m.onnx", options);
      const auto before = run(session, 3, true);
      EXPECT_EQ(before[1], std::vector<float>(3 * 64, 7));
      GetParam().apply(folder / "m.onnx");
      if (external) GetParam().apply(folder / "weights");
      EXPECT_EQ(run(session, 3, true), before);
      // Branches and shapes that were not seen before.
      const auto otherwise = run(session, 5, false);
      EXPECT_EQ(otherwise[1], std::vector<float>(5 * 64, 7));
      EXPECT_NE(otherwise[0][0], before[0][0]);
    }
  }
}

constexpr Damage kDamages[] = {
    {"Overwritten",
     [](const fs::path& file) {
       const auto size = fs::file_size(file);
       std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
       for (size_t i = 0; i < size; ++i) out.put('\x5a');
     }},
    {"Truncated", [](const fs::path& file) { fs::resize_file(file, 0); }},
    {"CutInTheMiddle",
     [](const fs::path& file) { fs::resize_file(file, fs::file_size(file) / 2); }},
    {"Removed", [](const fs::path& file) { fs::remove(file); }},
};
INSTANTIATE_TEST_SUITE_P(SourceFile, SourceFileTest, ::testing::ValuesIn(kDamages),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(SourceBytes, AreNotNeededAfterCreate) {
  std::vector<std::byte> bytes = write_model(*many_places());
  const Session session(bytes);
  const auto before = run(session, 2, true);
  std::fill(bytes.begin(), bytes.end(), std::byte{0x5a});
  EXPECT_EQ(run(session, 2, true), before);
  bytes = {};
  EXPECT_EQ(run(session, 4, true)[1], std::vector<float>(4 * 64, 7));
}

// Root may read everything, so a child without that right tries.
TEST(SourceFile, OneThatMayNotBeReadSaysSo) {
  const TemporaryFolder folder;
  WriteOptions write;
  write.external_data_file = "weights";
  write.external_threshold_bytes = 1;
  write_model(*many_places(), (folder / "m.onnx").string(), write);
  for (const char* forbidden : {"m.onnx", "weights"}) {
    fs::permissions(folder / forbidden, fs::perms::none);
    const int status = in_child([&] {
      __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
      __user_cap_data_struct none[2] = {};
      if (syscall(SYS_capset, &header, none) != 0) return 98;
      try {
        Session(folder / "m.onnx");
      } catch (const Error& error) {
        const std::string message = error.what();
        const bool is_told = message.find(forbidden) != message.npos &&
                             message.find("check the permissions") != message.npos;
        return is_told && error.code() == ErrorCode::kFail ? 0 : 1;
      }
      return 2;
    });
    EXPECT_EQ(status, 0) << forbidden;
    fs::permissions(folder / forbidden, fs::perms(0644));
  }
}

}  // namespace
}  // namespace sardonyx
