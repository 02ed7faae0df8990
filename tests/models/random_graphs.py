"""Small random models of float32: chains and branches of most operators, with their inputs.

A number is a model: RandomGraph(seed) is the same on every machine. Sizes are 1 to 9, so that channels seldom fill a
vector; values stay near 1, and no operator that jumps takes a computed value, so that runtimes can be compared.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MAX_ELEMENTS = 20000
UNARY = ("Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "HardSwish", "Abs", "Neg", "Erf", "Gelu", "Identity",
         "Dropout", "Softmax", "LogSoftmax")
REDUCE = ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceL1", "ReduceLogSumExp")


class RandomGraph:
    """`model`, and `feeds`: name -> array."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.feeds = [], [], [], {}
        self.shapes = {}  # of each computed value, in order
        self.users = {}
        for _ in range(self.number(1, 2)):
            self.add_input()
        steps = [step for name, step in sorted(vars(RandomGraph).items()) if name.startswith("step_")]
        for _ in range(self.number(2, 18)):
            # Mostly chains: the last value, now and then an earlier one.
            names = list(self.shapes)
            x = names[-1] if self.chance(0.7) else self.pick(names)
            self.pick(steps)(self, x, self.shapes[x])
        outputs = [name for name in self.shapes
                   if name not in self.feeds and (name not in self.users or self.chance(0.1))]
        if not outputs:
            outputs = [self.node("Identity", [list(self.shapes)[-1]], self.shapes[list(self.shapes)[-1]])]
        results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * len(self.shapes[name]))
                   for name in outputs]
        graph = helper.make_graph(self.nodes, "random", self.inputs, results, self.constants)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        self.outputs = outputs

    # Choices.
    def number(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def chance(self, of_one):
        return bool(self.rng.random() < of_one)

    def pick(self, items):
        return items[self.number(0, len(items) - 1)]

    def floats(self, *shape):
        return self.rng.uniform(-1, 1, shape).astype(np.float32)

    # Parts of the model.
    def add_input(self):
        rank = self.pick((2, 3, 4, 4, 4))
        shape = tuple(self.number(1, 9) for _ in range(rank))
        name = f"x{len(self.feeds)}"
        dims = [f"{name}_{i}" if self.chance(0.5) else size for i, size in enumerate(shape)]
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))
        self.feeds[name] = self.floats(*shape)
        self.shapes[name] = shape

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def ints(self, *numbers):
        return self.constant(np.array(numbers, np.int64))

    def node(self, op, inputs, shape, **attributes):
        """Appends a node; a shape of None is for what is no float32 value."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        for each in inputs:
            self.users[each] = True
        if shape is not None:
            self.shapes[name] = tuple(int(size) for size in shape)
        return name

    def axis(self, shape):
        return self.number(-len(shape), len(shape) - 1)

    # Steps: each appends nodes that read x.
    def step_unary(self, x, shape):
        self.node(self.pick(UNARY), [x], shape)

    def step_unary_again(self, x, shape):
        self.step_unary(x, shape)

    def step_clip(self, x, shape):
        low, high = sorted(self.floats(2))
        self.node("Clip", [x, self.pick(("", self.constant(low))), self.pick(("", self.constant(high)))], shape)

    def step_exp(self, x, shape):
        x = self.node("Clip", [x, "", self.constant(np.float32(1))], shape)
        self.node("Exp", [x], shape)

    def step_softmax(self, x, shape):
        self.node(self.pick(("Softmax", "LogSoftmax")), [x], shape, axis=self.axis(shape))

    def step_swish(self, x, shape):
        gate = self.node(self.pick(("Sigmoid", "HardSigmoid")), [x], shape)
        self.node("Mul", self.pick(([x, gate], [gate, x])), shape)

    def step_hard_swish(self, x, shape):
        three, six = self.constant(np.float32(3)), self.constant(np.float32(6))
        y = self.node("Add", [x, three], shape)
        y = self.node("Clip", [y, self.constant(np.float32(0)), six], shape)
        self.node("Div", [self.node("Mul", [x, y], shape), six], shape)

    def step_binary_constant(self, x, shape):
        kind = self.number(0, 3)
        other = (() if kind == 0 else shape if kind == 1 else shape[1:2] + (1,) * (len(shape) - 2) if kind == 2 else
                 tuple(size if self.chance(0.5) else 1 for size in shape))
        op = self.pick(("Add", "Sub", "Mul", "Div", "Max", "Min"))
        array = self.floats(*other)
        c = self.constant(np.sign(array + 1e-3) * (np.abs(array) + np.float32(0.5)) if op == "Div" else array)
        shape = np.broadcast_shapes(shape, other)
        self.node(op, [x, c] if op == "Div" or self.chance(0.7) else [c, x], shape)

    def step_binary_values(self, x, shape):
        fitting = []
        for name, other in self.shapes.items():
            try:
                both = np.broadcast_shapes(shape, other)
            except ValueError:
                continue
            if np.prod(both) <= MAX_ELEMENTS:
                fitting.append((name, both))
        other, both = self.pick(fitting)
        op = self.pick(("Add", "Add", "Sub", "Mul", "Max", "Min"))
        y = self.node(op, [x, other] if self.chance(0.5) else [other, x], both)
        if op == "Mul":
            self.node("Tanh", [y], both)

    def step_sum(self, x, shape):
        same = [name for name, other in self.shapes.items() if other == shape]
        self.node("Sum", [x] + [self.pick(same) for _ in range(self.number(0, 3))], shape)

    def step_scale_and_shift(self, x, shape):
        width = () if self.chance(0.5) or len(shape) < 2 else (shape[1],) + (1,) * (len(shape) - 2)
        x = self.node("Mul", [x, self.constant(self.floats(*width))], shape)
        self.node("Add", [x, self.constant(self.floats(*width))], shape)

    def step_where(self, x, shape):
        c = self.constant(self.floats(1)[0])
        self.node("Where", [self.node("Greater", [x, c], None), x, c], shape)

    def step_cast(self, x, shape):
        self.node("Cast", [self.node("Cast", [x], None, to=TensorProto.DOUBLE)], shape, to=TensorProto.FLOAT)

    def window(self, size):
        """Kernel, stride, dilation, two pads, and the output's size."""
        kernel = self.pick((1, 2, 3, 3, 5))
        dilation = self.pick((1, 1, 1, 2))
        stride = self.pick((1, 1, 2, 3))
        span = (kernel - 1) * dilation + 1
        pads = (self.number(0, kernel - 1), self.number(0, kernel - 1))
        out = (size + sum(pads) - span) // stride + 1
        return (kernel, stride, dilation, pads, out) if size + sum(pads) >= span else (1, 1, 1, (0, 0), size)

    def windows(self, shape):
        each = [self.window(size) for size in shape[2:]]
        kernel, stride, dilation, pads, out = zip(*each)
        return {"kernel_shape": kernel, "strides": stride, "dilations": dilation,
                "pads": [p[0] for p in pads] + [p[1] for p in pads]}, out

    def step_conv(self, x, shape):
        if len(shape) < 3:
            return
        attributes, out = self.windows(shape)
        channels = shape[1]
        group = self.pick([g for g in range(1, channels + 1) if channels % g == 0] + [1, 1, channels])
        filters = group * self.number(1, 9 if group == 1 else 2)
        taps = attributes["kernel_shape"]
        scale = np.float32(1.5 / np.sqrt(channels // group * np.prod(taps)))
        weights = [self.constant(self.floats(filters, channels // group, *taps) * scale)]
        if self.chance(0.5):
            weights.append(self.constant(self.floats(filters)))
        shape = (shape[0], filters, *out)
        x = self.node("Conv", [x] + weights, shape, group=group, **attributes)
        if self.chance(0.4):
            self.step_batch_norm(x, shape)

    def step_conv_again(self, x, shape):
        self.step_conv(x, shape)

    def step_conv_transpose(self, x, shape):
        if len(shape) != 4:
            return
        kernel, stride = self.number(1, 3), self.number(1, 2)
        out = [(size - 1) * stride + kernel for size in shape[2:]]
        filters = self.number(1, 9)
        if filters * np.prod(out) * shape[0] > MAX_ELEMENTS:
            return
        w = self.constant(self.floats(shape[1], filters, kernel, kernel) / np.float32(np.sqrt(shape[1]) * kernel))
        self.node("ConvTranspose", [x, w], (shape[0], filters, *out), strides=[stride] * 2)

    def step_batch_norm(self, x, shape):
        if len(shape) < 2:
            return
        n = shape[1]
        numbers = [self.floats(n), self.floats(n), self.floats(n), np.abs(self.floats(n)) + np.float32(0.5)]
        self.node("BatchNormalization", [x] + [self.constant(each) for each in numbers], shape, epsilon=1e-3)

    def step_pool(self, x, shape):
        if len(shape) < 3:
            return
        attributes, out = self.windows(shape)
        op = self.pick(("MaxPool", "AveragePool"))
        if op == "AveragePool":
            attributes["count_include_pad"] = self.number(0, 1)
        taps, pads = attributes["kernel_shape"], attributes["pads"]
        spans = [(k - 1) * d for k, d in zip(taps, attributes["dilations"])]
        # A window without any element is left out: runtimes differ.
        if any(pad >= min(k, size) for pad, k, size in zip(pads, taps * 2, shape[2:] * 2)) or (
                any(span >= size for span, size in zip(spans, shape[2:]))):
            return
        self.node(op, [x], (*shape[:2], *out), **attributes)

    def step_global_pool(self, x, shape):
        if len(shape) < 3:
            return
        pooled = (*shape[:2], *(1 for _ in shape[2:]))
        y = self.node(self.pick(("GlobalAveragePool", "GlobalMaxPool")), [x], pooled)
        if self.chance(0.7):  # a squeeze-and-excite block
            y = self.node("Sigmoid", [y], pooled)
            self.node("Mul", [x, y], shape)

    def step_reduce(self, x, shape):
        axes = sorted({self.number(0, len(shape) - 1) for _ in range(2)})
        keep = self.number(0, 1) if len(axes) < len(shape) else 1
        out = [1 if i in axes else size for i, size in enumerate(shape) if keep or i not in axes]
        y = self.node(self.pick(REDUCE), [x, self.ints(*axes)], out, keepdims=keep)
        self.node("Tanh", [y], out)

    def step_concat(self, x, shape):
        axis = self.number(0, len(shape) - 1)
        rest = [name for name, other in self.shapes.items() if len(other) == len(shape) and all(
            i == axis or other[i] == shape[i] for i in range(len(shape)))]
        parts = [x] + [self.pick(rest) for _ in range(self.number(1, 2))]
        out = list(shape)
        out[axis] = sum(self.shapes[part][axis] for part in parts)
        if np.prod(out) <= MAX_ELEMENTS:
            self.node("Concat", parts, out, axis=axis - self.pick((0, len(shape))))

    def step_slice(self, x, shape):
        axis = self.axis(shape)
        size = shape[axis]
        start, stop, step = self.number(0, size - 1), self.number(-1, size), self.pick((1, 1, 2, -1, -2))
        picked = range(size)[slice(start, None if step < 0 and stop < 0 else stop, step)]
        if len(picked) == 0:
            return
        out = list(shape)
        out[axis] = len(picked)
        stop = -(2**62) if step < 0 and stop < 0 else stop
        self.node("Slice", [x, self.ints(start), self.ints(stop), self.ints(axis), self.ints(step)], out)

    def step_split(self, x, shape):
        axis = self.axis(shape)
        if shape[axis] < 2:
            return
        first = self.number(1, shape[axis] - 1)
        name = f"v{len(self.nodes)}"
        names = [name, name + "b"]
        self.nodes.append(helper.make_node("Split", [x, self.ints(first, shape[axis] - first)], names, axis=axis))
        self.users[x] = True
        for each, size in zip(names, (first, shape[axis] - first)):
            out = list(shape)
            out[axis] = size
            self.shapes[each] = tuple(out)

    def step_transpose(self, x, shape):
        order = [int(i) for i in self.rng.permutation(len(shape))]
        self.node("Transpose", [x], [shape[i] for i in order], perm=order)

    def step_reshape(self, x, shape):
        at = self.number(0, len(shape) - 1)
        merged = (*shape[:at], int(np.prod(shape[at:])))
        if self.chance(0.5):
            self.node("Reshape", [x, self.ints(*(0 for _ in shape[:at]), -1)], merged)
        else:  # with a shape that is computed, as exporters write it
            sizes = self.node("Shape", [x], None)
            head = [self.node("Gather", [sizes, self.ints(i)], None) for i in range(at)]
            self.node("Reshape", [x, self.node("Concat", head + [self.ints(-1)], None, axis=0)], merged)

    def step_unsqueeze(self, x, shape):
        if len(shape) == 3 or len(shape) == 2:
            self.node("Unsqueeze", [x, self.ints(0)], (1, *shape))

    def step_expand(self, x, shape):
        out = [self.number(1, 4) if size == 1 else size for size in shape]
        if np.prod(out) <= MAX_ELEMENTS:
            self.node("Expand", [x, self.ints(*out)], out)

    def step_gather(self, x, shape):
        axis = self.axis(shape)
        picked = [self.number(-shape[axis], shape[axis] - 1) for _ in range(self.number(1, 4))]
        out = list(shape)
        out[axis] = len(picked)
        self.node("Gather", [x, self.ints(*picked)], out, axis=axis)

    def step_resize(self, x, shape):
        if len(shape) != 4:
            return
        scales = [1, 1, self.pick((1, 2)), self.pick((1, 2, 3))]
        out = [size * scale for size, scale in zip(shape, scales)]
        mode = self.pick(({"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
                          {"mode": "linear"}, {"mode": "linear", "coordinate_transformation_mode": "align_corners"}))
        if np.prod(out) <= MAX_ELEMENTS:
            self.node("Resize", [x, "", self.constant(np.array(scales, np.float32))], out, **mode)

    def step_matmul(self, x, shape):
        columns = self.number(1, 9)
        w = self.floats(shape[-1], columns) / np.float32(np.sqrt(shape[-1]))
        out = (*shape[:-1], columns)
        y = self.node("MatMul", [x, self.constant(w)], out)
        if self.chance(0.6):
            self.node("Add", [y, self.constant(self.floats(columns))], out)

    def step_attention(self, x, shape):
        if len(shape) < 2:
            return
        turned = list(range(len(shape) - 2)) + [len(shape) - 1, len(shape) - 2]
        keys = self.node("Transpose", [x], [shape[i] for i in turned], perm=turned)
        square = (*shape[:-1], shape[-2])
        scores = self.node("MatMul", [x, keys], square)
        scores = self.node("Mul", [scores, self.constant(np.float32(1 / np.sqrt(shape[-1])))], square)
        self.node("MatMul", [self.node("Softmax", [scores], square, axis=-1), x], shape)

    def step_gemm(self, x, shape):
        if len(shape) != 2:
            x = self.node("Flatten", [x], (shape[0], int(np.prod(shape[1:]))))
            shape = self.shapes[x]
        columns, turned = self.number(1, 9), self.number(0, 1)
        w = self.floats(*((columns, shape[1]) if turned else (shape[1], columns))) / np.float32(np.sqrt(shape[1]))
        inputs = [x, self.constant(w)]
        if self.chance(0.7):
            inputs.append(self.constant(self.floats(*self.pick(((columns,), (1, columns), (shape[0], 1), ())))))
        self.node("Gemm", inputs, (shape[0], columns), transB=turned, alpha=self.pick((1.0, 0.5)))

    def step_layer_norm_written_out(self, x, shape):
        last = shape[-1:]
        mean_shape = (*shape[:-1], 1)
        mean = self.node("ReduceMean", [x, self.ints(-1)], mean_shape)
        centred = self.node("Sub", [x, mean], shape)
        square = (self.node("Mul", [centred, centred], shape) if self.chance(0.5) else
                  self.node("Pow", [centred, self.constant(np.float32(2))], shape))
        variance = self.node("ReduceMean", [square, self.ints(-1)], mean_shape)
        variance = self.node("Add", [variance, self.constant(np.float32(1e-2))], mean_shape)
        y = self.node("Div", [centred, self.node("Sqrt", [variance], mean_shape)], shape)
        y = self.node("Mul", [y, self.constant(self.floats(*last))], shape)
        self.node("Add", [y, self.constant(self.floats(*last))], shape)

    def step_layer_norm(self, x, shape):
        axis = self.axis(shape)
        scale, bias = self.constant(self.floats(*shape[axis:])), self.constant(self.floats(*shape[axis:]))
        self.node("LayerNormalization", [x, scale, bias], shape, axis=axis, epsilon=1e-2)

    def step_instance_norm(self, x, shape):
        if len(shape) >= 3:
            self.node("InstanceNormalization", [x, self.constant(self.floats(shape[1])),
                                                self.constant(self.floats(shape[1]))], shape, epsilon=1e-2)

    def step_gelu_written_out(self, x, shape):
        y = self.node("Div", [x, self.constant(np.float32(np.sqrt(2)))], shape)
        y = self.node("Add", [self.node("Erf", [y], shape), self.constant(np.float32(1))], shape)
        y = self.node("Mul", [x, y], shape)
        self.node("Mul", [y, self.constant(np.float32(0.5))], shape)


def make(seed):
    graph = RandomGraph(seed)
    onnx.checker.check_model(graph.model)
    return graph
