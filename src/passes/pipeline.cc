#include <algorithm>

#include "passes/passes.h"
#include "passes/rules/rules.h"

namespace sardonyx {
namespace {

using Level = OptimizationLevel;

// Every rule of every theme, in the order in which they are tried at a node.
const std::vector<rules::Rule>& all_rules() {
  static const std::vector<rules::Rule>& all = *new std::vector<rules::Rule>([] {
    std::vector<rules::Rule> rows;
    for (const auto& table : {rules::noop_rules(), rules::shape_rules(), rules::arithmetic_rules(),
                              rules::conv_rules(), rules::conv_input_rules(), rules::gemm_rules(),
                              rules::activation_rules(), rules::gelu_rules(), rules::norm_rules(),
                              rules::quantize_rules(), rules::fused_rules()}) {
      rows.insert(rows.end(), table.begin(), table.end());
    }
    return rows;
  }());
  return all;
}

// --- the order of passes -------------------------------------------------------------------------

std::vector<Phase> imported() {
  return {{{
      {"inline_functions", inline_function_calls, Level::kNone, false},
      {"resolve", resolve, Level::kNone, false},
  }}};
}

std::vector<Phase> canonical() {
  return {
      // What everything after relies on.
      {{{"constant_nodes", lift_constant_nodes, Level::kNone}}},
      // Each makes work for the others: folding a shape makes a Reshape static, a static Reshape
      // may be a no-op, without it two branches compute the same, ... Sizes are inferred first in
      // every round, dead code goes last.
      {{
           {"infer", infer_again, Level::kBasic, false},
           {"captured_constants", lower_captured_constants, Level::kBasic},
           {"known_integers", fold_known_integers, Level::kBasic},
           {"constant_folding", fold_constants, Level::kBasic},
           {"cse", merge_common_subexpressions, Level::kBasic},
           {"rewrite", rewrite, Level::kBasic},
           {"dead_code", remove_dead_code, Level::kBasic},
       },
       10},
  };
}

std::vector<Phase> fused() {
  return {
      // Rules again, now with internal and newer operators: what was rejected(opset) before, then
      // what joins neighbours into FusedConv and FusedMatMul. Lowering folds its pack nodes itself.
      {{
           {"infer", infer_again, Level::kBasic, false},
           {"constant_folding", fold_constants, Level::kBasic},
           {"cse", merge_common_subexpressions, Level::kBasic},
           {"rewrite", rewrite, Level::kBasic},
           {"dead_code", remove_dead_code, Level::kBasic},
       },
       10},
  };
}

}  // namespace

void rewrite(Graph& graph, PassContext& context) {
  rules::apply_rules(graph, context, all_rules());
}

std::vector<Phase> pipeline_of(Stage stage) {
  switch (stage) {
    case Stage::kImported:
      return imported();
    case Stage::kCanonical:
      return canonical();
    case Stage::kFused:
      break;
  }
  return fused();
}

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  const auto add = [&](const char* name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (Stage stage : {Stage::kCanonical, Stage::kFused}) {
    for (const Phase& phase : pipeline_of(stage)) {
      for (const Pass& pass : phase.passes) add(pass.name);
    }
  }
  for (const rules::Rule& rule : all_rules()) add(rule.name);
  return names;
}

}  // namespace sardonyx
