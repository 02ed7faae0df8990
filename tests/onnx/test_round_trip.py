"""Reads and writes every fetched model and every model of the onnx package and compares, field by field, what onnx's own
reader finds before and after. Arguments: the program rewrite, and "small" or "all".

normal() removes what src/onnx/writer.h names as differences of form, and nothing else.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy
import onnx
from onnx import numpy_helper

PROGRAM = ""
MODELS = []


def fetched_models():
    return sorted(pathlib.Path(".cache/models").glob("*.onnx"))


def package_models(pattern):
    return sorted((pathlib.Path(onnx.__file__).parent / "backend/test/data").glob(pattern))


def normal_tensor(tensor):
    """The contents as raw_data (strings apart), wherever and however they are stored."""
    if tensor.data_type != onnx.TensorProto.STRING:
        raw = numpy_helper.from_array(numpy_helper.to_array(tensor)).raw_data
        for field in ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "raw_data",
                      "external_data", "data_location"):
            tensor.ClearField(field)
        if raw:
            tensor.raw_data = raw


def dense(sparse):
    array = numpy.zeros(list(sparse.dims), numpy_helper.to_array(sparse.values).dtype)
    indices = numpy_helper.to_array(sparse.indices)
    values = numpy_helper.to_array(sparse.values)
    if indices.ndim == 1:
        array.reshape(-1)[indices] = values
    else:
        array[tuple(indices.T)] = values
    return numpy_helper.from_array(array, sparse.values.name)


def without_defaults(message):
    """Explicit zeros and empty texts are dropped; those of a oneof say something and stay."""
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for each in (value if field.is_repeated else [value]):
                without_defaults(each)
        elif not field.is_repeated and field.containing_oneof is None and value == field.default_value:
            message.ClearField(field.name)


def sort_by_name(repeated):
    unique = {}
    for each in repeated:
        unique.setdefault(each.name, each)
    kept = [unique[name] for name in sorted(unique)]
    copies = [type(each).FromString(each.SerializeToString()) for each in kept]
    del repeated[:]
    repeated.extend(copies)


def sort_imports(imports):
    pairs = sorted({("" if each.domain == "ai.onnx" else each.domain, each.version) for each in imports})
    del imports[:]
    imports.extend(onnx.helper.make_opsetid(*pair) for pair in pairs)


def normal_nodes(nodes, ir_version):
    for node in nodes:
        if node.domain == "ai.onnx":
            node.domain = ""
        for attribute in node.attribute:
            normal_attribute(attribute, ir_version)


def normal_attribute(attribute, ir_version):
    for tensor in [attribute.t] * attribute.HasField("t") + list(attribute.tensors):
        normal_tensor(tensor)
    for graph in [attribute.g] * attribute.HasField("g") + list(attribute.graphs):
        normal_graph(graph, ir_version)


def normal_graph(graph, ir_version):
    normal_nodes(graph.node, ir_version)
    graph.initializer.extend(dense(each) for each in graph.sparse_initializer)
    del graph.sparse_initializer[:]
    for tensor in graph.initializer:
        normal_tensor(tensor)
    sort_by_name(graph.initializer)
    if ir_version < 4:  # constants are listed behind the inputs
        sort_by_name(graph.input)
    described = {each.name for each in [*graph.input, *graph.output]}
    inner = [each for each in graph.value_info if each.name not in described]
    del graph.value_info[:]
    graph.value_info.extend(inner)
    sort_by_name(graph.value_info)


def normal(path):
    model = onnx.load(path)
    normal_graph(model.graph, model.ir_version)
    for function in model.functions:
        normal_nodes(function.node, model.ir_version)
        sort_by_name(function.value_info)
        if not function.opset_import:
            function.opset_import.extend(model.opset_import)
        sort_imports(function.opset_import)
        if function.domain == "ai.onnx":
            function.domain = ""
        for attribute in function.attribute_proto:
            normal_attribute(attribute, model.ir_version)
    sort_imports(model.opset_import)
    without_defaults(model)
    return model


def first_difference(a, b, path="model"):
    """Where two messages differ, as text; None when they do not."""
    fields = {field.name: field for message in (a, b) for field, _ in message.ListFields()}
    for name, field in fields.items():
        x, y = getattr(a, name), getattr(b, name)
        if field.type != field.TYPE_MESSAGE:
            if x != y:
                return f"{path}.{name}: {str(x)[:100]!r} became {str(y)[:100]!r}"
            continue
        if not field.is_repeated:
            x, y = [x] * a.HasField(name), [y] * b.HasField(name)
        if len(x) != len(y):
            return f"{path}.{name}: {len(x)} became {len(y)}"
        for i, (one, other) in enumerate(zip(x, y)):
            found = first_difference(one, other, f"{path}.{name}[{i}]")
            if found:
                return found
    if a.SerializeToString(deterministic=True) != b.SerializeToString(deterministic=True):
        return f"{path}: unknown fields differ"
    return None


class RoundTrip(unittest.TestCase):
    def rewrite(self, *arguments):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_models(self):
        self.assertGreater(len(MODELS), 20)
        for path in MODELS:
            before = normal(path)
            with self.subTest(path=str(path)), tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                self.rewrite(path, folder / "inside.onnx")
                self.assertIsNone(first_difference(before, normal(folder / "inside.onnx")))
                self.rewrite(path, folder / "outside.onnx", "weights", 1024)
                self.assertIsNone(first_difference(before, normal(folder / "outside.onnx")))
                # The writer's own output comes back byte for byte.
                self.rewrite(folder / "outside.onnx", folder / "again.onnx")
                self.assertEqual((folder / "again.onnx").read_bytes(), (folder / "inside.onnx").read_bytes())


if __name__ == "__main__":
    PROGRAM, which = sys.argv.pop(1), sys.argv.pop(1)
    MODELS = package_models("light/*.onnx") + package_models("simple/*/*.onnx")
    if which == "small":
        MODELS += package_models("node/*/model.onnx")[::25]
    else:
        MODELS += fetched_models() + package_models("*/*/model.onnx")
    unittest.main()
