#include "onnx/value_proto.h"

#include <gtest/gtest.h>

#include "ir/text_print.h"
#include "onnx/proto_builders.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

using proto::Message;

Message sequence(int element, std::initializer_list<Message> tensors) {
  Message m;
  m.text(1, "s");
  m.varint(2, static_cast<uint64_t>(element));
  for (const Message& tensor : tensors) m.message(3, tensor);
  return m;
}

Message optional(int element, uint32_t field = 0, const Message& held = {}) {
  Message m;
  m.varint(2, static_cast<uint64_t>(element));
  if (field != 0) m.message(field, held);
  return m;
}

std::string print(const Tensor& value) {
  if (!holds_values(value.type())) return print_tensor(value);
  std::string text = name_of(value.type());
  for (const Tensor& item : value.values<Tensor>()) text += " (" + print(item) + ")";
  return text;
}

std::string read(DataType type, const Message& message) {
  try {
    return print(read_values(WireCursor(message.result(), "SequenceProto"), type, TensorSource()));
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ValueProto, ReadsSequencesAndOptionals) {
  const Message x = proto::float_tensor("x", {2}, {1, 2});
  const Message y = proto::float_tensor("y", {}, {3});
  EXPECT_EQ(read(kSequenceType, sequence(1, {x, y})), "sequence (float[2] {1, 2}) (float {3})");
  EXPECT_EQ(read(kSequenceType, sequence(1, {})), "sequence");
  EXPECT_EQ(read(kSequenceType, Message()), "sequence");
  EXPECT_EQ(read(kOptionalType, Message()), "optional");
  EXPECT_EQ(read(kOptionalType, optional(0)), "optional");
  EXPECT_EQ(read(kOptionalType, optional(1)), "optional");
  EXPECT_EQ(read(kOptionalType, optional(1, 3, x)), "optional (float[2] {1, 2})");
  EXPECT_EQ(read(kOptionalType, optional(3, 5, sequence(1, {y}))),
            "optional (sequence (float {3}))");
}

TEST(ValueProto, RefusesWhatItCannotHold) {
  const Message x = proto::float_tensor("x", {2}, {1, 2});
  Message integers = proto::raw_tensor("n", 3, {1}, "\x01");
  const struct {
    DataType type;
    Message message;
    const char* error;
  } rows[] = {
      {kSequenceType, sequence(4, {}), "elements of kind 4; tensors (kind 1) are supported"},
      {kSequenceType, sequence(0, {x}), "elements of kind 0"},
      {kSequenceType, sequence(1, {x, integers}),
       "tensor 1 of the sequence is int8, tensor 0 float"},
      {kOptionalType, optional(4), "an optional of kind 4"},
      {kOptionalType, optional(3, 3, x), "an optional of kind 3 that holds kind 1"},
      {kOptionalType, optional(1, 5, sequence(1, {x})), "an optional of kind 1 that holds kind 3"},
      {kOptionalType, optional(1, 3, proto::raw_tensor("x", 1, {2}, "ab")), "holds 2 bytes"},
  };
  for (const auto& row : rows) {
    const std::string found = read(row.type, row.message);
    EXPECT_NE(found.find(row.error), std::string::npos) << "found instead: " << found;
  }
}

// Every prefix of a right message is read or refused.
TEST(ValueProto, SurvivesCutBytes) {
  const Message x = proto::float_tensor("x", {2}, {1, 2});
  const Message whole = optional(3, 5, sequence(1, {x, x}));
  const auto bytes = whole.result();
  for (size_t size = 0; size < bytes.size(); ++size) {
    for (const DataType type : {kSequenceType, kOptionalType}) {
      try {
        (void)read_values(WireCursor(std::span(bytes).first(size), "OptionalProto"), type,
                          TensorSource());
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx
