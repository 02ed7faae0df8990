"""Graphs, functions and tensors that contradict themselves."""

from onnx import TensorProto, ValueInfoProto, helper

from hostile_case import add, constant, empty_tensor, field, graph, info, model, node, untyped

GRAPH = "load:InvalidGraph"
PROTO = "load:InvalidProtobuf"
NOT_IMPLEMENTED = "load:NotImplemented"
HEAD = b"\x08\x09" + field(8, b"\x10\x11")  # ir_version 9, opset 17
NEWEST_TYPE = TensorProto.INT2


def names():
    relu = node("Relu", "x", "y")
    add("use_before_definition", model([node("Relu", "t", "y"), node("Relu", "x", "t", name="late")]), GRAPH, "'t'",
        "before", "'late'")
    add("cycle", model([node("Add", "x,b", "a"), node("Relu", "a", "b"), node("Relu", "b", "y")]), GRAPH, "'b'", "cycle")
    count = 50000
    chain = [node("Relu", f"t{i}", f"t{i + 1}") for i in range(count)]
    add("chain_of_50000", model(chain, [info("t0")], [untyped(f"t{count}")]), "ran", peak_mib=500, seconds=20)
    add("cycle_of_50000", model([node("Add", f"x,t{count}", "t0"), *chain], outputs=[untyped(f"t{count}")]), GRAPH,
        f"'t{count}'", "cycle", seconds=20)
    add("cycle_of_one", model(node("Add", "x,y", "y")), GRAPH, "'y'", "cycle")
    add("undefined_input", model(node("Add", "x,nothing", "y")), GRAPH, "'nothing'", "nothing defines")
    add("output_never_produced", model(relu, outputs=[untyped("z")]), GRAPH, "'z'")
    add("output_without_name", model(relu, outputs=[untyped("")]), GRAPH, "''")
    add("input_without_name", model(relu, inputs=[info("x"), info("")]), GRAPH, "no name")
    add("output_twice", model(relu, outputs=[untyped("y"), untyped("y")]), "ran")
    add("input_is_output", model(relu, outputs=[untyped("x")]), "ran")
    add("two_definitions", model([relu, node("Exp", "x", "y")]), GRAPH, "'y'", "twice")
    add("two_definitions_in_a_node", model(node("Split", "x", "y,y", axis=0), opset=13), GRAPH, "'y'", "twice")
    add("definition_of_an_input", model([node("Exp", "x", "x"), node("Relu", "x", "y")]), GRAPH, "'x'", "twice")
    add("two_inputs_of_one_name", model(relu, inputs=[info("x"), info("x")]), GRAPH, "two inputs", "'x'")
    add("two_initializers_of_one_name", model(node("Add", "x,w", "y"), initializers=[constant("w", [1])] * 2), GRAPH,
        "two initializers", "'w'")
    add("definition_of_an_initializer", model([node("Exp", "x", "w"), node("Add", "x,w", "y")],
                                              initializers=[constant("w", [1])]), GRAPH, "'w'", "twice")
    add("initializer_without_name", model(relu, initializers=[constant("", [1])]), GRAPH, "no name")
    add("input_and_initializer_differ", model(node("Relu", "x", "y"), initializers=[constant("x", [1], "int64")]),
        GRAPH, "'x'", "float", "int64")
    add("input_and_initializer_of_other_shape", model(relu, initializers=[constant("x", [1, 2, 3, 4])]), None)
    add("input_without_type", model(relu, inputs=[untyped("x")]), GRAPH, "'x'", "no type")
    add("node_without_type", model(node("", "x", "y")), GRAPH, "op_type")
    add("empty_graph", model([], [], []), "ran")
    add("no_nodes_with_output", model([], [info("x")], [untyped("x")]), "ran")
    # Bytes that are no UTF-8, and characters that upset terminals.
    for name, text in (("not_utf8", b"\xff\xfe\x80"), ("overlong", b"\xc0\xaf"), ("surrogate", b"\xed\xa0\x80"),
                       ("nul", b"a\0b"), ("escape", b"\x1b[31m"), ("long", b"n" * 100000), ("format", b"{}%s%n{0}")):
        value = field(1, text) + field(2, field(1, b"\x08\x01" + field(2, field(1, b"\x08\x03"))))
        data = field(2, text) + field(11, value) + field(12, field(1, b"y"))
        good = field(1, field(1, text) + field(2, b"y") + field(4, b"Relu") + field(3, text))
        bad = field(1, field(1, text) + field(2, b"y") + field(4, text) + field(3, text))
        add(f"name_{name}", HEAD + field(7, data + good), "ran")
        add(f"name_{name}_of_operator", HEAD + field(7, data + bad), NOT_IMPLEMENTED)


def counts():
    x = info("x", (6,))
    for op, inputs, word in (("Relu", "", "0 inputs, expected 1"), ("Relu", "x,x", "2 inputs, expected 1"),
                             ("Add", "x", "1 inputs, expected 2"), ("Add", "x,", "expected 2"), ("Add", ",x", "required"),
                             ("Clip", "x,x,x,x", "4 inputs"), ("Concat", "", "0 inputs"), ("Sum", "", "0 inputs"),
                             ("Where", "x,x", "2 inputs")):
        attributes = {"axis": 0} if op == "Concat" else {}
        add(f"inputs_of_{op}_{inputs}", model(node(op, inputs, "y", **attributes), [x]), GRAPH, op, word)
    add("too_many_outputs", model(node("Relu", "x", "y,z"), [x]), GRAPH, "2 outputs, expected")
    add("no_outputs", model([node("Relu", "x", ""), node("Relu", "x", "y")], [x]), "ran")
    add("ten_thousand_outputs", model(node("Relu", "x", ["y"] + [f"y{i}" for i in range(10000)]), [x]), GRAPH, "outputs")
    add("ten_thousand_inputs", model(node("Sum", ["x"] * 10000, "y"), [x]), "ran")
    add("thousand_absent_inputs", model(node("Clip", ["x"] + [""] * 1000, "y"), [x]), "ran")
    for count, outputs in ((3, "y"), (7, "y,z"), (2**31, "y"), (2**40, "y"), (2**63 - 1, "y,z"), (0, "y"), (-1, "y"),
                           (1, "y,z"), (3, "y,z")):
        add(f"split_{count}_to_{len(outputs.split(','))}", model(node("Split", "x", outputs, axis=0, num_outputs=count),
                                                               [x], opset=18), GRAPH, "num_outputs", str(count))
    add("split_6_to_6", model(node("Split", "x", ",".join(f"y{i}" for i in range(6)), axis=0, num_outputs=6), [x],
                              [untyped("y0")], opset=18), "ran")
    add("split_into_sizes_that_differ", model(node("Split", "x,s", "y,z", axis=0), [x], initializers=[
        constant("s", [1, 2, 3], "int64")], opset=13), None)
    add("split_into_negative_sizes", model(node("Split", "x,s", "y,z", axis=0), [x], initializers=[
        constant("s", [8, -2], "int64")], opset=13), (GRAPH, "run:InvalidArgument", "run:InvalidGraph"), "-2")


def functions():
    def function(name, nodes, inputs=("a",), outputs=("b",), **options):
        return helper.make_function("local", name, list(inputs), list(outputs), nodes,
                                    [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)], **options)

    def call(name, inputs="x", outputs="y", **attributes):
        return node(name, inputs, outputs, domain="local", **attributes)

    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]

    def with_functions(nodes, *defined):
        return model(nodes, imports=imports, functions=list(defined))

    body = [node("Relu", "a", "b")]
    add("function", with_functions(call("F"), function("F", body)), "ran")
    add("function_that_calls_itself", with_functions(call("F"), function("F", [call("F", "a", "b")])), GRAPH, "calls itself")
    add("functions_in_a_circle", with_functions(call("F"), function("F", [call("G", "a", "b")]),
                                                function("G", [call("F", "a", "b")])), GRAPH, "calls itself")
    add("function_called_with_too_much", with_functions(call("F", "x,x", "y"), function("F", body)), GRAPH, "2 inputs")
    add("function_called_with_too_little", with_functions(call("F", "", "y"), function("F", body)), GRAPH)
    add("function_asked_for_too_much", with_functions(call("F", "x", "y,z"), function("F", body)), GRAPH, "2 outputs")
    add("function_without_its_output", with_functions(call("F"), function("F", [node("Relu", "a", "c")])), GRAPH, "'b'")
    add("function_twice", with_functions(call("F"), function("F", body), function("F", body)), GRAPH, "twice")
    add("function_not_there", with_functions(call("G"), function("F", body)), NOT_IMPLEMENTED, "'G'", "local")
    add("function_uses_outer_names", with_functions(call("F"), function("F", [node("Relu", "x", "b")])), GRAPH, "'x'")
    add("function_attribute_not_given", with_functions(call("F"), function(
        "F", [helper.make_node("LeakyRelu", ["a"], ["b"])], attributes=["alpha"])), "ran")
    # Each calls the next twice: 2^n nodes when written out.
    chain = [function(f"F{i}", [call(f"F{i + 1}", "a", "t"), call(f"F{i + 1}", "t", "b")]) for i in range(60)]
    add("functions_that_double", with_functions(call("F0"), *chain, function("F60", body)), GRAPH, "nodes", seconds=20,
        peak_mib=600)
    deep = [function(f"F{i}", [call(f"F{i + 1}", "a", "b")]) for i in range(3000)]
    add("functions_nested_3000", with_functions(call("F0"), *deep, function("F3000", body)), GRAPH, "deep")


