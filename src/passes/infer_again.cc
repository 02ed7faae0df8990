// Types, shapes and small integer values once more, with what folding made known. Dimensions of the
// main graph that inference cannot tell (two inputs whose sizes may differ, added) get a symbol of
// their own: then Shape of a value and what is computed from it are known to be that value's
// dimensions, and a Reshape by them can be written down.
#include "ops/resolve.h"
#include "passes/passes.h"

namespace sardonyx {

void infer_again(Graph& graph, PassContext&) {
  graph.sort();
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    infer_node(graph, id);
    for (ValueId out : graph.node(id).outputs) {
      if (out == ValueId::kNone) continue;
      SymShape& shape = graph.value(out).type.shape;
      if (!shape) continue;
      for (Dim& dim : *shape) {
        if (dim.is_unknown()) dim = graph.dims().fresh_symbol("unknown");
      }
    }
  }
}

}  // namespace sardonyx
