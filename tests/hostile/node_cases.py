"""Nodes that break the schema of their operator: every operator of the onnx package, every attribute."""

import onnx
from onnx import AttributeProto, TensorProto, helper

import hostile_case
from hostile_case import info, model, untyped, varint

# Nodes are checked before anything is optimised: one level will do.
LEVELS = ("none",)
REFUSED = ("load:InvalidGraph", "load:NotImplemented")
UNKNOWN = "is not known"
KINDS = {AttributeProto.INT: 1, AttributeProto.FLOAT: 1.5, AttributeProto.STRING: "text", AttributeProto.INTS: [1, 2],
         AttributeProto.FLOATS: [1.5], AttributeProto.STRINGS: ["a"]}


def add(name, *arguments):
    hostile_case.add(name, *arguments, levels=LEVELS)


def wrong_value(name, kind):
    """An attribute of another kind; a number is never taken for a list nor text for a number."""
    other = {AttributeProto.INT: AttributeProto.FLOAT, AttributeProto.FLOAT: AttributeProto.INT,
             AttributeProto.STRING: AttributeProto.INT, AttributeProto.INTS: AttributeProto.INT,
             AttributeProto.FLOATS: AttributeProto.INTS}.get(kind, AttributeProto.FLOATS)
    return helper.make_attribute(name, KINDS[other], attr_type=other)


def node_of(schema, inputs, outputs, attributes=()):
    node = helper.make_node(schema.name, ["x"] * inputs, [f"y{i}" for i in range(outputs)], domain=schema.domain)
    node.attribute.extend(attributes)
    return model([node], [info("x", (2, 3))], [untyped("x")], imports=[
        helper.make_opsetid("", onnx.defs.onnx_opset_version()), helper.make_opsetid("ai.onnx.ml", 5)])


def schemas():
    newest = {}
    for schema in onnx.defs.get_all_schemas():
        if schema.domain in ("", "ai.onnx.ml") and not schema.deprecated:
            newest[schema.domain, schema.name] = schema
    return [newest[key] for key in sorted(newest)]


def variadic(formals):
    return any(each.option == onnx.defs.OpSchema.FormalParameterOption.Variadic for each in formals)


for number in (-1, 0, 15, 99):
    strange = AttributeProto(name="axis", i=1)
    strange.MergeFromString(b"\xa0\x01" + varint(number % 2**64))  # field 20, the type
    add(f"attribute_of_type_{number}", node_of(onnx.defs.get_schema("Flatten"), 1, 1, [strange]), REFUSED, "'axis'", "type")
for schema in schemas():
    least, outputs = schema.min_input, max(schema.min_output, 1)
    for name, attribute in schema.attributes.items():
        kind = AttributeProto.AttributeType.Value(attribute.type.name)
        add(f"{schema.name}_{name}_of_another_kind", node_of(schema, least, outputs, [wrong_value(name, kind)]), REFUSED,
            f"'{name}' is of kind|{UNKNOWN}", f"expected|{UNKNOWN}", schema.name)
        both = AttributeProto(name=name, type=kind, s=b"s", i=3)
        add(f"{schema.name}_{name}_of_two_kinds", node_of(schema, least, outputs, [both]), REFUSED, name)
        if attribute.required:
            add(f"{schema.name}_without_{name}", node_of(schema, least, outputs), REFUSED, f"required|{UNKNOWN}")
    add(f"{schema.name}_of_an_attribute_it_lacks", node_of(schema, least, outputs, [helper.make_attribute("bogus", 1)]),
        REFUSED, f"no attribute 'bogus'|{UNKNOWN}")
    twice = [helper.make_attribute("bogus", 1)] * 2
    add(f"{schema.name}_of_an_attribute_twice", node_of(schema, least, outputs, twice), REFUSED, "'bogus' is given twice")
    if not variadic(schema.inputs):
        add(f"{schema.name}_of_too_many_inputs", node_of(schema, schema.max_input + 1, outputs), REFUSED,
            f"{schema.max_input + 1} inputs, expected|{UNKNOWN}")
    if not variadic(schema.outputs):
        add(f"{schema.name}_of_too_many_outputs", node_of(schema, least, schema.max_output + 1), REFUSED)
    if least > 0:
        add(f"{schema.name}_of_too_few_inputs", node_of(schema, least - 1, outputs), REFUSED)