def subgraphs():
    truth, number = info("c", (), TensorProto.BOOL), info("n", (), TensorProto.INT64)
    three = info("x", (3,))

    def branch(op, outputs=("t",), **attributes):
        return helper.make_graph([node(op, "x", "t", **attributes)], "b", [], [untyped(each) for each in outputs])

    def choose(yes, no, after="Relu", outputs="r"):
        return model([node("If", "c", outputs, then_branch=yes, else_branch=no), node(after, "r", "y")], [three, truth])

    add("if", choose(branch("Relu"), branch("Exp")), "ran")
    # The branches' results differ in type: what follows must not read one as the other.
    small = branch("Cast", to=TensorProto.INT8)
    for name, yes, no in (("then", small, branch("Relu")), ("else", branch("Relu"), small)):
        add(f"if_of_two_types_{name}", choose(yes, no), (GRAPH, NOT_IMPLEMENTED, "run:InvalidGraph"))
        declared = choose(yes, no)
        declared.graph.value_info.append(info("r", (3,)))
        add(f"if_of_two_types_{name}_declared", declared, (GRAPH, NOT_IMPLEMENTED, "run:InvalidGraph"))
    add("if_of_a_type_not_declared", model([node("If", "c", "r", then_branch=small, else_branch=small),
                                            node("Relu", "r", "y")], [three, truth]), (GRAPH, NOT_IMPLEMENTED, "ran"))
    add("if_of_two_outputs", choose(branch("Relu", ("t", "t")), branch("Exp")), GRAPH, "outputs")
    add("if_without_branches", model(node("If", "c", "y"), [truth]), GRAPH, "required")
    for shape in ((0,), (2,), (0, 3)):
        wide = info("c", shape, TensorProto.BOOL)
        add(f"if_condition_{shape}", model(node("If", "c", "y", then_branch=branch("Relu"), else_branch=branch("Exp")),
                                           [three, wide]), ("run:InvalidArgument", GRAPH), "condition|elements")

    def body(result, *nodes, condition="c1", extra=()):
        return helper.make_graph([*nodes, *extra], "body", [
            info("i", (), TensorProto.INT64), info("c0", (), TensorProto.BOOL), info("v", (3,))],
            [untyped(condition), *(untyped(each) for each in result.split(","))])

    keep = node("Identity", "c0", "c1")

    def loop(graph_body, outputs="y", inputs="n,c,x", more=()):
        trips = constant("n3", 3, "int64")
        return model([node("Loop", inputs, outputs, body=graph_body), *more], [three, truth, number], initializers=[trips])

    wrong = (GRAPH, NOT_IMPLEMENTED, "run:InvalidGraph", "run:InvalidArgument")
    add("loop", loop(body("w", keep, node("Relu", "v", "w")), inputs="n3,,x"), "ran")
    add("loop_body_changes_the_type", loop(body("w", keep, node("Cast", "v", "w", to=TensorProto.INT8)), inputs="n3,,x"),
        wrong, "int8", "float")
    add("loop_body_changes_the_type_to_a_wider_one", loop(body("w", keep, node("Cast", "v", "w", to=TensorProto.DOUBLE)),
                                                          inputs="n3,,x"), wrong)
    add("loop_condition_is_no_bool", loop(body("w", node("Cast", "c0", "c1", to=TensorProto.FLOAT),
                                               node("Relu", "v", "w")), inputs="n3,t", outputs="y"), GRAPH)
    add("loop_condition_of_the_body_is_a_number", model(
        node("Loop", "n3,t,x", "y", body=body("w", node("Identity", "i", "c1"), node("Relu", "v", "w"))),
        [three], initializers=[constant("n3", 3, "int64"), constant("t", True, "bool")]), wrong, "bool")
    add("loop_condition_of_the_body_is_empty", model(
        node("Loop", "n3,t,x", "y", body=body("w", node("Slice", "c3,zero,zero", "c1"), node("Relu", "v", "w"), extra=())),
        [three], initializers=[constant("n3", 3, "int64"), constant("t", True, "bool"), constant("c3", [True] * 3, "bool"),
                               constant("zero", [0], "int64")]), wrong, "condition|elements")
    for shape in ((0,), (2,)):
        for which, kind in (("n", TensorProto.INT64), ("c", TensorProto.BOOL)):
            inputs = [three, info(which, shape, kind)]
            add(f"loop_{which}_{shape}", model(node("Loop", "n,,x" if which == "n" else ",c,x", "y", body=body(
                "w", keep, node("Relu", "v", "w"))), inputs), wrong, "elements|element")
    add("loop_body_of_too_few_inputs", model(node("Loop", "n3,,x,x", "y,z", body=body("w,w", keep, node("Relu", "v", "w"))),
                                             [three], initializers=[constant("n3", 3, "int64")]), GRAPH, "inputs")
    add("loop_body_of_too_few_outputs", loop(body("w", keep, node("Relu", "v", "w")), "y,z,u", "n3,,x"), GRAPH, "outputs")
    add("loop_of_negative_trips", model(node("Loop", "m,,x", "y", body=body("w", keep, node("Relu", "v", "w"))), [three],
                                        initializers=[constant("m", -5, "int64")]), "ran")
    grow = body("w", keep, node("Concat", "v,v", "w", axis=0))
    add("loop_that_doubles", model(node("Loop", "m,,x", "y", body=grow), [three], initializers=[
        constant("m", 60, "int64")]), "run:Fail", "memory", limit=32 << 20, seconds=40)
    add("subgraph_output_is_outer_value", choose(helper.make_graph([], "b", [], [untyped("x")]), branch("Exp")), "ran")


