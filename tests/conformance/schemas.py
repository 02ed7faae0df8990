#!/usr/bin/env python3
"""Compares the schema of every operator of the runtime, in every version, with the installed `onnx` package.

Usage: schemas.py DUMP_OPERATORS
    DUMP_OPERATORS   the executable made from dump_operators.cc

Exit status 1 when a name, type, arity, attribute, default or version differs. Operators that are not implemented, and
operators of domains that onnx does not know, do not count.
"""

import json
import re
import subprocess
import sys

import numpy as np
from onnx import AttributeProto
from onnx import defs
from onnx.defs import OpSchema

KINDS = {"sparse_tensor": "sparse", "sparse_tensors": "sparses", "type_proto": "type", "type_protos": "types"}
ARITIES = {
    OpSchema.FormalParameterOption.Single: "single",
    OpSchema.FormalParameterOption.Optional: "optional",
    OpSchema.FormalParameterOption.Variadic: "variadic",
}


def short_type(text):
    """tensor(float) -> float, also inside seq(...), optional(...) and map(...)."""
    return re.sub(r"(?<!sparse_)tensor\(([a-z0-9]+)\)", r"\1", text).replace(" ", "")


def parameter(formal):
    arity = ARITIES[formal.option]
    variadic = arity == "variadic"
    return {
        "name": formal.name,
        "type": short_type(formal.type_str),
        "arity": arity,
        "homogeneous": formal.is_homogeneous if variadic else True,
        "minimum": formal.min_arity if variadic else 1,
    }


def default(value):
    return {
        AttributeProto.INT: lambda: value.i,
        AttributeProto.FLOAT: lambda: np.float32(value.f),
        AttributeProto.STRING: lambda: value.s.decode(),
        AttributeProto.INTS: lambda: list(value.ints),
        AttributeProto.FLOATS: lambda: [np.float32(f) for f in value.floats],
        AttributeProto.STRINGS: lambda: [s.decode() for s in value.strings],
    }[value.type]()


def attribute(spec):
    kind = spec.type.name.lower()
    result = {"name": spec.name, "kind": KINDS.get(kind, kind), "required": spec.required}
    if not spec.required and spec.default_value.type != AttributeProto.UNDEFINED:
        result["default"] = default(spec.default_value)
    return result


def expected(schema):
    return {
        "since": schema.since_version,
        "inputs": [parameter(p) for p in schema.inputs],
        "outputs": [parameter(p) for p in schema.outputs],
        "attributes": sorted((attribute(a) for a in schema.attributes.values()), key=lambda a: a["name"]),
        "constraints": {c.type_param_str: sorted(map(short_type, c.allowed_type_strs)) for c in schema.type_constraints},
    }


def normal(version):
    """Ours, in the order of expected(), floats as float32."""
    result = dict(version)
    result["attributes"] = sorted((dict(a) for a in version["attributes"]), key=lambda a: a["name"])
    for spec in result["attributes"]:
        if "default" in spec and spec["kind"] == "float":
            spec["default"] = np.float32(spec["default"])
        if "default" in spec and spec["kind"] == "floats":
            spec["default"] = [np.float32(f) for f in spec["default"]]
    result["constraints"] = {name: sorted(set(types)) for name, types in version["constraints"].items()}
    return result


def differences(op, history):
    ours = {version["since"]: normal(version) for version in op["versions"]}
    theirs = {schema.since_version: expected(schema) for schema in history}
    for since in sorted(theirs.keys() - ours.keys()):
        yield f"version {since} is missing"
    for since in sorted(ours.keys() - theirs.keys()):
        yield f"version {since} does not exist"
    for since in sorted(ours.keys() & theirs.keys()):
        for part, value in theirs[since].items():
            if ours[since][part] != value:
                yield f"version {since}, {part}:\n    ours {ours[since][part]}\n    onnx {value}"


def main():
    operators = json.loads(subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout)
    histories = {}
    for schema in defs.get_all_schemas_with_history():
        histories.setdefault((schema.domain, schema.name), []).append(schema)
    domains = {domain for domain, _ in histories}
    compared = failures = 0
    for op in operators:
        if op["domain"] not in domains:
            continue
        history = histories.get((op["domain"], op["name"]))
        found = list(differences(op, history)) if history else ["onnx knows no such operator"]
        compared += 1
        failures += bool(found)
        for text in found:
            print(f"{op['domain'] or 'ai.onnx'} {op['name']}: {text}")
    print(f"{compared} of {len(histories)} operators compared, {failures} differ")
    return 1 if failures or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
