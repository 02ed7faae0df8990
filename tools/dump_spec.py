#!/usr/bin/env python3
"""Writes what the installed `onnx` package says about operators and backend node cases as text tables.

    operators.tsv    every schema version of every operator
    node_cases.tsv   every node case of the backend test suite

The tables lie in tests/conformance/spec; tools/requirements.txt pins the release that decides
(docs/decisions/0005-which-onnx-release-decides.md).

Usage: dump_spec.py [--check] [FOLDER]
    --check   compare with the files in FOLDER instead of writing them; exit status 1 when they differ
"""

import argparse
import difflib
import os
import re
import sys
import warnings

import numpy as np
import onnx
import onnx.backend.test.case.node as node_cases
from onnx import AttributeProto, TensorProto
from onnx.backend.test.loader import load_node_model_tests
from onnx.defs import OpSchema

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "tests", "conformance", "spec")
NONE = "-"

OPERATOR_NOTES = """\
# Every schema version of every operator in the PyPI package onnx {version}. Made by tools/dump_spec.py; do not edit.
# body: version has a function body: no, fixed, or dynamic (it depends on types or attributes of the call).
# random: non-deterministic. inputs, outputs: minimum-maximum number, then name:type for each, separated by spaces. The
#   type is a constraint of column types or a concrete type; after it `?` = optional, `*` = variadic of one type,
#   `**` = variadic of any types. attributes: name:type, then `!` = required, or `=default`; strings are quoted.
# types: constraint=type,... with tensor(x) written as x. `{none}` = empty.
"""
CASE_NOTES = """\
# Every node case of onnx.backend.test in the PyPI package onnx {version}. Made by tools/dump_spec.py; do not edit.
# operator: the operator under test. expanded: the model holds its function body instead of the operator itself.
# uses: the operators in the model, subgraphs included. inputs, outputs: types of the graph's inputs and outputs.
# Tolerances are rtol 0.001 and atol 1e-7 unless column tolerance says otherwise. `{none}` = empty.
"""


def domain_name(domain):
    return domain or "ai.onnx"


def short_type(text):
    """tensor(float) -> float, also inside seq(...), optional(...) and map(...)."""
    return re.sub(r"tensor\(([a-z0-9]+)\)", r"\1", text).replace(" ", "")


def format_formal(formal):
    text = f"{formal.name}:{short_type(formal.type_str)}"
    if formal.option == OpSchema.FormalParameterOption.Optional:
        return text + "?"
    if formal.option == OpSchema.FormalParameterOption.Variadic:
        return text + ("*" if formal.is_homogeneous else "**")
    return text


def format_formals(formals, minimum, maximum):
    most = "n" if maximum >= 2147483647 else maximum
    return " ".join([f"{minimum}-{most}", *map(format_formal, formals)])


def quote(data):
    text = data.decode("utf-8")
    if re.search(r'[\s"\\]', text):
        raise ValueError(f"default string {text!r} needs a quoting rule")
    return f'"{text}"'


def format_float(value):
    """The shortest decimal text that reads back as the same 32-bit float."""
    return str(np.float32(value)).removesuffix(".0")


def format_default(value):
    simple = {
        AttributeProto.INT: lambda: str(value.i),
        AttributeProto.FLOAT: lambda: format_float(value.f),
        AttributeProto.STRING: lambda: quote(value.s),
        AttributeProto.INTS: lambda: "[" + ",".join(map(str, value.ints)) + "]",
        AttributeProto.FLOATS: lambda: "[" + ",".join(map(format_float, value.floats)) + "]",
        AttributeProto.STRINGS: lambda: "[" + ",".join(map(quote, value.strings)) + "]",
    }
    if value.type == AttributeProto.TENSOR:
        tensor = value.t
        values = onnx.numpy_helper.to_array(tensor).tolist()
        return f"{TensorProto.DataType.Name(tensor.data_type).lower()}{values}".replace(" ", "").replace("'", '"')
    return simple[value.type]()


def format_attribute(attribute):
    text = f"{attribute.name}:{attribute.type.name.lower()}"
    if attribute.required:
        return text + "!"
    if attribute.default_value.type != AttributeProto.UNDEFINED:
        return f"{text}={format_default(attribute.default_value)}"
    return text


def format_body(schema):
    if schema.has_function:
        return "fixed"
    return "dynamic" if schema.has_context_dependent_function else "no"


