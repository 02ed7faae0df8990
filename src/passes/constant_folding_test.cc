#include "passes/test_graphs.h"

namespace sardonyx {
namespace {

const Tensor& constant_output(const Rewritten& result) {
  return result.model->graph->value(result.model->graph->outputs()[0]).constant;
}

TEST(ConstantFolding, FoldsChains) {
  const Rewritten result =
      rewritten(17,
                "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {3, 4}> {\n"
                "s = Add(a, b)  m = Mul(s, s)  y = Sub(x, m) }");
  EXPECT_EQ(result.nodes(), 1);
}

TEST(ConstantFolding, AnOutputMayBeConstant) {
  const Rewritten result =
      rewritten(17, "g () => (float[2] y) <float[2] a = {1, 2}> { y = Neg(a) }");
  EXPECT_EQ(result.nodes(), 0);
  EXPECT_EQ(constant_output(result).data<float>()[1], -2.0f);
}

TEST(ConstantFolding, NeverExpandsHugeTensors) {
  auto model = model_of(17,
                        "g () => (float[1099511627776] y) <int64[1] s = {1099511627776}> "
                        "{ y = ConstantOfShape(s) }");
  const PipelineReport report = run_pipeline(*model);
  EXPECT_EQ(report.find("constant_folding")->rejected.count("size"), 1u);
  EXPECT_EQ(model->graph->order().size(), 1u);
}

TEST(ConstantFolding, SizeMayGrowALittle) {
  // 1 MiB is folded, 4 MiB are not.
  for (const auto& [size, left] : {std::pair("512", 0u), std::pair("1024", 1u)}) {
    auto model =
        model_of(17, std::string("g () => (float y) <int64[2] s = {") + size + ", " + size +
                         "}> { t = ConstantOfShape(s)  y = ReduceMax <keepdims = 0> (t) }");
    run_pipeline(*model);
    EXPECT_EQ(model->graph->order().size(), left * 2) << size;
  }
}

TEST(ConstantFolding, LeavesRandomNumbersAlone) {
  auto random = model_of(17, "g () => (float[2] y) { y = RandomNormal <shape = [2]> () }");
  run_pipeline(*random);
  EXPECT_EQ(random->graph->order().size(), 1u);
}

TEST(ConstantFolding, LeavesQuantisationAlone) {
  const char* text =
      "g (float[2] x) => (float[2] y) <int8[2] q = {1, 2}, float s = {0.5}, int8 z = {0}> "
      "{ d = DequantizeLinear(q, s, z)  y = Add(x, d) }";
  EXPECT_EQ(rewritten(17, text).nodes(), 2);
  PipelineOptions options;
  options.fold_dequantize = true;
  EXPECT_EQ(rewritten(17, text, Stage::kCanonical, options).nodes(), 1);
}

TEST(ConstantFolding, AFailingNodeStays) {
  auto model = model_of(17,
                        "g (float[2] x) => (float[2] y) <float[2,2] t = {1, 2, 3, 4}, "
                        "int64 i = {7}> { r = Gather(t, i)  y = Add(x, r) }");
  const PipelineReport report = run_pipeline(*model);
  EXPECT_EQ(model->graph->order().size(), 2u);
  EXPECT_EQ(report.find("constant_folding")->rejected.count("failed"), 1u);
}

TEST(KnownIntegers, ShapeOfStaticDimsAndArithmetic) {
  const Rewritten result =
      rewritten(17,
                "g (float[2,3,4] x) => (float[y0,y1] y) <int64 one = {1}, int64[1] minus = {-1}, "
                "int64[1] axis = {0}> {\n"
                "s = Shape(x)  d = Gather(s, one)  u = Unsqueeze(d, axis)  t = Concat <axis = 0> "
                "(u, minus)  y = Reshape(x, t) }");
  EXPECT_EQ(result.nodes(), 1) << print(*result.model->graph);
}

TEST(KnownIntegers, OnlyTheKnownPart) {
  // The batch is not known, so the shape stays computed; the slice of it is known.
  const Rewritten result = rewritten(
      17,
      "g (float[N,3,4] x) => (int64[1] y, int64[3] s) <int64[1] one = {1}, int64[1] two = {2}> "
      "{\n s = Shape(x)  y = Slice(s, one, two) }");
  EXPECT_EQ(result.count("Shape"), 1);
  EXPECT_EQ(result.count("Slice"), 0);
}

TEST(CapturedConstants, FoldInsideBranches) {
  auto model = model_of(17,
                        "g (bool c, float[2] x) => (float[2] y) <float[2] a = {1, 2}> {\n"
                        "y = If <then_branch = t () => (float[2] u) { n = Neg(a)  u = Add(x, n) }, "
                        "else_branch = e () => (float[2] v) { v = Identity(x) }> (c) }");
  PipelineOptions options;
  options.verify = true;
  const PipelineReport report = run_pipeline(*model, options);
  EXPECT_EQ(report.applied("captured_constants"), 1);
  EXPECT_EQ(report.applied("constant_folding"), 1);
  const Node& node = model->graph->node(model->graph->order()[0]);
  EXPECT_EQ(node.captures.size(), 1u);       // x
  EXPECT_EQ(report.applied("identity"), 0);  // a branch gives back no outer value
}

TEST(Cse, MergesEqualNodesAndConstants) {
  const Rewritten result =
      rewritten(17,
                "g (float[2,N] x) => (float[2,N] y) <float a = {2}, float b = {2}> {\n"
                "s = Mul(x, a)  t = Mul(x, b)  u = Exp(s)  v = Exp(t)  y = Add(u, v) }");
  EXPECT_EQ(result.nodes(), 3);
  EXPECT_EQ(result.report.applied("cse"), 3);
  const Rewritten other =
      rewritten(17,
                "g (float[2,3] x) => (float[2,3] y) { s = Softmax <axis = 0> (x) "
                "t = Softmax <axis = 1> (x)  y = Add(s, t) }");
  EXPECT_EQ(other.count("Softmax"), 2);
}

TEST(Cse, KeepsTwoOutputsOfTheGraphApart) {
  const Rewritten result =
      rewritten(17, "g (float[N] x) => (float[N] y, float[N] z) { y = Exp(x)  z = Exp(x) }");
  EXPECT_EQ(result.nodes(), 2);
}

TEST(DeadCode, DropsUnusedOptionalOutputs) {
  const Rewritten result =
      rewritten(17,
                "g (float[1,1,4,4] x) => (float[1,1,2,2] y) { "
                "y, i = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)  k = Neg(x) }");
  EXPECT_EQ(result.nodes(), 1);
  EXPECT_EQ(result.only("MaxPool").outputs.size(), 1u);
}

}  // namespace
}  // namespace sardonyx
