"""Tensors that no memory holds, and empty tensors with an axis longer than any table: little memory."""

import numpy as np

from hostile_case import add, constant, info, integers, model, node

LONG = 2**40


def asked_by_name():
    """Outputs that no memory holds: refused, and how."""
    constant_of = lambda n: model(node("ConstantOfShape", "s", "y"), [], initializers=[integers("s", n)])
    add("constant_of_2_to_the_40", constant_of(2**40), ("run:Fail", "load:Fail"), "memory|limit", "ConstantOfShape|bytes")
    add("constant_of_2_to_the_40_limited", constant_of(2**40), "run:Fail", "memory", "bytes", limit=1 << 20)
    add("constant_of_2_to_the_24_limited", constant_of(2**24), "run:Fail", "memory limit", "1048576", limit=1 << 20)
    add("tile_2_to_the_31", model(node("Tile", "x,r", "y"), [info("x", (4,))], initializers=[integers("r", 2**31)]),
        ("run:Fail", "load:Fail"), "memory|limit")
    add("two_halves_of_everything", model([node("ConstantOfShape", "s", "a"), node("ConstantOfShape", "s", "b"),
                                           node("Add", "a,b", "y")], [], initializers=[integers("s", 2**60)]), None)
    for op, kinds in (("Div", ("int32", "int64", "int8", "uint8")), ("Mod", ("int32", "int64", "int8", "uint8"))):
        for kind in kinds:
            low = np.iinfo(kind).min
            add(f"{op}_by_zero_of_{kind}", model(node(op, "a,b", "y"), [], initializers=[
                constant("a", [1, low, low], kind), constant("b", [0, 0, -1 if low else 0], kind)]), "ran")


def long_outputs():
    """Refused before anything as long as an axis of the output is made."""
    x, plane = info("x", (4,)), info("x", (1, 1, 4, 4))
    few = {"peak_mib": 60, "seconds": 1}
    for mode in ("constant", "reflect", "edge", "wrap"):
        for pads in ((LONG, 0), (0, LONG), (LONG, 1 - LONG)):
            outcome = "ran" if sum(pads) == 1 else ("run:Fail", "load:Fail")
            add(f"pad_{mode}_{pads}", model(node("Pad", "x,p", "y", mode=mode), [x], initializers=[integers("p", *pads)], opset=19),
                outcome, **few)
    for mode in ("nearest", "linear", "cubic"):
        add(f"resize_{mode}", model(node("Resize", "x,,,s", "y", mode=mode), [plane],
                                    initializers=[integers("s", 1, 1, 4, LONG)], opset=19), ("run:Fail", "load:Fail"), **few)