def operator_rows():
    schemas = onnx.defs.get_all_schemas_with_history()
    for schema in sorted(schemas, key=lambda s: (domain_name(s.domain), s.name, s.since_version)):
        attributes = [format_attribute(schema.attributes[name]) for name in sorted(schema.attributes)]
        types = [
            constraint.type_param_str + "=" + ",".join(sorted(map(short_type, constraint.allowed_type_strs)))
            for constraint in schema.type_constraints
        ]
        yield (
            domain_name(schema.domain),
            schema.name,
            str(schema.since_version),
            "yes" if schema.deprecated else "no",
            format_body(schema),
            "yes" if schema.non_deterministic else "no",
            format_formals(schema.inputs, schema.min_input, schema.max_input),
            format_formals(schema.outputs, schema.min_output, schema.max_output),
            " ".join(attributes) or NONE,
            " ".join(types) or NONE,
        )


def type_name(proto):
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return TensorProto.DataType.Name(proto.tensor_type.elem_type).lower()
    if kind == "sequence_type":
        return f"seq({type_name(proto.sequence_type.elem_type)})"
    if kind == "optional_type":
        return f"optional({type_name(proto.optional_type.elem_type)})"
    if kind == "map_type":
        key = TensorProto.DataType.Name(proto.map_type.key_type).lower()
        return f"map({key},{type_name(proto.map_type.value_type)})"
    raise ValueError(f"value of kind {kind}")


def used_operators(graph):
    for node in graph.node:
        yield node.op_type if domain_name(node.domain) == "ai.onnx" else f"{node.domain}.{node.op_type}"
        for attribute in node.attribute:
            for subgraph in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                yield from used_operators(subgraph)


def case_rows():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, on infinities that the cases are about
        cases = load_node_model_tests()
    for case in sorted(cases, key=lambda c: c.name):
        plain = re.sub(r"_expanded(_ver\d+)?$", "", case.name)
        # The suite keeps the node under test by the name of the plain case.
        tested = node_cases._existing_names[plain]  # pylint: disable=protected-access
        model = case.model
        default_tolerance = (case.rtol, case.atol) == (1e-3, 1e-7)
        yield (
            case.name,
            domain_name(tested.domain),
            tested.op_type,
            "no" if plain == case.name else "yes",
            " ".join(f"{domain_name(o.domain)}:{o.version}" for o in model.opset_import),
            str(model.ir_version),
            " ".join(sorted(set(used_operators(model.graph)))),
            " ".join(type_name(value.type) for value in model.graph.input) or NONE,
            " ".join(type_name(value.type) for value in model.graph.output) or NONE,
            NONE if default_tolerance else f"{case.rtol:g},{case.atol:g}",
        )


def table(notes, columns, rows):
    lines = [notes.format(version=onnx.__version__, none=NONE) + "\t".join(columns)]
    lines.extend("\t".join(row) for row in rows)
    return "\n".join(lines) + "\n"


def tables():
    return {
        "operators.tsv": table(
            OPERATOR_NOTES,
            ("domain", "operator", "since", "deprecated", "body", "random", "inputs", "outputs", "attributes", "types"),
            operator_rows()),
        "node_cases.tsv": table(
            CASE_NOTES,
            ("name", "domain", "operator", "expanded", "opsets", "ir", "uses", "inputs", "outputs", "tolerance"),
            case_rows()),
    }


def differs(path, expected):
    """Prints the first differences between a committed file and what it should hold."""
    try:
        with open(path, encoding="utf-8") as file:
            actual = file.read()
    except FileNotFoundError:
        print(f"{path}: missing")
        return True
    if actual == expected:
        return False
    print(f"{path} is not what onnx {onnx.__version__} says; tools/dump_spec.py rewrites it. First differences:")
    diff = difflib.unified_diff(actual.splitlines(), expected.splitlines(), "committed", "installed", lineterm="", n=0)
    for _, line in zip(range(20), diff):
        print("  " + line[:300])
    return True


def main():
    parser = argparse.ArgumentParser(description="Dumps operator schemas and node cases of the onnx package.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("folder", nargs="?", default=FOLDER)
    args = parser.parse_args()
    made = tables()
    if args.check:
        different = [name for name, text in made.items() if differs(os.path.join(args.folder, name), text)]
        print(f"{len(made) - len(different)} of {len(made)} lists agree with onnx {onnx.__version__}")
        sys.exit(1 if different else 0)
    for name, text in made.items():
        path = os.path.join(args.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        rows = sum(not line.startswith("#") for line in text.splitlines()) - 1
        print(f"{os.path.relpath(path)}: {rows} rows, {len(text)} bytes")


if __name__ == "__main__":
    main()