def tensors():
    """Weights whose data do not fit their shape."""
    def weights(tensor):
        return model(node("Identity", "w", "y"), [], initializers=[tensor])

    proto_types = range(1, NEWEST_TYPE + 1)
    fields = {TensorProto.FLOAT: "float_data", TensorProto.COMPLEX64: "float_data", TensorProto.DOUBLE: "double_data",
              TensorProto.COMPLEX128: "double_data", TensorProto.INT64: "int64_data", TensorProto.UINT64: "uint64_data",
              TensorProto.UINT32: "uint64_data", TensorProto.STRING: "string_data"}
    bits = {"FLOAT": 32, "UINT8": 8, "INT8": 8, "UINT16": 16, "INT16": 16, "INT32": 32, "INT64": 64, "BOOL": 8,
            "FLOAT16": 16, "DOUBLE": 64, "UINT32": 32, "UINT64": 64, "COMPLEX64": 64, "COMPLEX128": 128, "BFLOAT16": 16,
            "UINT4": 4, "INT4": 4, "FLOAT4E2M1": 4, "UINT2": 2, "INT2": 2}
    for kind in proto_types:
        name = TensorProto.DataType.Name(kind)
        own = fields.get(kind, "int32_data")
        value = b"s" if own == "string_data" else 1
        size = bits.get(name, 8)
        # Four packed bytes fit one number of int32_data.
        for count in (0, 1, 100) if size >= 8 else (0, 100):
            add(f"{name}_of_5_with_{count}_numbers", weights(empty_tensor("w", [5], kind, **{own: [value] * count})), GRAPH,
                "'w'", "no data|expected")
        for wrong in ("float_data", "double_data", "int64_data", "uint64_data", "int32_data", "string_data"):
            if wrong != own:
                add(f"{name}_in_{wrong}", weights(empty_tensor("w", [1], kind, **{
                    wrong: [b"s" if wrong == "string_data" else 1]})), GRAPH, "'w'", wrong, own)
        if kind == TensorProto.STRING:
            add("strings_in_raw_data", weights(empty_tensor("w", [1], kind, raw_data=b"abc")), GRAPH, "strings")
            continue
        need = (5 * size + 7) // 8
        add(f"{name}_with_short_raw_data", weights(empty_tensor("w", [5], kind, raw_data=bytes(need - 1))), GRAPH,
            f"{need - 1} bytes", str(need))
        add(f"{name}_in_two_fields", weights(empty_tensor("w", [1], kind, raw_data=bytes(16), **{
            own: [value]})), GRAPH, "raw_data", own)
        add(f"{name}_of_nothing_with_data", weights(empty_tensor("w", [0], kind, raw_data=bytes(4))), GRAPH, "no elements")
    for value in (-1, NEWEST_TYPE + 1, 99, 2**31 - 1):
        add(f"data_type_{value}", weights(empty_tensor("w", [1], value, raw_data=bytes(4))), GRAPH, str(value), f"1 to {NEWEST_TYPE}")
        add(f"data_type_{value}_of_an_input", model(node("Relu", "x", "y"), [info("x", (1,), value)]), GRAPH, str(value))
    add("data_type_0", weights(empty_tensor("w", [1], 0, raw_data=bytes(4))), GRAPH, "data type")
    for value in (-2**31, -129, 256, 2**31 - 1):
        add(f"uint8_of_{value}", weights(empty_tensor("w", [1], TensorProto.UINT8, int32_data=[value])), GRAPH, str(value))
    add("uint32_of_2_to_the_40", weights(empty_tensor("w", [1], TensorProto.UINT32, uint64_data=[2**40])), GRAPH, "32 bits")
    add("data_location_7", weights(tensor_at_location(7)), GRAPH, "location")
    for dims in ([-1], [-2**63], [2**62], [2**63 - 1], [2**32, 2**32], [2**21] * 3, [2**31, 2**31, 2**31], [0, -1],
                 [2**60, 0, 2**60], [1] * 3000):
        label = "x".join(map(str, dims)) if len(dims) < 10 else f"{len(dims)}_dims"
        outcome = (GRAPH, "ran") if 0 in dims or len(dims) > 10 else GRAPH
        words = () if 0 in dims or len(dims) > 10 else ("'w'",)
        data = bytes(4) if len(dims) > 10 else b""
        add(f"dims_{label}", weights(empty_tensor("w", dims, raw_data=data)), outcome, *words)
        add(f"gemm_dims_{label}", model(node("Gemm", "x,w", "y"), [info("x", (2, 3))], initializers=[
            empty_tensor("w", dims, raw_data=data)]), (GRAPH, NOT_IMPLEMENTED) if 0 in dims or len(dims) > 10 else GRAPH, *words)
        add(f"constant_node_dims_{label}", model(node("Constant", "", "y", value=empty_tensor("", dims, raw_data=data)), []),
            None)
        add(f"input_dims_{label}", model(node("Relu", "x", "y"), [info("x", dims)]), None)
        add(f"input_dims_added_{label}", model([node("Add", "x,x", "a"), node("Concat", "a,x", "y", axis=0)],
                                               [info("x", dims)]), None)
    add("bool_of_7", model([node("Not", "w", "n"), node("And", "w,n", "a"), node("Cast", "w", "y", to=1)], [],
                           initializers=[empty_tensor("w", [2], TensorProto.BOOL, raw_data=b"\x07\xff")]), "ran")
    sparse()


