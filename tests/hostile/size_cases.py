"""Every size that an operator takes, absurdly large or negative: an error or a small result, and little memory."""

import numpy as np
from onnx import TensorProto, helper

from hostile_case import add, constant, info, integers, model, node, untyped

HUGE = (2**40, 2**63 - 1, -2**63)


def floats(name, *values):
    return constant(name, list(values), "float32")


def scalar(name, value, dtype="int64"):
    return constant(name, value, dtype)


def operators(n):
    """(name, node, inputs, initializers, opset) with a size of n."""
    x, plane, cube = info("x", (4,)), info("x", (1, 1, 4, 4)), info("x", (1, 1, 4))
    half = max(n, 1) if n > 0 else n
    yield "ConstantOfShape", node("ConstantOfShape", "s", "y"), [], [integers("s", n)]
    yield "ConstantOfShape_squared", node("ConstantOfShape", "s", "y"), [], [integers("s", n, n)]
    yield "Tile", node("Tile", "x,r", "y"), [x], [integers("r", n)]
    yield "Expand", node("Expand", "x,s", "y"), [x], [integers("s", n, 4)]
    yield "Range", node("Range", "a,b,c", "y"), [], [scalar("a", 0), scalar("b", n), scalar("c", 1)]
    yield "Range_back", node("Range", "a,b,c", "y"), [], [scalar("a", -2**63), scalar("b", 2**63 - 1), scalar("c", n)]
    yield "Pad", node("Pad", "x,p", "y"), [x], [integers("p", n, 0)]
    yield "Pad_both", node("Pad", "x,p", "y"), [x], [integers("p", n, n)]
    for mode in ("reflect", "edge", "wrap"):
        yield f"Pad_{mode}", node("Pad", "x,p", "y", mode=mode), [x], [integers("p", n, 0)], 19
    yield "OneHot", node("OneHot", "i,d,v", "y"), [], [integers("i", 0, 1), scalar("d", n), floats("v", 0, 1)]
    yield "Resize", node("Resize", "x,,,s", "y", mode="nearest"), [plane], [integers("s", 1, 1, n, 4)]
    yield "Resize_scale", node("Resize", "x,,s", "y", mode="linear"), [plane], [floats("s", 1, 1, float(n), 4)]
    yield "Upsample", node("Upsample", "x,s", "y"), [plane], [floats("s", 1, 1, float(n), 4)], 9
    yield "Reshape", node("Reshape", "x,s", "y"), [x], [integers("s", n, 4)]
    yield "Reshape_two", node("Reshape", "x,s", "y"), [x], [integers("s", -1, n, n)]
    yield "Unsqueeze", node("Unsqueeze", "x,a", "y"), [x], [integers("a", n)]
    yield "Squeeze", node("Squeeze", "x,a", "y"), [info("x", (1, 4))], [integers("a", n)]
    yield "Slice", node("Slice", "x,a,b", "y"), [x], [integers("a", n), integers("b", n)]
    yield "Slice_step", node("Slice", "x,a,b,c,d", "y"), [x], [integers("a", 0), integers("b", 2**63 - 1), integers("c", 0),
                                                            integers("d", n)]
    yield "Slice_axis", node("Slice", "x,a,b,c", "y"), [x], [integers("a", 0), integers("b", 1), integers("c", n)]
    yield "Gather", node("Gather", "x,i", "y"), [x], [integers("i", n)]
    yield "GatherND", node("GatherND", "x,i", "y"), [x], [integers("i", n)]
    yield "GatherElements", node("GatherElements", "x,i", "y"), [x], [integers("i", n)]
    yield "ScatterND", node("ScatterND", "x,i,u", "y"), [x], [constant("i", [[n]], "int64"), floats("u", 1)]
    yield "ScatterElements", node("ScatterElements", "x,i,u", "y"), [x], [integers("i", n), floats("u", 1)]
    yield "ArrayFeatureExtractor", node("ArrayFeatureExtractor", "x,i", "y", domain="ai.onnx.ml"), [info("x", (10, 1))], [
        integers("i", n)]
    yield "Concat", node("Concat", "x,x", "y", axis=n), [x], []
    yield "Transpose", node("Transpose", "x", "y", perm=[n]), [x], []
    yield "Flatten", node("Flatten", "x", "y", axis=n), [x], []
    yield "Split", node("Split", "x", "y,z", axis=n), [x], []
    yield "Softmax", node("Softmax", "x", "y", axis=n), [x], []
    yield "ReduceSum", node("ReduceSum", "x,a", "y"), [x], [integers("a", n)]
    yield "ArgMax", node("ArgMax", "x", "y", axis=n), [x], []
    yield "CumSum", node("CumSum", "x,a", "y"), [x], [scalar("a", n)]
    yield "TopK", node("TopK", "x,k", "y,z"), [x], [integers("k", n)]
    yield "Trilu", node("Trilu", "x,k", "y"), [info("x", (4, 4))], [scalar("k", n)]
    yield "EyeLike", node("EyeLike", "x", "y", k=n), [info("x", (4, 4))], []
    yield "DepthToSpace", node("DepthToSpace", "x", "y", blocksize=n), [info("x", (1, 4, 2, 2))], []
    yield "SpaceToDepth", node("SpaceToDepth", "x", "y", blocksize=n), [plane], []
    yield "LRN", node("LRN", "x", "y", size=n), [plane], []
    yield "ReverseSequence", node("ReverseSequence", "x,l", "y"), [info("x", (4, 2))], [integers("l", n, n)]
    yield "Cast", node("Cast", "x", "y", to=n), [x], []
    yield "RandomNormal", node("RandomNormal", "", "y", shape=[n]), [], []
    yield "RandomUniform", node("RandomUniform", "", "y", shape=[n, n]), [], []
    yield "Multinomial", node("Multinomial", "x", "y", sample_size=n), [info("x", (1, 4))], []
    yield "HannWindow", node("HannWindow", "n", "y"), [], [scalar("n", n)]
    yield "DFT", node("DFT", "x,n", "y"), [info("x", (1, 4, 1))], [scalar("n", n)]
    yield "STFT", node("STFT", "x,n,,l", "y"), [info("x", (1, 16, 1))], [scalar("n", 1), scalar("l", n)]
    yield "MelWeightMatrix", node("MelWeightMatrix", "a,b,c,d,e", "y"), [], [
        scalar("a", n), scalar("b", n), scalar("c", 16000), scalar("d", 0, "float32"), scalar("e", 8000, "float32")]
    yield "AffineGrid", node("AffineGrid", "x,s", "y"), [info("x", (1, 2, 3))], [integers("s", 1, 1, n, n)], 20
    yield "RoiAlign", node("RoiAlign", "x,r,b", "y", output_height=n, output_width=n), [plane, info("r", (1, 4))], [
        integers("b", 0)]
    yield "RoiAlign_batch", node("RoiAlign", "x,r,b", "y"), [plane, info("r", (1, 4))], [integers("b", n)]
    yield "Col2Im", node("Col2Im", "x,i,b", "y"), [info("x", (1, 4, 4))], [integers("i", n, n), integers("b", 2, 2)], 18
    yield "CenterCropPad", node("CenterCropPad", "x,s", "y"), [x], [integers("s", n)], 18
    yield "MaxUnpool", node("MaxUnpool", "x,i,s", "y", kernel_shape=[2, 2]), [plane, info("i", (1, 1, 4, 4), 7)], [
        integers("s", 1, 1, n, n)]
    yield "MaxUnpool_index", node("MaxUnpool", "x,i", "y", kernel_shape=[1]), [cube], [constant("i", [[[n] * 4]], "int64")]
    yield "Compress", node("Compress", "x,c", "y", axis=n), [x], [constant("c", [True], "bool")]
    yield "Unique", node("Unique", "x", "y", axis=n), [x], []
    yield "NonMaxSuppression", node("NonMaxSuppression", "b,s,m", "y"), [info("b", (1, 4, 4)), info("s", (1, 1, 4))], [
        integers("m", n)]
    yield "GroupNormalization", node("GroupNormalization", "x,s,s", "y", num_groups=n), [info("x", (1, 4, 2))], [
        floats("s", 1, 1, 1, 1)], 21
    yield "LayerNormalization", node("LayerNormalization", "x,x", "y", axis=n), [x], []
    for op in ("MaxPool", "AveragePool", "LpPool"):
        yield f"{op}_kernel", node(op, "x", "y", kernel_shape=[n]), [cube], []
        yield f"{op}_stride", node(op, "x", "y", kernel_shape=[2], strides=[n]), [cube], []
        yield f"{op}_pads", node(op, "x", "y", kernel_shape=[2], pads=[n, n]), [cube], []
        yield f"{op}_one_pad", node(op, "x", "y", kernel_shape=[3], pads=[n, 0], ceil_mode=1), [cube], []
    yield "MaxPool_dilation", node("MaxPool", "x", "y", kernel_shape=[2], dilations=[n]), [cube], []
    weights = [constant("w", [[[1, 2, 3]]])]
    for name, attributes in (("stride", {"strides": [n]}), ("pads", {"pads": [n, n]}), ("one_pad", {"pads": [0, n]}),
                             ("dilation", {"dilations": [n]}), ("group", {"group": n}), ("kernel", {"kernel_shape": [n]})):
        yield f"Conv_{name}", node("Conv", "x,w", "y", **attributes), [cube], weights
        yield f"ConvTranspose_{name}", node("ConvTranspose", "x,w", "y", **attributes), [cube], weights
    yield "ConvTranspose_shape", node("ConvTranspose", "x,w", "y", output_shape=[n]), [cube], weights
    yield "ConvTranspose_padding", node("ConvTranspose", "x,w", "y", output_padding=[n]), [cube], weights
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        recurrent = [constant("w", np.zeros((1, gates * 2, 4))), constant("r", np.zeros((1, gates * 2, 2)))]
        yield f"{op}_hidden", node(op, "x,w,r", "y", hidden_size=n), [info("x", (3, 1, 4))], recurrent
        yield f"{op}_lengths", node(op, "x,w,r,,l", "y", hidden_size=2), [info("x", (3, 1, 4))], [
            *recurrent, constant("l", [min(max(n, -2**31), 2**31 - 1)], "int32")]
    yield "Attention", node("Attention", "x,x,x", "y", q_num_heads=n, kv_num_heads=n), [info("x", (1, 4, 8))], [], 23
    yield "BitShift", node("BitShift", "a,b", "y", direction="LEFT"), [], [
        constant("a", [1], "uint64"), constant("b", [n % 2**64], "uint64")]
    yield "Shape", node("Shape", "x", "y", start=n, end=n), [x], [], 15
    yield "Einsum", node("Einsum", "x,x", "y", equation="i,j->" + "ij"), [info("x", (min(half, 1000),)) if n > 0 else x], []
    yield "outer_product", node("MatMul", "a,b", "y"), [], [constant("a", np.zeros((1000, 1))), constant("b", np.zeros((1, 1000)))]


def sizes():
    for n in HUGE:
        for name, each, inputs, initializers, *opset in operators(n):
            opset = opset[0] if opset else 17
            imports = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
            outputs = [untyped(each.output[0])]
            add(f"{name}_of_{n}", model(each, inputs, outputs, initializers, imports=imports), None, peak_mib=300, seconds=20)
            # The same with the sizes given while running: inputs are zeros, so they come out of a sum.
            sums, given = [], list(inputs)
            for k, tensor in enumerate(initializers):
                if tensor.data_type != TensorProto.INT64:
                    continue
                zero = f"zero{k}"
                given.append(info(zero, tuple(tensor.dims), TensorProto.INT64))
                sums.append(node("Add", f"{tensor.name}_given,{zero}", tensor.name))
            if sums:
                renamed = []
                for tensor in initializers:
                    copy = type(tensor)()
                    copy.CopyFrom(tensor)
                    if tensor.data_type == TensorProto.INT64:
                        copy.name += "_given"
                    renamed.append(copy)
                add(f"{name}_of_{n}_while_running", model([*sums, each], given, outputs, renamed, imports=imports), None,
                    peak_mib=300, seconds=20)


sizes()
