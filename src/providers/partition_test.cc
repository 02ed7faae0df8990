#include "providers/partition.h"

#include <gtest/gtest.h>

#include <set>

#include "ir/text_parse.h"

namespace sardonyx {
namespace {

// Claims all free nodes of some operators, as one group.
class OpsProvider final : public Provider {
 public:
  explicit OpsProvider(std::set<std::string> ops) : ops_(std::move(ops)) {}
  std::string_view name() const override { return "OpsProvider"; }
  std::vector<NodeGroup> claim(const Graph& graph,
                               const std::vector<bool>& is_free) const override {
    NodeGroup group;
    for (NodeId id : graph.order()) {
      if (is_free[static_cast<size_t>(id)] && ops_.contains(graph.node(id).op)) {
        group.push_back(id);
      }
    }
    return {group, {static_cast<NodeId>(12345)}};
  }
  std::unique_ptr<Kernel> compile(Model&) const override { return nullptr; }

 private:
  std::set<std::string> ops_;
};

std::vector<std::vector<std::string>> names(const Graph& graph, const std::vector<Part>& parts) {
  std::vector<std::vector<std::string>> result;
  for (const Part& part : parts) {
    result.emplace_back();
    for (NodeId id : part.nodes) result.back().push_back(graph.node(id).op);
  }
  return result;
}

TEST(Partition, ClaimsStayConvex) {
  const auto model = parse_model_text(
      "main (float[N] x) => (float[N] y) {\n"
      "a = Abs(x)\n b = Neg(a)\n c = Exp(b)\n d = Sqrt(a)\n y = Add(c, d)\n}");
  const OpsProvider most({"Abs", "Neg", "Sqrt", "Add"});
  const Provider* const providers[] = {&most};
  EXPECT_EQ(names(*model->graph, partition(*model->graph, providers)),
            (std::vector<std::vector<std::string>>{{"Abs", "Neg", "Sqrt"}, {"Add"}}));
}

TEST(Partition, EarlierProvidersGoFirst) {
  const auto model = parse_model_text(
      "main (float[N] x) => (float[N] y) {\n a = Abs(x)\n b = Neg(a)\n y = Exp(b)\n}");
  const OpsProvider first({"Neg"}), second({"Abs", "Neg", "Exp"});
  const Provider* const providers[] = {&first, &second};
  const std::vector<Part> parts = partition(*model->graph, providers);
  EXPECT_EQ(names(*model->graph, parts),
            (std::vector<std::vector<std::string>>{{"Neg"}, {"Abs"}, {"Exp"}}));
  EXPECT_EQ(parts[0].provider, 0);
  EXPECT_EQ(parts[1].provider, 1);
  EXPECT_THROW(first.load({}), Error);
}

TEST(Partition, NothingClaimed) {
  const auto model = parse_model_text("main (float[N] x) => (float[N] y) {\n y = Abs(x)\n}");
  const OpsProvider none({});
  const Provider* const providers[] = {&none};
  EXPECT_TRUE(partition(*model->graph, providers).empty());
}

}  // namespace
}  // namespace sardonyx
