// Programs of the CPU provider through a compiled model and back: the same bytes of output, from
// weights that lie in the file.
#include <gtest/gtest.h>

#include <filesystem>

#include "artifact/artifact.h"
#include "cpu/test_compile.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

using cpu::testing::parse_with_weights;
using cpu::testing::random_tensor;
using cpu::testing::run_program;

// Inputs whose names start with "w" are weights.
struct Case {
  const char* text;
  std::vector<Tensor> inputs;
  const char* step;  // one that the program must have
};

std::vector<Case> cases() {
  const Tensor yes = Tensor::from<bool>(DataType::kBool, Shape{}, std::array{true});
  const Tensor no = Tensor::from<bool>(DataType::kBool, Shape{}, std::array{false});
  const Tensor image = random_tensor(Shape{1, 3, 20, 20}, 1);
  const Tensor rows = random_tensor(Shape{5, 40}, 2);
  const char* branches = R"(
    main (float[N,40] x, bool flag, float[40,30] w, float[40,30] w2) => (float[N,30] y) {
      s = Abs(x)
      y = If <then_branch = then () => (float[N,30] a) { a = MatMul(s, w) },
              else_branch = else () => (float[N,30] b) {
                t = MatMul(s, w2)
                b = If <then_branch = t2 () => (float[N,30] c) { c = Relu(t) },
                        else_branch = e2 () => (float[N,30] d) { d = Neg(t) }> (flag)
              }> (flag)
    })";
  return {
      {R"(main (float[1,3,20,20] x, float[16,3,3,3] w, float[16] w1, float[32,16,1,1] w2,
               float[32,1,3,3] w3) => (float[1,32,10,10] y) {
            a = Conv <pads = [1, 1, 1, 1]> (x, w, w1)
            b = Relu(a)
            c = Conv(b, w2)
            d = Conv <group = 32, pads = [1, 1, 1, 1]> (c, w3)
            e = Clip(d)
            y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (e)
          })",
       {image},
       "BlockedConv"},
      {R"(main (float[N,40] x, float[40,80] w, float[80] w1, float[80,10] w2) => (float[N,10] y) {
            a = MatMul(x, w)
            b = Add(a, w1)
            c = Sigmoid(b)
            d = Mul(b, c)
            e = MatMul(d, w2)
            y = Softmax(e)
          })",
       {rows},
       "PackedGemm"},
      {branches, {rows, yes}, "If"},
      {branches, {rows, no}, "If"},
      {R"(main (float[N,40] x, float[40,40] w) => (float[N,40] y) <int64 n = {3}, bool c = {1}> {
            y = Loop <body = body (int64 i, bool go, float[N,40] s) => (bool more, float[N,40] r) {
                  more = Identity(go)
                  r = MatMul(s, w)
                }> (n, c, x)
          })",
       {rows},
       "Loop"},
  };
}

int count_constants(const Program& program, const std::shared_ptr<const void>& owner) {
  int count = 0;
  for (const ProgramBuffer& buffer : program.buffers) {
    count += buffer.kind == ProgramBuffer::Kind::kConstant && buffer.constant.owner() == owner;
  }
  for (const SubProgram& sub : program.subprograms) count += count_constants(sub.program, owner);
  return count;
}

ValueInfo info_of(const ProgramBuffer& buffer) {
  ValueInfo info;
  info.name = buffer.name;
  info.kind = ValueKind::kTensor;
  info.element_type = buffer.type.element;
  return info;
}

TEST(CompiledProgram, RunsFromItsFileWithTheSameBits) {
  std::string pattern = ::testing::TempDir() + "sdx_program_XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.text);
    artifact::CompiledPart part;
    PipelineReport report;
    part.program = cpu::compile(*parse_with_weights(c.text), {}, report);
    ASSERT_GT(cpu::testing::count_steps(part.program)[c.step], 0);
    for (int32_t b : part.program.inputs) {
      part.inputs.push_back(info_of(part.program.buffers[static_cast<size_t>(b)]));
    }
    for (int32_t b : part.program.outputs) {
      part.outputs.push_back(info_of(part.program.buffers[static_cast<size_t>(b)]));
    }
    part.defaults.resize(part.inputs.size());
    const std::string path = (folder / "model.bin").string();
    artifact::write_artifact(part, {}, path);
    artifact::ReadOptions options;
    options.verify_weights = true;
    artifact::CompiledPart back = artifact::read_artifact(path, options);
    EXPECT_GT(count_constants(back.program, back.owner), 0);
    EXPECT_EQ(back.program.steps[0].name, part.program.steps[0].name);

    const std::vector<Tensor> expected = run_program(std::move(part.program), c.inputs, 2);
    const std::vector<Tensor> actual = run_program(std::move(back.program), c.inputs, 2);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(bitwise_equal(actual[i], expected[i]));
    }
    EXPECT_TRUE(artifact::verify_artifact(back.image));  // nothing was written to
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sardonyx
