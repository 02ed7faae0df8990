// What the tests of the ONNX writer ask of models and of their bytes. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "onnx/wire.h"
#include "onnx/writer.h"
#include "sardonyx/error.h"

namespace sardonyx {

// Of two with that name the first.
inline GraphValue& value_named(const Graph& graph, std::string_view name) {
  for (size_t i = 0; i < graph.value_count(); ++i) {
    auto& value = const_cast<Graph&>(graph).value(static_cast<ValueId>(i));
    if (value.name == name) return value;
  }
  throw Error(ErrorCode::kNotFound, "no value has the name " + std::string(name));
}

inline void expect_refused(const Model& model, const WriteOptions& options, const char* part) {
  try {
    write_model(model, options);
    ADD_FAILURE() << "nothing was thrown, expected: " << part;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << "found instead: " << error.what();
  }
}

inline std::vector<WireCursor> fields_of(WireCursor message, uint32_t field) {
  std::vector<WireCursor> result;
  while (message.next()) {
    if (message.field() == field) result.push_back(message.message("message"));
  }
  return result;
}

inline WireCursor graph_in(const std::vector<std::byte>& model) {
  return fields_of(WireCursor(model, "ModelProto"), 7).at(0);
}

// Of the inputs (11), outputs (12) or value_infos (13) of the main graph.
inline std::vector<std::string> names_in_graph(const std::vector<std::byte>& model,
                                               uint32_t field) {
  std::vector<std::string> names;
  for (WireCursor info : fields_of(graph_in(model), field)) {
    while (info.next()) {
      if (info.field() == 1) names.push_back(info.string());
    }
  }
  return names;
}

// Every dimension of the tensor inputs and outputs of the main graph: name, number or nothing.
inline std::vector<std::string> dim_names(const std::vector<std::byte>& model) {
  std::vector<std::string> names;
  for (uint32_t field : {11u, 12u}) {
    for (const WireCursor& info : fields_of(graph_in(model), field)) {
      for (const WireCursor& type : fields_of(info, 2)) {
        const WireCursor tensor = fields_of(type, 1).at(0);
        for (const WireCursor& shape : fields_of(tensor, 2)) {
          for (WireCursor dim : fields_of(shape, 1)) {
            std::string text;
            while (dim.next())
              text = dim.field() == 1 ? std::to_string(dim.varint()) : dim.string();
            names.push_back(text);
          }
        }
      }
    }
  }
  return names;
}

}  // namespace sardonyx
