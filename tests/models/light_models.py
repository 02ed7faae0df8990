"""The convolutional networks inside the onnx package, with weights that matter.

As shipped, each weight is a ConstantOfShape of 0.02, and the output does not depend on the input. A seeded copy has
drawn initializers instead: He-normal weights, variances of 0.5 to 2, scales and means near 1 and 0.
"""

import collections
import os

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from seeded import seeded

FOLDER = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data", "light")
NAMES = ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet", "squeezenet", "vgg19",
         "zfnet512")


def shipped(name):
    """Paths of a network and of its recorded output."""
    path = os.path.join(FOLDER, f"light_{name}")
    return path + ".onnx", path + "_output_0.pb"


def data_input(graph):
    """The input that is no initializer."""
    weights = {tensor.name for tensor in graph.initializer}
    one, = (value for value in graph.input if value.name not in weights)
    return one


def input_of(name):
    return data_input(onnx.load(shipped(name)[0]).graph).name


def role_of(name, users):
    """What a value is used for: operator, position of the input; through Unsqueeze and Reshape."""
    node, position = users[name][0]
    return role_of(node.output[0], users) if node.op_type in ("Unsqueeze", "Reshape") else (node.op_type, position)


def drawn(role, shape, rng):
    """Values for one role."""
    if role in (("Conv", 1), ("Gemm", 1)):
        fan_in = np.prod(shape[1:])
        return rng.standard_normal(shape, np.float32) * np.float32(np.sqrt(2 / fan_in))
    if role == ("BatchNormalization", 4):
        return rng.uniform(0.5, 2, shape).astype(np.float32)
    if role in (("BatchNormalization", 1), ("Mul", 1)):
        return rng.uniform(0.5, 1.5, shape).astype(np.float32)
    return 0.1 * rng.standard_normal(shape, np.float32)  # biases, means


def calibrate(model, last):
    """Scales the last product so that its results are of size 1: a softmax of larger ones shows one class alone."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.output[:]
    probe.graph.output.append(onnx.helper.make_tensor_value_info(last.output[0], onnx.TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(probe.SerializeToString(), providers=["CPUExecutionProvider"])
    image = session.get_inputs()[0]
    pixels = seeded("calibrate").uniform(-2, 2, image.shape).astype(np.float32)
    size = np.std(session.run(None, {image.name: pixels})[0])
    scale = np.float32(2.0 ** -np.round(np.log2(size)))
    for tensor in model.graph.initializer:
        if tensor.name in last.input[1:]:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor) * scale, tensor.name))


def write_seeded(name, path):
    model = onnx.load(shipped(name)[0])
    graph = model.graph
    rng = seeded(name)
    users = collections.defaultdict(list)
    for node in graph.node:
        for position, value in enumerate(node.input):
            users[value].append((node, position))
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    data = data_input(graph)
    made = {}
    for node in graph.node:
        if node.op_type == "ConstantOfShape":
            shape = tuple(numpy_helper.to_array(tensors[node.input[0]]))
            made[node.output[0]] = drawn(role_of(node.output[0], users), shape, rng)
    # Vectors of the first layers are real initializers, of 0.02 too.
    for tensor in graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT and users[tensor.name]:
            made[tensor.name] = drawn(role_of(tensor.name, users), tuple(tensor.dims), rng)
    nodes = [node for node in graph.node if node.op_type != "ConstantOfShape"]
    used = {value for node in nodes for value in node.input}
    kept = [tensor for tensor in graph.initializer if tensor.name in used and tensor.name not in made]
    weights = [numpy_helper.from_array(array, value) for value, array in made.items()]
    for field, values in ((graph.node, nodes), (graph.initializer, kept + weights), (graph.input, [data])):
        copies = [type(value).FromString(value.SerializeToString()) for value in values]
        del field[:]
        field.extend(copies)
    model.ir_version = 8  # from 4 on, initializers are no inputs
    calibrate(model, [node for node in graph.node if node.op_type in ("Conv", "Gemm")][-1])
    onnx.save(model, path)
