"""A model with as many weights as wanted: a chain of matrix products, weights in external data."""

import os

import numpy as np

WIDTH = 2048
LAYER_BYTES = WIDTH * WIDTH * 4  # 16 MiB


def write_chain(folder, layers, name="model", in_one_file=False):
    """Writes NAME.onnx, and NAME.data with the weights if not in_one_file; its input x0 is float [N, WIDTH].

    Returns the path.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    rng = np.random.default_rng(1)
    weights = [numpy_helper.from_array((rng.random((WIDTH, WIDTH), np.float32) - 0.5) / np.float32(WIDTH**0.5), f"w{i}")
               for i in range(layers)]
    nodes = [helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]) for i in range(layers)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", WIDTH]) for name in ("x0", f"x{layers}")]
    model = helper.make_model(helper.make_graph(nodes, "chain", ends[:1], ends[1:], weights), ir_version=10,
                              opset_imports=[helper.make_opsetid("", 21)])
    path = os.path.join(folder, name + ".onnx")
    if in_one_file:
        onnx.save_model(model, path)
    else:
        onnx.save_model(model, path, save_as_external_data=True, location=name + ".data")
    return path
