// What every model goes through before a pass may look at it: see Stage::kImported.
#include "ops/resolve.h"
#include "passes/passes.h"

namespace sardonyx {

void inline_function_calls(Graph&, PassContext& context) {
  context.count("inline_functions", inline_functions(context.model()));
}

void resolve(Graph&, PassContext& context) { resolve_model(context.model()); }

}  // namespace sardonyx
