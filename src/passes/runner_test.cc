#include "passes/test_graphs.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

// Two things to fold and one rule to apply.
const char* const kText =
    "g (float[2,N] x) => (float[2,N] y) <float a = {1}, float b = {2}> {\n"
    "c = Add(a, b)  d = Mul(c, b)  i = Identity(x)  s = Mul(i, d)  unused = Neg(x)  y = Neg(s) }";

TEST(Runner, CountsAndTimes) {
  const Rewritten result = rewritten(17, kText);
  EXPECT_EQ(result.report.applied("constant_folding"), 2);
  EXPECT_EQ(result.report.applied("identity"), 1);
  EXPECT_EQ(result.report.applied("dead_code"), 1);
  EXPECT_EQ(result.report.edits_done, 4);
  EXPECT_EQ(result.report.nodes_before, 6);
  EXPECT_EQ(result.report.nodes_after, 2);
  EXPECT_GT(result.report.find("constant_folding")->nanoseconds, 0);
  EXPECT_NE(result.report.print().find("identity"), std::string::npos);
}

TEST(Runner, EveryPrefixOfEditsGivesTheSameValues) {
  const int64_t all = rewritten(17, kText).report.edits_done;
  for (int64_t edits = 0; edits <= all; ++edits) {
    PipelineOptions options;
    options.max_edits = edits;
    const Rewritten result = rewritten(17, kText, Stage::kCanonical, options);
    EXPECT_EQ(result.report.edits_done, edits);
    EXPECT_EQ(result.report.last_edit.empty(), edits == 0);
  }
}

TEST(Runner, EditsAreCountedThroughStages) {
  const std::string text =
      "g (float[N] x) => (float[N] y) { i = Identity(x)  s = Sigmoid(i) "
      "y = Mul(i, s) }";
  auto model = model_of(17, text);
  PipelineOptions options;
  options.max_edits = 1;
  options.edits_done = run_pipeline(*model, options).edits_done;
  EXPECT_EQ(options.edits_done, 1);
  options.stage = Stage::kFused;
  EXPECT_EQ(run_pipeline(*model, options).edits_done, 1);
  options.max_edits = 2;
  const PipelineReport report = run_pipeline(*model, options);
  EXPECT_EQ(report.edits_done, 2);
  EXPECT_EQ(report.last_edit.rfind("silu at Mul", 0), 0u) << report.last_edit;
}

TEST(Runner, DisabledByName) {
  PipelineOptions options;
  options.disabled = {"identity", "constant_folding"};
  const Rewritten result = rewritten(17, kText, Stage::kCanonical, options);
  EXPECT_EQ(result.count("Identity"), 1);
  EXPECT_EQ(result.count("Add"), 1);
}

TEST(Runner, LevelNoneRunsRequiredPassesOnly) {
  PipelineOptions options;
  options.level = OptimizationLevel::kNone;
  const Rewritten result = rewritten(
      17,
      "g (float[N] x) => (float[N] y) { c = Constant <value_float = 2.0> ()  i = Identity(x) "
      "y = Mul(i, c) }",
      Stage::kCanonical, options);
  EXPECT_EQ(result.count("Constant"), 0);
  EXPECT_EQ(result.count("Identity"), 1);
}

TEST(Runner, BasicLevelLeavesExtendedRulesOut) {
  PipelineOptions options;
  options.level = OptimizationLevel::kBasic;
  const char* text = "g (float[N] x) => (float[N] y) { s = Sigmoid(x)  y = Mul(x, s) }";
  EXPECT_EQ(rewritten(24, text, Stage::kCanonical, options).count("Swish"), 0);
  EXPECT_EQ(rewritten(24, text).count("Swish"), 1);
}

TEST(Runner, ReportsProgressAndCancels) {
  auto model = model_of(17, kText);
  std::atomic<bool> cancel = false;
  std::vector<std::string> seen;
  PipelineOptions options;
  options.cancel = &cancel;
  options.progress = [&](std::string_view pass, int done, int total) {
    seen.emplace_back(pass);
    EXPECT_LE(done, total);
    cancel = seen.size() == 3;
  };
  try {
    run_pipeline(*model, options);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kModelLoadCanceled);
  }
  EXPECT_EQ(seen.front(), "constant_nodes");
  EXPECT_GE(seen.size(), 3u);
}

TEST(Runner, NamesAreUniqueAndKnown) {
  std::vector<std::string> names = pass_names();
  EXPECT_GT(names.size(), 40u);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace sardonyx