def tensor_at_location(number):
    tensor = empty_tensor("w", [1], raw_data=bytes(4))
    tensor.MergeFromString(b"\x70" + bytes([number]))
    return tensor


def sparse():
    def weights(values, indices, dims):
        result = model(node("Identity", "w", "y"), [])
        result.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, dims))
        return result

    values = constant("w", [1, 2])
    index = lambda *numbers: constant("", list(numbers), "int64")
    add("sparse", weights(values, index(0, 5), [2, 3]), "ran")
    add("sparse_index_too_large", weights(values, index(0, 6), [2, 3]), GRAPH, "outside shape [2,3]")
    add("sparse_index_negative", weights(values, index(-1, 5), [2, 3]), GRAPH, "outside shape [2,3]")
    add("sparse_index_huge", weights(values, index(0, 2**62), [2, 3]), GRAPH, "outside shape [2,3]")
    add("sparse_index_count", weights(values, index(0), [2, 3]), GRAPH, "indices")
    add("sparse_of_index_pairs", weights(values, constant("", [[0, 0], [1, 7]], "int64"), [2, 3]), GRAPH, "outside shape [2,3]")
    add("sparse_unsorted", weights(values, index(5, 0), [2, 3]), (GRAPH, "ran"))
    add("sparse_huge", weights(values, index(0, 5), [2**20, 2**20]), GRAPH, "limit")
    add("sparse_overflow", weights(values, index(0, 5), [2**40, 2**40]), GRAPH)
    add("sparse_negative", weights(values, index(0, 5), [-2, 3]), GRAPH)
    add("sparse_without_dims", weights(values, index(0, 5), []), GRAPH)


for group in (names, counts, functions, subgraphs, tensors):
    group()
