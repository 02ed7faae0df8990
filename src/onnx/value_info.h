// ValueInfoProto and StringStringEntryProto taken apart. Used by the graph reader.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "onnx/wire.h"

namespace sardonyx {

struct DeclaredValue {
  std::string name;
  WireCursor type;  // empty when there is none
  bool has_type = false;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  RawFields other_fields;
};

DeclaredValue read_value_info(WireCursor cursor);
// Documentation, metadata and further fields. The first that says something wins: a value may be
// described as input, output and in between.
void add_notes(const DeclaredValue& info, GraphValue& value);
// Keeps the type as it is declared.
void keep_declared_type(const DeclaredValue& info, GraphValue& value);

void change_fields(GraphValue& value, const std::function<void(ValueFileFields&)>& change);

std::pair<std::string, std::string> read_string_entry(WireCursor entry);

}  // namespace sardonyx