def empty_but_long():
    """Tensors without elements of which one axis is longer than any table."""
    weights = [constant("w", np.ones((1, 1, 3))), constant("s", np.ones(1)), integers("zero", 0), integers("one", 1),
               integers("two", 1, 1, 1, 2), constant("f", [True], "bool"), constant("k", 1, "int64")]
    nodes = {
        "Pad": node("Pad", "x,p", "y", mode="reflect"), "Pad_edge": node("Pad", "x,p", "y", mode="edge"),
        "Resize": node("Resize", "x,,h", "y"), "Resize_linear": node("Resize", "x,,h", "y", mode="linear"),
        "Resize_cubic": node("Resize", "x,,h", "y", mode="cubic", antialias=1), "Tile": node("Tile", "x,two", "y"),
        "MeanVarianceNormalization": node("MeanVarianceNormalization", "x", "y", axes=[0, 2]),
        "MatMul": node("MatMul", "x,x2", "y"), "MatMul_broadcast": node("MatMul", "x,x3", "y"),
        "Gemm": [node("Flatten", "x", "m"), node("Gemm", "m,m", "y", transB=1)],
        "Einsum": node("Einsum", "x,x", "y", equation="abcd,abcd->abcd"), "Concat": node("Concat", "x,x", "y", axis=0),
        "Split": node("Split", "x", "y,y2", axis=3, num_outputs=2), "CumSum": node("CumSum", "x,k", "y"),
        "Slice": node("Slice", "x,zero,one,zero", "y"), "Gather": node("Gather", "x,zero", "y", axis=2),
        "GatherElements": [node("Cast", "x", "i", to=7), node("GatherElements", "x,i", "y", axis=1)],
        "ScatterElements": [node("Cast", "x", "i", to=7), node("ScatterElements", "x,i,x", "y", axis=1)],
        "TopK": node("TopK", "x,zero", "y,i", axis=1), "Trilu": node("Trilu", "x", "y"),
        "OneHot": [node("Cast", "x", "i", to=7), node("Concat", "s,s", "v", axis=0), node("OneHot", "i,one,v", "y")],
        "DepthToSpace": node("DepthToSpace", "x", "y", blocksize=1), "Where": node("Where", "f,x,x", "y"),
        "SpaceToDepth": node("SpaceToDepth", "x", "y", blocksize=1), "Compress": node("Compress", "x,f", "y", axis=0),
        "Conv": [node("Squeeze", "x,zero", "c"), node("Conv", "c,w", "y")], "Add": node("Add", "x,s", "y"),
        "LRN": node("LRN", "x", "y", size=3), "GlobalAveragePool": node("GlobalAveragePool", "x", "y"),
        "MaxPool": node("MaxPool", "x", "y", kernel_shape=[1, 1]), "NonZero": node("NonZero", "x", "y"),
        "AveragePool": node("AveragePool", "x", "y", kernel_shape=[1, 1]), "Unique": node("Unique", "x", "y", axis=1),
        "Where_few": node("Where", "f,x,s", "y"), "Expand": node("Expand", "x,two", "y"),
        "QuantizeLinear": node("QuantizeLinear", "x,s", "y"), "Det": node("Det", "x", "y"), "Hardmax": node("Hardmax", "x", "y"),
        "InstanceNormalization": node("InstanceNormalization", "x,s,s", "y"), "Shape": node("Shape", "x", "y"),
        "LpNormalization": node("LpNormalization", "x", "y", axis=1), "Transpose": node("Transpose", "x", "y", perm=[3, 1, 0, 2])}
    for op in ("Sum", "Mean", "Max", "Prod", "L2", "LogSumExp"):
        nodes[f"Reduce{op}_0"] = node(f"Reduce{op}", "x,zero", "y")
        nodes[f"Reduce{op}_1"] = node(f"Reduce{op}", "x,one", "y")
    for op in ("Softmax", "LogSoftmax", "ArgMax"):
        nodes[f"{op}_1"], nodes[f"{op}_3"] = node(op, "x", "y", axis=1), node(op, "x", "y", axis=3)
    for name, each in nodes.items():
        for shape in ((1, 1, LONG, 0), (1, LONG, 0, 1), (1, 0, 1, LONG), (LONG, 1, 1, 0), (0, 1, LONG, 1)):
            made = [node("ConstantOfShape", "shape", "x"), node("Transpose", "x", "x2", perm=[0, 1, 3, 2]),
                    node("ReduceSum", "x2,one", "x3")]
            # The scales and pads are no constants, so that the node is not folded away.
            sums = [node("Add", "h0,h1", "h"), node("Add", "p0,p1", "p")]
            given = [info("h1", (4,)), info("p1", (8,), 7)]
            rest = [integers("shape", *shape), constant("h0", [1, 1, 2, 1]), integers("p0", 0, 0, 1, 1, 0, 0, 1, 1)]
            add(f"{name}_of_{shape}", model([*made, *sums, *(each if isinstance(each, list) else [each])], given,
                                            initializers=[*weights, *rest], opset=19), None, peak_mib=60, seconds=1)


for group in (asked_by_name, long_outputs, empty_but_long):
    group()
