#!/usr/bin/env python3
"""Prints the schema texts of operators, as src/ops/schema.h defines them, from the installed `onnx` package.

Usage: schema_lines.py [--domain DOMAIN] NAME...
    Prints for each operator the rows of its `constexpr OpVersion kVersions[]`.
"""

import argparse
import os
import re
import textwrap

import numpy as np
from onnx import AttributeProto
from onnx import defs
from onnx.defs import OpSchema

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KINDS = {"sparse_tensor": "sparse", "sparse_tensors": "sparses", "type_proto": "type", "type_protos": "types"}
WIDTH = 100


def read_groups():
    """The table kTypeGroups of src/ops/schema.cc: name -> set of types."""
    with open(os.path.join(ROOT, "src", "ops", "schema.cc"), encoding="utf-8") as file:
        table = re.search(r"kTypeGroups\[\] = \{(.*?)\n\};", file.read(), re.S).group(1)
    groups = {}
    for name, strings in re.findall(r'\{"(@\w+)",\s*((?:"[^"]*"\s*)+)\}', table):
        types = set()
        for word in "".join(re.findall(r'"([^"]*)"', strings)).split():
            types |= groups[word] if word.startswith("@") else {word}
        groups[name] = types
    return groups


def short_type(text):
    """tensor(float) -> float, also inside seq(...), optional(...) and map(...)."""
    return re.sub(r"(?<!sparse_)tensor\(([a-z0-9]+)\)", r"\1", text).replace(" ", "")


def type_set(allowed, groups):
    rest, words = {short_type(text) for text in allowed}, []
    for name, types in sorted(groups.items(), key=lambda item: -len(item[1])):
        if types <= rest:
            words.append(name)
            rest -= types
    order = "float16 float double bfloat16 bool string".split()
    rest = sorted(rest, key=lambda t: (order.index(t) if t in order else len(order), t))
    return " ".join(words + rest)


def formal(parameter):
    text = f"{parameter.name}: {short_type(parameter.type_str)}"
    if parameter.option == OpSchema.FormalParameterOption.Optional:
        return text + "?"
    if parameter.option == OpSchema.FormalParameterOption.Variadic:
        return text + ("" if parameter.is_homogeneous else "~") + "..." + ("" if parameter.min_arity else "0")
    return text


def number(value):
    return str(np.float32(value)).removesuffix(".0")


def default(value):
    simple = {
        AttributeProto.INT: lambda: str(value.i),
        AttributeProto.FLOAT: lambda: number(value.f),
        AttributeProto.STRING: lambda: f"'{value.s.decode()}'",
        AttributeProto.INTS: lambda: "[" + ", ".join(map(str, value.ints)) + "]",
        AttributeProto.FLOATS: lambda: "[" + ", ".join(map(number, value.floats)) + "]",
        AttributeProto.STRINGS: lambda: "[" + ", ".join(f"'{s.decode()}'" for s in value.strings) + "]",
    }
    return simple[value.type]()


def attribute(spec):
    kind = spec.type.name.lower()
    text = f"{spec.name}: {KINDS.get(kind, kind)}"
    if spec.required:
        return text + "!"
    if spec.default_value.type != AttributeProto.UNDEFINED:
        return f"{text} = {default(spec.default_value)}"
    return text + "?"


def schema_text(schema, groups):
    parts = [
        ", ".join(map(formal, schema.inputs)) + " -> " + ", ".join(map(formal, schema.outputs)),
        ", ".join(attribute(schema.attributes[name]) for name in sorted(schema.attributes)),
        ", ".join(f"{c.type_param_str}: {type_set(c.allowed_type_strs, groups)}" for c in schema.type_constraints),
    ]
    while not parts[-1]:
        parts.pop()
    return " | ".join(part.strip() for part in parts).replace("|  |", "| |")


def c_strings(text, indent):
    width = WIDTH - indent - 2
    lines = textwrap.wrap(text, width - 1, break_long_words=False, break_on_hyphens=False)
    return ("\n" + " " * indent).join(f'"{line}{"" if i == len(lines) - 1 else " "}"' for i, line in enumerate(lines))


def rows(name, domain, groups):
    history = [s for s in defs.get_all_schemas_with_history() if s.name == name and s.domain == domain]
    if not history:
        raise SystemExit(f"onnx knows no operator {name} in domain '{domain}'")
    for schema in sorted(history, key=lambda s: s.since_version):
        text = schema_text(schema, groups)
        note = "  // deprecated" if schema.deprecated else ""
        if len(text) + len(str(schema.since_version)) + 11 <= WIDTH:
            yield f'    {{{schema.since_version}, "{text}"}},{note}'
        else:
            yield f"    {{{schema.since_version},{note}\n     {c_strings(text, 5)}}},"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", default="")
    parser.add_argument("names", nargs="+", metavar="NAME")
    options = parser.parse_args()
    groups = read_groups()
    for name in options.names:
        print(f"// {name}\nconstexpr OpVersion kVersions[] = {{")
        print("\n".join(rows(name, options.domain, groups)) + "\n};")


if __name__ == "__main__":
    main()
