// What the pass "layout" knows while it walks a graph in order: which plain values have a blocked
// twin. Converters (layout_*.cc) look at one node each; they add blocked nodes and record the twin
// of the node's output, or say why not.
#pragma once

#include <map>
#include <optional>

#include "cpu/lower.h"
#include "kernels/epilogue.h"
#include "ops/op.h"

namespace sardonyx::cpu {

// A blocked value and its logical channels.
struct BlockedValue {
  ValueId id;
  int64_t channels;
};

class LayoutPass {
 public:
  LayoutPass(Graph& graph, const Target& target) : graph_(graph), target_(target) {}

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  const Target& target() const { return target_; }
  int64_t block() const { return target_.block; }

  // Was the node that makes this value converted?
  bool is_blocked(ValueId id) const { return converted_.contains(id); }
  // The channels of a value of rank 4 and type float, when they are known.
  std::optional<int64_t> channels_of(ValueId id) const;
  // The blocked form of a value whose channels_of() is known; adds a reorder when it has none.
  ValueId blocked(ValueId id);
  // Records that `twin` is the blocked form of output 0 of `node`.
  void convert(NodeId node, ValueId twin, int64_t channels);
  // Replaces output 0 of `node` by the plain value `result` at once.
  void replace(NodeId node, ValueId result);
  // Do only nodes that stay plain, or the caller of the model, use this value?
  bool is_used_plain(ValueId id) const;

  // A node of the internal domain (version 1) with one output, inferred. Trailing absent inputs
  // are dropped.
  ValueId emit(const Node& from, std::string_view op, ValueIds inputs, Attributes attributes);

  // Gives plain users of converted values what they need and removes the converted nodes.
  void finish();

 private:
  void restore_plain(ValueId plain, const BlockedValue& twin);

  Graph& graph_;
  const Target target_;
  std::map<ValueId, BlockedValue> converted_;  // by plain value
  std::map<ValueId, ValueId> reordered_;       // plain value of another making -> blocked
  std::vector<NodeId> done_;                   // converted nodes, in order
};

// A converter returns nullptr when it converted the node, else the reason why not. `commit` must be
// asked before the first change; when it is false the converter returns "" at once.
struct Commit {
  PassContext& context;
  const Node& node;
  bool operator()() const;
};
using Converter = const char* (*)(LayoutPass& pass, NodeId id, const Commit& commit);

const char* convert_conv(LayoutPass& pass, NodeId id, const Commit& commit);
const char* convert_conv_transpose(LayoutPass& pass, NodeId id, const Commit& commit);
const char* convert_batch_norm(LayoutPass& pass, NodeId id, const Commit& commit);
const char* convert_pool(LayoutPass& pass, NodeId id, const Commit& commit);
const char* convert_global_pool(LayoutPass& pass, NodeId id, const Commit& commit);
const char* convert_resize(LayoutPass& pass, NodeId id, const Commit& commit);
const char* convert_unary(LayoutPass& pass, NodeId id, const Commit& commit);
const char* convert_binary(LayoutPass& pass, NodeId id, const Commit& commit);
const char* convert_concat(LayoutPass& pass, NodeId id, const Commit& commit);

}  // namespace sardonyx::cpu
