#include "onnx/value_info.h"

namespace sardonyx {

DeclaredValue read_value_info(WireCursor cursor) {
  DeclaredValue info;
  while (cursor.next()) {
    switch (cursor.field()) {
      case 1:
        info.name = cursor.string();
        break;
      case 2:
        info.type = cursor.message("TypeProto");
        info.has_type = !info.type.all().empty();
        // One that says nothing is only kept.
        if (!info.has_type) cursor.append_raw_to(info.other_fields);
        break;
      case 3:
        info.doc = cursor.string();
        break;
      case 4:
        info.metadata.push_back(read_string_entry(cursor.message("StringStringEntryProto")));
        break;
      default:
        cursor.append_raw_to(info.other_fields);
        break;
    }
  }
  return info;
}

void change_fields(GraphValue& value, const std::function<void(ValueFileFields&)>& change) {
  auto fields = value.file_fields ? std::make_shared<ValueFileFields>(*value.file_fields)
                                  : std::make_shared<ValueFileFields>();
  change(*fields);
  value.file_fields = std::move(fields);
}

void add_notes(const DeclaredValue& info, GraphValue& value) {
  if (value.doc.empty()) value.doc = info.doc;
  if (value.metadata.empty()) value.metadata = info.metadata;
  if (info.other_fields.empty() || (value.file_fields && !value.file_fields->info.empty())) return;
  change_fields(value, [&](ValueFileFields& fields) { fields.info = info.other_fields; });
}

void keep_declared_type(const DeclaredValue& info, GraphValue& value) {
  if (!info.has_type) return;
  const auto type = info.type.all();
  change_fields(value,
                [&](ValueFileFields& fields) { fields.type.assign(type.begin(), type.end()); });
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
