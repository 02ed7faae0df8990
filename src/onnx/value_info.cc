#include "onnx/value_info.h"

namespace sardonyx {

DeclaredValue read_value_info(WireCursor cursor) {
  DeclaredValue info;
  while (cursor.next()) {
    if (cursor.field() == 1) info.name = cursor.string();
    if (cursor.field() == 2) {
      info.type = cursor.message("TypeProto");
      info.has_type = true;
    }
    if (cursor.field() == 3) info.doc = cursor.string();
    if (cursor.field() == 4) {
      info.metadata.push_back(read_string_entry(cursor.message("StringStringEntryProto")));
    }
  }
  return info;
}

void add_notes(const DeclaredValue& info, GraphValue& value) {
  if (value.doc.empty()) value.doc = info.doc;
  if (value.metadata.empty()) value.metadata = info.metadata;
}

std::pair<std::string, std::string> read_string_entry(WireCursor entry) {
  std::pair<std::string, std::string> result;
  while (entry.next()) {
    if (entry.field() == 1) result.first = entry.string();
    if (entry.field() == 2) result.second = entry.string();
  }
  return result;
}

}  // namespace sardonyx
