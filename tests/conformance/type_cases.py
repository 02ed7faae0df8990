"""One small call of an operator for each element type that its newest schema allows.

SIGNATURES is the table: operator -> its inputs and attributes. An input is a shape (its elements have the type under
test) or an array (of its own type); None leaves the input out.
"""

import ml_dtypes
import numpy as np
import onnx
from onnx import helper

OPSET = 28
TYPES = {
    "float": np.float32, "double": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16,
    "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "bool": np.bool_, "complex64": np.complex64, "complex128": np.complex128, "string": np.object_,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn, "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2, "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu, "float4e2m1": ml_dtypes.float4_e2m1fn,
    "uint4": ml_dtypes.uint4, "int4": ml_dtypes.int4, "uint2": ml_dtypes.uint2, "int2": ml_dtypes.int2,
}
WIDE_FLOATS = ("float", "double", "float16", "bfloat16")
TOLERANCES = {"float16": ("1e-2", "1e-2"), "bfloat16": ("4e-2", "4e-2")}
POSITIVE = ("BatchNormalization", "Log", "Pow", "ReduceLogSum", "Sqrt")  # of positive elements only


def i64(*values):
    return np.array(values, np.int64)


MASK = np.array([[True], [False], [True]])
UNARY = """Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Cos Cosh CumProd CumSum Elu Erf Exp Floor Gelu
    HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Log Mish Neg Not Reciprocal Relu Round Selu Shrink Sigmoid Sign
    Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu""".split()
ROWS = """ArgMax ArgMin Dropout Flatten Hardmax LogSoftmax NonZero ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp
    ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Shape Size Softmax Transpose Trilu""".split()
BINARY = """Add And BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod
    Mul Or PRelu Pow Sub Sum Xor""".split()
KERNEL_3 = {"kernel_shape": [3, 3]}
SIGNATURES = {
    **{op: ([(3, 4)], {}) for op in UNARY + ROWS},
    **{op: ([(3, 4), (4,)], {}) for op in BINARY},
    "AveragePool": ([(1, 2, 5, 5)], KERNEL_3),
    "BatchNormalization": ([(2, 3, 4), (3,), (3,), (3,), (3,)], {}),
    "Clip": ([(3, 4), (), None], {}),
    "Compress": ([(3, 4), np.array([True, False, True])], {"axis": 0}),
    "Concat": ([(3, 4), (3, 2)], {"axis": 1}),
    "Conv": ([(1, 2, 5, 5), (3, 2, 3, 3)], {"pads": [1, 1, 1, 1]}),
    "ConvTranspose": ([(1, 2, 3, 3), (2, 3, 3, 3)], {}),
    "CumProd": ([(3, 4), np.array(1)], {}),
    "CumSum": ([(3, 4), np.array(1)], {}),
    "DepthToSpace": ([(1, 8, 2, 3)], {"blocksize": 2}),
    "Expand": ([(3, 1), i64(2, 3, 4)], {}),
    "Gather": ([(3, 4), i64(1, -1)], {"axis": 1}),
    "GatherElements": ([(3, 4), np.array([[1, -1], [0, 2], [3, 3]])], {"axis": 1}),
    "GatherND": ([(3, 4), np.array([[1, -1], [0, 2]])], {}),
    "Gemm": ([(3, 4), (4, 5), (5,)], {}),
    "GRU": ([(3, 2, 4), (1, 9, 4), (1, 9, 3), (1, 18)], {"hidden_size": 3}),
    "GlobalAveragePool": ([(1, 2, 5, 5)], {}),
    "GlobalMaxPool": ([(1, 2, 5, 5)], {}),
    "GroupNormalization": ([(2, 4, 5), (4,), (4,)], {"num_groups": 2}),
    "InstanceNormalization": ([(2, 3, 4), (3,), (3,)], {}),
    "LSTM": ([(3, 2, 4), (1, 12, 4), (1, 12, 3), (1, 24)], {"hidden_size": 3}),
    "LayerNormalization": ([(2, 3, 8), (8,), (8,)], {}),
    "MatMul": ([(2, 3, 4), (4, 5)], {}),
    "MaxPool": ([(1, 2, 5, 5)], KERNEL_3),
    "Pad": ([(3, 4), i64(1, 0, 0, 2)], {}),
    "RMSNormalization": ([(2, 3, 8), (8,)], {}),
    "RNN": ([(3, 2, 4), (1, 3, 4), (1, 3, 3), (1, 6)], {"hidden_size": 3}),
    "Reshape": ([(3, 4), i64(2, -1)], {}),
    "Resize": ([(1, 1, 3, 4), None, None, i64(1, 1, 5, 7)], {"mode": "nearest"}),
    "ScatterElements": ([(3, 4), np.array([[1, -1], [0, 2]]), (2, 2)], {"axis": 1}),
    "ScatterND": ([(3, 4), np.array([[1], [-1]]), (2, 4)], {}),
    "Slice": ([(5, 7), i64(-1), i64(-100), i64(1), i64(-2)], {}),
    "SpaceToDepth": ([(1, 2, 4, 6)], {"blocksize": 2}),
    "Split": ([(5, 7), i64(5, 2)], {"axis": 1}),
    "Squeeze": ([(3, 1, 5), i64(1)], {}),
    "Tile": ([(3, 4), i64(2, 1)], {}),
    "TopK": ([(3, 4), i64(2)], {}),
    "Unsqueeze": ([(3, 5), i64(1)], {}),
    "Where": ([MASK, (3, 4), (4,)], {}),
}
OUTPUTS = {"Split": 2, "TopK": 2}


def elements(generator, name, shape, positive):
    """Small numbers, so that sums and products are exact or nearly so in every type."""
    count = int(np.prod(shape))
    values = generator.integers(1, 8, count).astype(np.float64)
    if name in ("int2", "uint2"):
        values %= 2
    elif name == "string":
        return np.array([f"text {value:.0f}" for value in values], object).reshape(shape)
    elif name in WIDE_FLOATS:
        values /= 2
    if not positive and (name in WIDE_FLOATS or name in ("int8", "int16", "int32", "int64")):
        values *= generator.choice([-1, 1], count)
    return values.astype(TYPES[name]).reshape(shape)


def allowed_types(op):
    """Names of the types of the first input that has the type under test."""
    schema = onnx.defs.get_schema(op, OPSET)
    at = next(i for i, each in enumerate(SIGNATURES[op][0]) if isinstance(each, tuple))
    variable = schema.inputs[at].type_str
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}.get(variable, [variable])
    return sorted(name for name in TYPES if f"tensor({name})" in allowed)


def type_info(name, array):
    kind = onnx.TensorProto.STRING if array.dtype == object else helper.np_dtype_to_tensor_dtype(array.dtype)
    return helper.make_tensor_value_info(name, kind, array.shape)


def type_cases(known):
    """(case name, type name, model, {input name: array}) of every operator in `known` that the table has."""
    for op, (inputs, attributes) in SIGNATURES.items():
        if f"ai.onnx.{op}" not in known:
            continue
        for type_name in allowed_types(op):
            generator = np.random.default_rng(3)
            feeds = {f"x{i}": elements(generator, type_name, each, op in POSITIVE) if isinstance(each, tuple) else each
                     for i, each in enumerate(inputs) if each is not None}
            names = ["" if each is None else f"x{i}" for i, each in enumerate(inputs)]
            outputs = [f"y{i}" for i in range(OUTPUTS.get(op, 1))]
            graph = helper.make_graph([helper.make_node(op, names, outputs, **attributes)], op,
                                      [type_info(name, array) for name, array in feeds.items()],
                                      [helper.make_empty_tensor_value_info(name) for name in outputs])
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=13)
            yield f"{op}_{type_name}", type_name, onnx.shape_inference.infer_shapes(model, strict_mode=True), feeds
