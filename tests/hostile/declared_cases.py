"""Models whose declarations are not true: an error or a result."""

import numpy as np
from onnx import TensorProto

from hostile_case import add, constant, info, integers, model, node


def declarations():
    """What a model says about its values is not true."""
    x = info("x", (2, 3))
    consumers = {
        "Relu": node("Relu", "t", "y"), "Add": node("Add", "t,x", "y"), "Shape": node("Shape", "t", "y"),
        "Reshape": [node("Shape", "t", "s"), node("Reshape", "t,s", "y")], "Concat": node("Concat", "t,t", "y", axis=0),
        "Softmax": node("Softmax", "t", "y", axis=-1), "Transpose": node("Transpose", "t", "y", perm=[1, 0]),
        "MatMul": node("MatMul", "t,w", "y"), "Gemm": node("Gemm", "t,w", "y"), "Slice": node("Slice", "t,a,b", "y"),
        "Expand": node("Expand", "x,h", "y")}
    producers = {"NonZero": ([node("NonZero", "x", "n"), node("Cast", "n", "t", to=1)], TensorProto.FLOAT),
                 "Relu": ([node("Relu", "x", "t")], TensorProto.FLOAT),
                 "Unique": ([node("Unique", "x", "u"), node("Unsqueeze", "u,zero", "t")], TensorProto.FLOAT),
                 "Compress": ([node("Compress", "x,f", "t", axis=0)], TensorProto.FLOAT)}
    weights = [constant("w", np.ones((3, 4))), integers("a", 0), integers("b", 1), integers("zero", 0), integers("h", 2, 3),
               constant("f", [False, True], "bool")]
    for made, (first, kind) in producers.items():
        for used, then in consumers.items():
            for shape in ((2, 3), (1, 5), (1000, 1000), (0, 3), (3,), (), (2, 3, 4)):
                declared = model([*first, *(then if isinstance(then, list) else [then])], [x], initializers=weights)
                declared.graph.value_info.append(info("t", shape, kind))
                add(f"{made}_{used}_declared_{'x'.join(map(str, shape)) or 'scalar'}", declared, None)
        for other in (TensorProto.INT64, TensorProto.INT8, TensorProto.STRING, TensorProto.DOUBLE, TensorProto.BOOL):
            declared = model([*first, node("Relu", "t", "y")], [x], [info("y", (2, 3), other)], initializers=weights)
            declared.graph.value_info.append(info("t", (2, 3), other))
            add(f"{made}_declared_type_{other}", declared, None)
    for shape in ((3,), (2, 4), (7, 7), (), (2, 3, 1)):
        add(f"output_declared_{shape}", model(node("Relu", "x", "y"), [x], [info("y", shape)]), None)


declarations()
