// TypeProto to ValueType and back. Declared dimension names are not trusted to mean equality: how a
// named or missing dimension is read depends on where the type stands. Called by the graph reader
// and writer.
#pragma once

#include <string>

#include "ir/type.h"
#include "onnx/wire.h"

namespace sardonyx {

enum class DimRule {
  // Every dimension that is no number gets a symbol of its own: `batch`, a repeat `batch#1`, one
  // without
  // a name `#x_0`. What stands before '#' is the name in the model. For inputs of the main graph,
  // where
  // files declare [batch,batch] and are fed [1,128].
  kOwnSymbols,
  // Such a dimension is unknown. For values inside, whose declared shapes may be stale.
  kUnknown,
};

// `value` names the value in symbols and errors. Throws Error(kInvalidProtobuf) for damaged bytes
// and Error(kInvalidGraph) for an element type outside the 26.
ValueType read_type(WireCursor cursor, DimRule rule, std::string_view value, DimTable& dims);

// A symbol becomes the name it had in the model. Other expressions are written as text; one that
// speaks of symbols which the model did not tell apart by name is left out.
WireWriter type_message(const ValueType& type, const DimTable& dims);

// Does every part of the type say what it is? Only such a type can be written.
bool is_complete(const ValueType& type);

}  // namespace sardonyx
