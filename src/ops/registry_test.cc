#include <gtest/gtest.h>

#include <set>

#include "ops/op.h"
#include "ops/resolve.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

TEST(Registry, EveryRowIsComplete) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const OpDef* op : all_ops()) {
    SCOPED_TRACE(std::string(op->name));
    EXPECT_TRUE(names.emplace(op->domain, op->name).second) << "listed twice";
    EXPECT_EQ(find_op(op->domain, op->name), op);
    ASSERT_FALSE(op->versions.empty());
    EXPECT_NE(op->infer, nullptr);
    int before = 0;
    for (const OpVersion& version : op->versions) {
      EXPECT_GT(version.since, before) << "versions ascend";
      before = version.since;
      const Schema& schema = schema_of(*op, version.since);
      EXPECT_EQ(schema.since_version, version.since);
      for (const auto* formals : {&schema.inputs, &schema.outputs}) {
        for (const FormalParameter& formal : *formals) {
          const bool concrete = formal.type.find('(') != std::string::npos ||
                                parse_data_type(formal.type).has_value();
          EXPECT_TRUE(concrete || schema.constraints.contains(formal.type)) << formal.type;
        }
      }
    }
  }
}

TEST(Registry, ANodeBindsToTheHighestVersionNotAboveItsImport) {
  const OpDef* add = find_op("ai.onnx", "Add");
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(find_version(*add, 1)->since, 1);
  EXPECT_EQ(find_version(*add, 12)->since, 7);
  EXPECT_EQ(find_version(*add, 1000)->since, 14);
  EXPECT_EQ(find_version(*add, 0), nullptr);
}

TEST(Registry, AnUnknownOperatorNamesTheNearestKnownOne) {
  Node node;
  node.op = "Ad";
  node.name = "n1";
  try {
    bind_node(node, {{"", 13}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotImplemented);
    const std::string message = error.what();
    EXPECT_NE(message.find("'Add'"), std::string::npos) << message;
    EXPECT_NE(message.find("n1"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace sardonyx
