// LSTM, GRU and RNN with packed weights give the bits of the standard operators.
#include <fmt/format.h>

#include "cpu/test_compile.h"
#include "kernels/gemm/gemm.h"
#include "sardonyx/error.h"

namespace sardonyx::cpu {
namespace {

using testing::compare_lowered;
using testing::count_steps;
using testing::parse_with_weights;
using testing::run_program;

struct Case {
  const char* op;
  int gates;
  const char* attributes;
  const char* operands;  // behind X, W, R
  int directions = 1;
};

const Case kCases[] = {
    {"LSTM", 4, "", ""},
    {"LSTM", 4, "direction = \"reverse\", clip = 0.75, input_forget = 1", ", w3, lens"},
    {"LSTM", 4, "direction = \"bidirectional\"", ", w3, lens, h, h, w4", 2},
    {"GRU", 3, "", ""},
    {"GRU", 3, "direction = \"reverse\", linear_before_reset = 1", ", w3, , h"},
    {"GRU", 3, "direction = \"bidirectional\"", ", w3, lens, h", 2},
    {"RNN", 1, "", ", w3"},
    {"RNN", 1, "direction = \"bidirectional\", activations = [\"Relu\", \"Affine\"]",
     ", w3, lens, h", 2},
};

// x is [4,3,7]; `type` is the element type of the operator, as Cast names it.
std::string model_of(const Case& c, int hidden, int type) {
  const int rows = c.gates * hidden;
  std::string operands(c.operands);
  for (const char* name : {"w3", "w4", "h"}) {
    const size_t length = std::string_view(name).size();
    for (size_t at = operands.find(name); at != std::string::npos;
         at = operands.find(name, at + length + 1)) {
      operands.insert(at, "t");
    }
  }
  std::string casts;
  for (const char* name : {"x", "w1", "w2", "w3", "w4", "h"}) {
    casts += fmt::format("t{} = Cast<to = {}>({})\n", name, type, name);
  }
  return fmt::format(
      "<ir_version: 8, opset_import: [\"\": 22]>\n"
      "main (float[T,N,7] x, float[{0},{1},7] w1, float[{0},{1},{2}] w2, float[{0},{3}] w3,\n"
      " float[{0},{4}] w4, float[{0},N,{2}] h) => (float y, float z) <int32[3] lens = {{4, 1, 3}}> "
      "{{\n{5}ty, tz = {6}<hidden_size = {2}{7}>(tx, tw1, tw2{8})\n"
      "y = Cast<to = 1>(ty)\n z = Cast<to = 1>(tz)\n}}",
      c.directions, rows, hidden, 2 * rows, 3 * hidden, casts, c.op,
      (*c.attributes != 0 ? ", " : "") + std::string(c.attributes), operands);
}

TEST(LowerRecurrent, EqualsTheStandardOperator) {
  for (const Case& c : kCases) {
    for (int hidden : {3, 24}) {
      for (int type : {1, 11, 10, 16}) {
        SCOPED_TRACE(fmt::format("{} {}, {} hidden, type {}", c.op, c.attributes, hidden, type));
        const auto steps =
            compare_lowered(model_of(c, hidden, type), {{4, 3, 7}, {c.directions, 3, hidden}}, 0);
        EXPECT_EQ(steps.at("Packed" + std::string(c.op)), 1);
        EXPECT_EQ(steps.count(c.op) + steps.count("PackRecurrent"), 0u);
      }
    }
  }
}

// Bytes of constants of `program` and of what it runs.
int64_t constant_bytes(const Program& program) {
  int64_t bytes = 0;
  for (const ProgramBuffer& buffer : program.buffers) {
    if (buffer.constant.is_defined()) bytes += buffer.constant.size_bytes();
  }
  for (const SubProgram& sub : program.subprograms) bytes += constant_bytes(sub.program);
  return bytes;
}

std::map<std::string, int> all_steps(const Program& program) {
  std::map<std::string, int> counts = count_steps(program);
  for (const SubProgram& sub : program.subprograms) {
    for (const auto& [op, count] : all_steps(sub.program)) counts[op] += count;
  }
  return counts;
}

Program compiled(std::string_view text, Isa isa = best_isa()) {
  const std::unique_ptr<Model> model = parse_with_weights(text);
  run_pipeline(*model);
  CompileOptions options;
  options.isa = isa;
  PipelineReport report;
  return compile(*model, options, report);
}

constexpr const char* kWhole =
    "main (float[T,1,32] x, float[1,256,32] w1, float[1,256,64] w2) => (float y) {\n"
    "y = LSTM<hidden_size = 64>(x, w1, w2)\n}";
constexpr int64_t kWholeBytes = 4 * (256 * 32 + 256 * 64);

TEST(LowerRecurrent, KeepsNoOtherCopy) { EXPECT_EQ(constant_bytes(compiled(kWhole)), kWholeBytes); }

TEST(LowerRecurrent, InsideBranchesAndBodies) {
  const char* const texts[] = {
      "main (float[T,1,32] x, float[1,256,32] w1, float[1,256,64] w2, bool c) => (float y) {\n"
      "y = If(c) <then_branch = yes () => (a) { a = LSTM<hidden_size = 64>(x, w1, w2) },\n"
      "           else_branch = no () => (b) { b = Identity(x) }>\n}",
      "main (float[T,1,32] x, float[1,256,32] w1, float[1,256,64] w2, int64 n) => (float all) {\n"
      "all = Loop(n, ) <body = step (int64 i, bool d) => (d2, a) {\n"
      "  d2 = Identity(d)  a = LSTM<hidden_size = 64>(x, w1, w2) }>\n}",
      "main (float[K,T,1,32] x, float[1,256,32] w1, float[1,256,64] w2) => (float all) {\n"
      "all = Scan<num_scan_inputs = 1, body = step (float[T,1,32] s) => (a) {\n"
      "  a = LSTM<hidden_size = 64>(s, w1, w2) }>(x)\n}"};
  for (const char* text : texts) {
    SCOPED_TRACE(text);
    const Program program = compiled(text);
    const auto steps = all_steps(program);
    EXPECT_EQ(steps.count("LSTM") + steps.count("PackRecurrent"), 0u);
    ASSERT_EQ(steps.count("PackedLSTM"), 1u);
    EXPECT_GE(constant_bytes(program), kWholeBytes);
    EXPECT_LT(constant_bytes(program), kWholeBytes + 64);
  }
}

TEST(LowerRecurrent, ComputedWeightsStay) {
  const char* const text =
      "main (float[T,N,4] x, float[1,12,4] v, float[1,12,3] w1) => (float y) {\n"
      "y = LSTM<hidden_size = 3>(x, v, w1)\n}";
  const auto steps = compare_lowered(text, {{2, 3, 4}, {1, 12, 4}}, 0);
  EXPECT_EQ(steps.at("LSTM"), 1);
}

// Old versions have an attribute that no later one knows.
TEST(LowerRecurrent, OldVersions) {
  for (const char* node : {"LSTM<hidden_size = 3, output_sequence = 1>(x, w1, w2)",
                           "GRU<hidden_size = 4, output_sequence = 0>(x, w1, w2)"}) {
    const auto steps = compare_lowered(
        fmt::format(
            "<ir_version: 8, opset_import: [\"\": 1]>\n main (float[T,N,4] x, float[1,12,4] "
            "w1, float[1,12,{0}] w2) => (float y, float h) {{\n y, h = {1}\n}}",
            node[0] == 'L' ? 3 : 4, node),
        {{2, 3, 4}}, 0);
    EXPECT_EQ(steps.count("PackedLSTM") + steps.count("PackedGRU"), 1u);
  }
}

// A weight is packed for the machine that the program is for, which then is the only one to run it.
TEST(LowerRecurrent, PacksForTheTarget) {
  for (Isa isa : supported_isas()) {
    Program program = compiled(kWhole, isa);
    const int nr = kernels::gemm_kernels(isa).nr;
    EXPECT_EQ(program.steps.at(0).attributes.get_int("nr", 0), nr);
    if (nr == kernels::gemm_kernels().nr) continue;
    try {
      bind(std::move(program), best_isa());
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kNotImplemented);
    }
  }
}

}  // namespace
}  // namespace sardonyx::cpu
