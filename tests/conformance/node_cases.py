"""Writes the node cases of the installed onnx package as folders that `sardonyx verify` reads.

    FOLDER/<case>/model.onnx
    FOLDER/<case>/test_data_set_<i>/{input,output}_<j>.pb
    FOLDER/index.tsv        case, rtol, atol, operators of the model (domain.name, comma separated)

The package keeps the cases in memory only. Generation takes seconds and is repeated only when the
version of onnx or numpy changes.
"""
import pathlib
import shutil
import warnings

import numpy
import onnx
from onnx import numpy_helper


def operators_of(model: onnx.ModelProto) -> set[str]:
    local = {(f.domain, f.name) for f in model.functions}
    found: set[str] = set()

    def visit(nodes) -> None:
        for node in nodes:
            if (node.domain, node.op_type) not in local:
                found.add(f"{node.domain or 'ai.onnx'}.{node.op_type}")
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    visit(attribute.g.node)
                for graph in attribute.graphs:
                    visit(graph.node)

    visit(model.graph.node)
    for function in model.functions:
        visit(function.node)
    return found


def to_proto(value, type_proto: onnx.TypeProto):
    kind = type_proto.WhichOneof("value")
    if hasattr(value, "SerializeToString"):
        return value
    if kind == "sequence_type":
        return numpy_helper.from_list(value)
    if kind == "optional_type":
        return numpy_helper.from_optional(value)
    if kind == "map_type":
        return numpy_helper.from_dict(value)
    return numpy_helper.from_array(numpy.asarray(value))


def write_cases(folder: pathlib.Path) -> None:
    stamp_text = f"onnx {onnx.__version__}, numpy {numpy.__version__}\n"
    stamp = folder / "stamp.txt"
    if stamp.exists() and stamp.read_text() == stamp_text:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.loader import load_node_model_tests
        cases = load_node_model_tests()
    rows = []
    for case in cases:
        target = folder / case.name
        target.mkdir()
        (target / "model.onnx").write_bytes(case.model.SerializeToString())
        for i, (inputs, outputs) in enumerate(case.data_sets):
            data = target / f"test_data_set_{i}"
            data.mkdir()
            for kind, values, infos in (("input", inputs, case.model.graph.input),
                                        ("output", outputs, case.model.graph.output)):
                for j, value in enumerate(values):
                    proto = to_proto(value, infos[j].type)
                    (data / f"{kind}_{j}.pb").write_bytes(proto.SerializeToString())
        operators = ",".join(sorted(operators_of(case.model)))
        rows.append(f"{case.name}\t{case.rtol}\t{case.atol}\t{operators}\n")
    (folder / "index.tsv").write_text("".join(rows))
    stamp.write_text(stamp_text)
