// All operators with every schema version as JSON: what `sardonyx ops --json` prints and what the
// conformance test compares with the `onnx` package.
#pragma once

#include <string>

namespace sardonyx {

// [{"domain": "", "name": "Add", "traits": ["elementwise", ...], "versions": [{"since": 1,
// "inputs":
// [{"name", "type", "arity": "single" | "optional" | "variadic", "homogeneous", "minimum"}],
// "outputs": [...], "attributes": [{"name", "kind", "required", "default"?}], "constraints": {"T":
// ["float", ...]}}]}], in the order of op_list.inc. Types are written as in schemas ("float",
// "seq(float)").
std::string dump_operators_json();

}  // namespace sardonyx
