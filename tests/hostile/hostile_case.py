"""What a case of the hostile suite is, and how its models are made."""

import dataclasses

import numpy as np
from onnx import TensorProto, helper, numpy_helper

CASES = []


@dataclasses.dataclass
class Case:
    """A model and what must become of it at some levels of optimisation.

    outcome  as tests/hostile/probe.cc reports it; a tuple where several will do
    words    parts of the message
    files    other files, path -> bytes; a str is the target of a symbolic link
    path     of the model, in the folder of the case
    move     where the model lies if not there
    folder   None: loaded from the file; "": from memory; else from memory with that folder for external data
    limit    memory_limit_bytes of the session
    peak_mib, seconds   of resident memory and processor time that it may take at most, without sanitizers
    """
    name: str
    model: bytes
    outcome: object
    words: tuple = ()
    files: dict = dataclasses.field(default_factory=dict)
    path: str = "model.onnx"
    move: str = ""
    folder: object = None
    limit: int = 0
    peak_mib: int = 200
    seconds: float = 10
    levels: tuple = ("none", "all")


def add(name, model, outcome, *words, **options):
    data = model if isinstance(model, bytes) else model.SerializeToString()
    CASES.append(Case(name, data, outcome, words, **options))


def info(name, shape=(3,), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def untyped(name):
    return helper.make_empty_tensor_value_info(name)


def node(op, inputs, outputs, **attributes):
    """inputs, outputs: names with commas between; a list is taken as it is."""
    def split(names):
        return names if isinstance(names, list) else names.split(",") if names else []
    return helper.make_node(op, split(inputs), split(outputs), **attributes)


def graph(nodes, inputs=None, outputs=None, initializers=(), name="g"):
    nodes = nodes if isinstance(nodes, list) else [nodes]
    return helper.make_graph(nodes, name, [info("x")] if inputs is None else inputs,
                             [untyped("y")] if outputs is None else outputs, list(initializers))


def model(nodes, inputs=None, outputs=None, initializers=(), opset=17, ir=9, **options):
    return helper.make_model(graph(nodes, inputs, outputs, initializers), ir_version=ir,
                             opset_imports=options.pop("imports", [helper.make_opsetid("", opset)]), **options)


def constant(name, values, dtype=np.float32):
    return numpy_helper.from_array(np.array(values, dtype), name)


def integers(name, *values):
    return constant(name, list(values), "int64")


def empty_tensor(name, dims, kind=TensorProto.FLOAT, **fields):
    """A TensorProto with the given fields alone."""
    tensor = TensorProto(name=name, data_type=kind, dims=dims)
    for key, value in fields.items():
        if isinstance(value, (list, tuple)):
            getattr(tensor, key).extend(value)
        else:
            setattr(tensor, key, value)
    return tensor


def external(name, dims, entries, kind=TensorProto.FLOAT):
    tensor = TensorProto(name=name, data_type=kind, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in entries:
        tensor.external_data.add(key=key, value=value)
    return tensor


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, payload):
    """A length-delimited field of a protobuf message."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload
