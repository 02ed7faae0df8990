"""Faults that users met in ONNX runtimes, each reduced to the smallest input, with the right answer.

A case is a list of nodes, the arrays that they read, and the arrays that must come out. `judged` False: the reference
evaluator of onnx is not asked, for the reason beside the case.
"""

import collections

import numpy as np
from onnx import helper

FaultCase = collections.namedtuple("FaultCase", "name opset nodes inputs outputs judged tolerance")

NAN = float("nan")
INF = float("inf")
CASES = []


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(","), outputs.split(","), **attributes)


def add(name, opset, nodes, inputs, outputs, judged=True, tolerance=("1e-5", "1e-6")):
    nodes = nodes if isinstance(nodes, list) else [nodes]
    CASES.append(FaultCase(name, opset, nodes, inputs, outputs, judged, tolerance))


def f32(values, shape=None):
    array = np.array(values, np.float32)
    return array if shape is None else array.reshape(shape)


def i32(*values):
    return np.array(values, np.int32)


def i64(*values):
    return np.array(values, np.int64)


def resize_cases():
    line = f32(np.linspace(0, 1, 20), [1, 1, 1, 20])
    # The source of element 4 is exactly 14.5.
    add("resize_rounds_an_exact_tie_up", 19,
        node("Resize", "x,,,sizes", "y", mode="nearest", nearest_mode="round_prefer_ceil"),
        {"x": line, "sizes": i64(1, 1, 1, 6)}, {"y": line[..., [1, 5, 8, 11, 15, 18]]})
    add("resize_grows_other_axes", 19, node("Resize", "x,,,sizes", "y", mode="linear"),
        {"x": f32([1], [1, 1, 1, 1]), "sizes": i64(1, 2, 2, 1)}, {"y": np.ones([1, 2, 2, 1], np.float32)})
    short = f32([1, 2, 3, 4], [1, 1, 1, 4])
    for mode, expected in (("align_corners", 1 + 3 * np.arange(8) / 7), ("asymmetric", [1, 1.5, 2, 2.5, 3, 3.5, 4, 4])):
        add(f"resize_{mode}", 19, node("Resize", "x,,,sizes", "y", mode="linear", coordinate_transformation_mode=mode),
            {"x": short, "sizes": i64(1, 1, 1, 8)}, {"y": f32(expected, [1, 1, 1, 8])})


def pool_cases():
    five = f32([1, 2, 3, 4, 5], [1, 1, 5])
    padded = {"kernel_shape": [3], "strides": [3], "pads": [1, 1], "ceil_mode": 1}
    add("max_pool_window_in_the_padding", 22, node("MaxPool", "x", "y", **padded), {"x": five}, {"y": f32([[[2, 5]]])})
    add("average_pool_window_in_the_padding", 22, node("AveragePool", "x", "y", count_include_pad=0, **padded),
        {"x": five}, {"y": f32([[[1.5, 4]]])})
    add("average_pool_ceil_divides_by_real_cells", 22,
        node("AveragePool", "x", "y", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        {"x": f32(np.arange(1, 17), [1, 1, 4, 4])}, {"y": f32([6, 7.5, 12, 13.5], [1, 1, 2, 2])})


def reduce_cases():
    data = f32(np.arange(1, 13), [3, 2, 2])
    add("reduce_noop_without_axes", 13, node("ReduceSum", "x", "y", noop_with_empty_axes=1), {"x": data}, {"y": data})
    add("reduce_noop_with_empty_axes", 13, node("ReduceSum", "x,axes", "y", noop_with_empty_axes=1),
        {"x": data, "axes": i64()}, {"y": data})
    for op, x, y in (("ReduceSumSquare", [-2, 3], [4, 9]), ("ReduceL1", [-2, 3], [2, 3]),
                     ("ReduceLogSum", [2, 3], np.log([2, 3])), ("ReduceLogSumExp", [2, 3], [2, 3])):
        add(f"{op}_noop_keeps_the_elementwise_part", 18, node(op, "x,axes", "y", noop_with_empty_axes=1),
            {"x": f32(x), "axes": i64()}, {"y": f32(y)})
    for op, of_nothing in (("ReduceSum", 0), ("ReduceProd", 1), ("ReduceMax", -INF), ("ReduceMin", INF)):
        opset = 13 if op == "ReduceSum" else 18
        add(f"{op}_of_nothing", opset, node(op, "x", "y", keepdims=1), {"x": f32([])}, {"y": f32([of_nothing])},
            tolerance=("0", "0"))
        add(f"{op}_of_an_empty_axis", opset, node(op, "x,axes", "y", keepdims=0),
            {"x": np.zeros([3, 0, 4], np.float32), "axes": i64(1)}, {"y": np.full([3, 4], of_nothing, np.float32)},
            tolerance=("0", "0"))
        add(f"{op}_to_nothing", opset, node(op, "x,axes", "y", keepdims=1),
            {"x": np.zeros([0, 0], np.float32), "axes": i64(0)}, {"y": np.zeros([1, 0], np.float32)})


def index_cases():
    table = f32(np.arange(12), [3, 4])
    add("gather_elements_of_negative_indices", 13, node("GatherElements", "x,i", "y", axis=1),
        {"x": table, "i": np.full([3, 4], -1, np.int64)}, {"y": f32(np.repeat([3, 7, 11], 4), [3, 4])})
    add("gather_nd_of_negative_indices", 13, node("GatherND", "x,i", "y"),
        {"x": table, "i": np.array([[-1, -1], [0, -2]])}, {"y": f32([11, 2])})
    add("scatter_nd_to_negative_indices", 18, node("ScatterND", "x,i,u", "y"),
        {"x": np.zeros([3, 4], np.float32), "i": np.array([[-1], [0]]), "u": f32([[1, 2, 3, 4], [5, 6, 7, 8]])},
        {"y": f32([[5, 6, 7, 8], [0, 0, 0, 0], [1, 2, 3, 4]])})
    add("one_hot_of_a_negative_index", 11, node("OneHot", "i,depth,values", "y"),
        {"i": i64(-1, 1), "depth": np.int64(5), "values": f32([0, 1])}, {"y": f32([[0, 0, 0, 0, 1], [0, 1, 0, 0, 0]])})
    for size, start, end, step in ((10, 9, 0, -1), (10, 7, 0, -1), (10, 9, 2, -1), (10, 9, 0, -3), (20, 19, 0, -3)):
        x = np.arange(size, dtype=np.float32)
        add(f"slice_{size}_from_{start}_to_{end}_by_{step}", 13, node("Slice", "x,starts,ends,axes,steps", "y"),
            {"x": x, "starts": i64(start), "ends": i64(end), "axes": i64(0), "steps": i64(step)},
            {"y": x[start:end:step]})


def conv_transpose_cases():
    add("conv_transpose_same_upper", 11, node("ConvTranspose", "x,w", "y", auto_pad="SAME_UPPER"),
        {"x": f32([2, 3, 4, 5], [1, 1, 2, 2]), "w": f32(np.arange(2, 11), [1, 1, 3, 3])},
        {"y": f32([49, 63, 91, 105], [1, 1, 2, 2])})
    # Ones in both: an output counts its taps. The one cell that is cut lies at the end.
    counts = [1, 1, 2, 1, 2, 1, 2, 1, 2, 1]
    add("conv_transpose_same_upper_by_2", 11, node("ConvTranspose", "x,w", "y", auto_pad="SAME_UPPER", strides=[2, 2]),
        {"x": np.ones([1, 1, 5, 5], np.float32), "w": np.ones([1, 1, 3, 3], np.float32)},
        {"y": f32(np.outer(counts, counts), [1, 1, 10, 10])})


def split_cases():
    # The part that nobody wants is a part all the same.
    add("split_with_an_absent_last_part", 13, node("Split", "x", "y,", axis=0), {"x": f32([1, 2, 3, 4, 5, 6])},
        {"y": f32([1, 2, 3])})


def nan_cases():
    column = f32([[NAN], [1], [2]])
    add("max_keeps_nan", 13, node("Max", "a,b", "y"), {"a": column, "b": f32([10])}, {"y": f32([[NAN], [10], [10]])})
    add("min_keeps_nan", 13, node("Min", "a,b", "y"), {"a": column, "b": f32([10])}, {"y": column})
    add("clip_keeps_nan", 13, node("Clip", "x,low,high", "y"),
        {"x": f32([NAN, 0, 20]), "low": f32(-10), "high": f32(10)}, {"y": f32([NAN, 0, 10])})
    # Long enough for full vectors and a tail.
    long = f32([NAN, -20, 0, 20, NAN, 3, -3] * 5)
    bounds = {"low": f32(-10), "high": f32(10)}
    for name, nodes in (("clip", [node("Clip", "x,low,high", "y")]),
                        ("max_min", [node("Max", "x,low", "t"), node("Min", "t,high", "y")]),
                        ("min_max", [node("Min", "x,high", "t"), node("Max", "t,low", "y")])):
        add(f"{name}_keeps_nan_in_long_rows", 13, nodes, {"x": long, **bounds}, {"y": np.clip(long, -10, 10)})
    add("relu_clip_keeps_nan", 13, [node("Relu", "x", "t"), node("Clip", "t,low,high", "y")],
        {"x": long, **bounds}, {"y": np.clip(long, 0, 10)})
    add("clip_of_crossed_bounds", 13, node("Clip", "x,low,high", "y"),
        {"x": f32([-3, 0, 9]), "low": f32(5), "high": f32(1)}, {"y": f32([1, 1, 1])})
    for opset in (13, 14):
        x = np.array([-2, -0.5, 0.5, 2, NAN], np.float64)
        add(f"relu_clip_of_double_{opset}", opset, [node("Relu", "x", "t"), node("Clip", "t,low,high", "y")],
            {"x": x, "low": np.float64(-1), "high": np.float64(1)}, {"y": np.clip(x, 0, 1)})


def norm_cases():
    steps = f32([[40000, 40001, 40002, 40003]])
    add("layer_norm_far_from_zero", 17, node("LayerNormalization", "x,s", "y", epsilon=1e-5),
        {"x": steps, "s": np.ones(4, np.float32)}, {"y": f32([[-1.3416355, -0.4472118, 0.4472118, 1.3416355]])})
    add("layer_norm_of_a_constant_row", 17, node("LayerNormalization", "x,s", "y"),
        {"x": np.full([1, 256], 1234, np.float32), "s": np.ones(256, np.float32)},
        {"y": np.zeros([1, 256], np.float32)})
    rng = np.random.RandomState(7)
    x = (rng.uniform(500, 8000, [4, 32]) * rng.choice([-1, 1], [4, 32])).astype(np.float16)
    scale = rng.uniform(0.5, 2, 32).astype(np.float16)
    wide = x.astype(np.float64)
    centred = wide - wide.mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale
    # The reference evaluator computes in float16, where the squares overflow.
    for opset in (17, 18):
        add(f"layer_norm_of_large_halves_{opset}", opset, node("LayerNormalization", "x,s", "y", stash_type=1),
            {"x": x, "s": scale}, {"y": normal.astype(np.float16)}, judged=False, tolerance=("2e-3", "2e-3"))
    add("rms_norm_of_large_halves", 23, node("RMSNormalization", "x,s", "y", stash_type=1), {"x": x, "s": scale},
        {"y": (wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-5) * scale).astype(np.float16)},
        judged=False, tolerance=("2e-3", "2e-3"))


def integer_cases():
    exact = ("0", "0")
    add("pow_of_integers", 15, node("Pow", "x,e", "y"), {"x": i32(3, 5), "e": i32(1, 3)}, {"y": i32(3, 125)},
        tolerance=exact)
    # Undefined in the standard: truncate, saturate, NaN gives 0.
    values = f32([NAN, INF, -INF, -1.5, 300, 1e10] * 7)
    for number, dtype, expected in ((3, np.int8, [0, 127, -128, -1, 127, 127]),
                                    (12, np.uint32, [0, 2**32 - 1, 0, 0, 300, 2**32 - 1]),
                                    (6, np.int32, [0, 2**31 - 1, -2**31, -1, 300, 2**31 - 1]),
                                    (7, np.int64, [0, 2**63 - 1, -2**63, -1, 300, 10**10])):
        add(f"cast_out_of_range_to_{np.dtype(dtype).name}", 13, node("Cast", "x", "y", to=number), {"x": values},
            {"y": np.array(expected * 7, dtype)}, judged=False, tolerance=exact)
    # Undefined in the standard: 0 for a zero divisor, and integers wrap around.
    low = -2**31
    for op, expected in (("Div", i32(0, 0, low)), ("Mod", i32(0, 0, 0))):
        add(f"{op}_by_zero_and_minus_one", 13, node(op, "a,b", "y"), {"a": i32(1, -5, low), "b": i32(0, 0, -1)},
            {"y": expected}, judged=False, tolerance=exact)


def empty_cases():
    add("gemm_of_no_rows", 13, node("Gemm", "a,b", "y"),
        {"a": np.zeros([0, 1030], np.float32), "b": np.ones([1030, 4], np.float32)},
        {"y": np.zeros([0, 4], np.float32)})
    add("gemm_of_no_columns_in_a", 13, node("Gemm", "a,b,c", "y"),
        {"a": np.zeros([2, 0], np.float32), "b": np.zeros([0, 3], np.float32), "c": f32([1, 2, 3])},
        {"y": f32([[1, 2, 3], [1, 2, 3]])})
    add("mul_of_no_rows", 13, node("Mul", "a,b", "y"), {"a": np.zeros([0, 3], np.float32), "b": f32([[1, 2, 3]])},
        {"y": np.zeros([0, 3], np.float32)})
    add("concat_with_nothing", 13, node("Concat", "a,b", "y", axis=0), {"a": f32([]), "b": f32([1, 2])},
        {"y": f32([1, 2])})


def type_cases():
    add("min_of_int8", 13, node("Min", "a,b", "y"), {"a": np.array([1, -5], np.int8), "b": np.array([0, 3], np.int8)},
        {"y": np.array([0, -5], np.int8)})
    x = np.array([0, 0.5, -1, 2], np.float64)
    # The reference evaluator computes it in float.
    add("erf_of_double", 13, node("Erf", "x", "y"), {"x": x},
        {"y": np.array([0, 0.5204998778130465, -0.8427007929497149, 0.9953222650189527])}, judged=False,
        tolerance=("1e-13", "1e-13"))
    add("cos_of_double", 7, node("Cos", "x", "y"), {"x": x}, {"y": np.cos(x)}, tolerance=("1e-13", "1e-13"))
    add("unique_of_int32", 11, node("Unique", "x", "y,first,inverse,counts"), {"x": i32(2, 1, 1, 3)},
        {"y": i32(1, 2, 3), "first": i64(1, 0, 3), "inverse": i64(1, 0, 0, 2), "counts": i64(2, 1, 1)})
    add("one_hot_of_int32", 11, node("OneHot", "i,depth,values", "y"),
        {"i": i32(0, 2), "depth": np.int32(3), "values": f32([0, 1])}, {"y": f32([[1, 0, 0], [0, 0, 1]])})


for group in (resize_cases, pool_cases, reduce_cases, index_cases, conv_transpose_cases, split_cases, nan_cases,
              norm_cases, integer_cases, empty_cases, type_cases):
    group()
