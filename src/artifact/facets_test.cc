// Verdicts, and facets as a line of text.
#include "artifact/facets.h"

#include <gtest/gtest.h>

#include <functional>

#include "artifact/test_parts.h"

namespace sardonyx::artifact {
namespace {

using namespace artifact::testing;  // NOLINT

auto only(std::map<std::string, uint32_t, std::less<>> rows) {
  return [rows = std::move(rows)](std::string_view row) -> std::optional<uint32_t> {
    const auto found = rows.find(row);
    return found == rows.end() ? std::nullopt : std::optional(found->second);
  };
}

Offer offer() {
  Offer result;
  result.provider = "CPUExecutionProvider";
  result.architecture = "x86-64";
  result.isa = {"scalar", "sse4", "avx2"};
  result.version_of_row = only({{"Add", 1}, {"Mul", 4}, {"ai.sardonyx.PackedGemm", 2}});
  result.tuning = {{"block", 8}, {"other", 1}};
  return result;
}

TEST(Facets, Verdicts) {
  struct Case {
    Compatibility expected;
    const char* facet;
    const char* reason;
    std::function<void(Facets&, Offer&)> change;
  };
  using C = Compatibility;
  const Case cases[] = {
      {C::kOptimal, "", "", [](Facets&, Offer&) {}},
      {C::kOptimal, "", "", [](Facets& f, Offer&) { f.format_minor = 7; }},
      {C::kOptimal, "", "", [](Facets&, Offer& o) { o.tuning.clear(); }},
      {C::kNotApplicable, "provider", "it was compiled by 'X', not by 'CPUExecutionProvider'",
       [](Facets& f, Offer&) { f.provider = "X"; }},
      {C::kUnsupported, "format",
       "it has format 2.0, this version reads 1.x; compile the model again",
       [](Facets& f, Offer&) { f.format_major = 2, f.provider = ""; }},
      {C::kUnsupported, "architecture", "it was compiled for x86-64, this machine is aarch64",
       [](Facets&, Offer& o) { o.architecture = "aarch64"; }},
      {C::kUnsupported, "isa", "it needs avx2, this machine offers scalar, sse4",
       [](Facets&, Offer& o) { o.isa.pop_back(); }},
      {C::kUnsupported, "isa", "it needs avx2, which SARDONYX_MAX_ISA hides",
       [](Facets&, Offer& o) {
         o.isa.pop_back();
         o.hidden_isa = {"avx2", "avx512"};
         o.hidden_by = "SARDONYX_MAX_ISA";
       }},
      {C::kUnsupported, "row",
       "it uses the kernel row ai.sardonyx.PackedGemm (version 2), which this version of Sardonyx "
       "does not have; compile the model again",
       [](Facets&, Offer& o) {
         o.version_of_row = only({{"Add", 1}, {"Mul", 4}});
       }},
      {C::kUnsupported, "row",
       "it uses the kernel row Add of version 1, this version of Sardonyx has version 2; compile "
       "the model again",
       [](Facets&, Offer& o) {
         o.version_of_row = only({{"Add", 2}, {"ai.sardonyx.PackedGemm", 2}});
       }},
      {C::kPreferRecompilation, "target", "it was compiled for avx2, this machine offers avx512",
       [](Facets&, Offer& o) { o.isa.push_back("avx512"); }},
      // Tuned for a wider machine, yet it needs no more than there is.
      {C::kUnsupported, "isa", "it needs avx512, this machine offers scalar, sse4, avx2",
       [](Facets& f, Offer&) { f.target = "avx512"; }},
      {C::kPreferRecompilation, "tuning",
       "it was compiled with block = 8, 16 suits this machine better",
       [](Facets&, Offer& o) { o.tuning["block"] = 16; }},
      // What cannot run is worse than what runs slowly.
      {C::kUnsupported, "row",
       "it uses the kernel row Add of version 1, this version of Sardonyx has "
       "version 3; compile the model again",
       [](Facets&, Offer& o) {
         o.tuning["block"] = 16;
         o.version_of_row = only({{"Add", 3}, {"ai.sardonyx.PackedGemm", 2}});
       }},
  };
  for (const Case& c : cases) {
    Facets f = facets();
    Offer o = offer();
    c.change(f, o);
    const Verdict verdict = judge(f, o);
    EXPECT_EQ(verdict.compatibility, c.expected) << verdict.reason;
    EXPECT_EQ(verdict.facet, c.facet);
    EXPECT_EQ(verdict.reason, c.reason);
    if (f.format_major != kFormatMajor) continue;
    // The line of text decides alike.
    const Verdict same = judge(parse_compatibility_info(compatibility_info(f)), o);
    EXPECT_EQ(same.compatibility, verdict.compatibility);
    EXPECT_EQ(same.reason, verdict.reason);
  }
}

TEST(Facets, LineOfText) {
  const std::string line = compatibility_info(facets());
  EXPECT_EQ(line.substr(0, line.rfind('#')),
            "sardonyx-1.0 provider=CPUExecutionProvider arch=x86-64 target=avx2 isa=sse4+avx2 "
            "tuning=block:8 rows=Add@1,ai.sardonyx.PackedGemm@2 ");
  EXPECT_EQ(parse_compatibility_info(line), facets());
  Facets portable;
  portable.provider = "P";
  portable.architecture = "a";
  portable.target = "scalar";
  EXPECT_EQ(parse_compatibility_info(compatibility_info(portable)), portable);
  for (const char* name : {"", "a b", "a@b", "a,b", "caf\xc3\xa9", "a\"b"}) {
    Facets bad = facets();
    bad.rows[name] = 1;
    EXPECT_EQ(code_of([&] { compatibility_info(bad); }), ErrorCode::kInvalidArgument) << name;
  }
}

TEST(Facets, DamagedLinesAreFound) {
  const std::string line = compatibility_info(facets());
  for (size_t i = 0; i < line.size(); ++i) {
    for (const char c : {' ', '0', '#', 'a', '\0', '\xff', '='}) {
      if (line[i] == c) continue;
      std::string damaged = line;
      damaged[i] = c;
      Facets found;
      const ErrorCode code = code_of([&] { found = parse_compatibility_info(damaged); });
      // Another major number says that it cannot be read, which is true.
      EXPECT_TRUE(code == ErrorCode::kFail || found.format_major != kFormatMajor) << damaged;
    }
    EXPECT_EQ(code_of([&] { parse_compatibility_info(line.substr(0, i)); }), ErrorCode::kFail) << i;
  }
  EXPECT_EQ(parse_compatibility_info("sardonyx-2.5 whatever comes").format_major, 2);
}

}  // namespace
}  // namespace sardonyx::artifact
