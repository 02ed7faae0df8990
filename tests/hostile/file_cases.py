"""Files that are no models, damaged models, versions, and weights in other files."""

import random

import onnx
from onnx import TensorProto, helper

from hostile_case import add, constant, external, field, info, model, node, varint

PROTO = "load:InvalidProtobuf"
GRAPH = "load:InvalidGraph"
HEAD = b"\x08\x09" + field(8, b"\x10\x11")  # ir_version 9, opset 17


def small_model():
    return model([node("Mul", "x,w", "t"), node("Relu", "t", "y")], initializers=[constant("w", [1, 2, 3])])


def truncated():
    """Every prefix of a small model. Where a field ends a shorter model begins, which may be whole."""
    data = small_model().SerializeToString()
    for size in range(len(data)):
        add(f"prefix_{size}", data[:size], (PROTO, GRAPH))


def noise():
    generator = random.Random(7)
    for i in range(100):
        add(f"noise_{i}", generator.randbytes(generator.choice((1, 2, 8, 64, 300))), (PROTO, GRAPH))
    data = small_model().SerializeToString()
    for i in range(400):
        broken = bytearray(data)
        for _ in range(generator.choice((1, 1, 2, 5))):
            broken[generator.randrange(len(broken))] = generator.randrange(256)
        add(f"broken_{i}", bytes(broken), None)


def not_models():
    add("empty", b"", PROTO, "empty", "0 bytes")
    add("text", b"Hello, this is no model at all.\n" * 10, PROTO, "no ONNX model")
    add("html", b"<!DOCTYPE html><html></html>", PROTO, "web page")
    add("lfs_pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", PROTO, "git lfs pull")
    add("ort_format", b"\x18\x00\x00\x00ORTM" + bytes(64), PROTO, ".ort")
    add("zip", b"PK\x03\x04" + bytes(64), PROTO)
    add("zeros", bytes(4096), PROTO)
    for name, data in (("zeros", bytes(8)), ("ones", b"\xff" * 8), ("versions_alone", b"\x08\x09" + field(8, b"\x10\x11")),
                       ("a_graph_cut_short", b"\x08\x09" + varint(7 << 3 | 2) + varint(1000) + b"\x0a\x04\x0a"),
                       ("an_artifact", b"SDXMODEL")):
        assert len(data) <= 8
        add(f"few_bytes_{name}", data, (PROTO, "load:Fail"))
    add("no_file", b"", "load:NoSuchFile", "other.onnx", path="other.onnx", files={"other.onnx": None})
    add("folder", b"", "load:InvalidArgument", "is a folder", "regular file", path=".")
    add("device", b"", "load:InvalidArgument", "device", path="/dev/zero")
    add("process_memory", b"", ("load:Fail", PROTO), path="/proc/self/mem")
    add("below_a_file", b"", "load:NoSuchFile", path="f/model.onnx", files={"f": b"x"})
    add("link_to_itself", b"", "load:InvalidArgument", path="loop.onnx", files={"loop.onnx": "loop.onnx"})
    add("link_to_nothing", b"", "load:NoSuchFile", path="link.onnx", files={"link.onnx": "nowhere"})
    add("name_too_long", b"", ("load:Fail", "load:InvalidArgument"), "name too long", path="n" * 300 + ".onnx")
    add("path_too_long", b"", ("load:Fail", "load:InvalidArgument"), "name too long", path="d/" * 2100 + "m.onnx")


def claimed_lengths():
    for size in (2**31, 2**32 + 5, 2**40, 2**63, 2**64 - 1):
        add(f"claims_{size}_bytes_of_graph", b"\x08\x09" + varint(7 << 3 | 2) + varint(size), PROTO, "claims", str(size))
        producer = b"\x08\x09" + varint(2 << 3 | 2) + varint(size) + b"abc"
        add(f"claims_{size}_bytes_of_name", producer, PROTO, "claims")
        tensor = field(5, b"\x08\x01\x10\x01" + varint(9 << 3 | 2) + varint(size))
        add(f"claims_{size}_bytes_of_raw_data", HEAD + field(7, tensor), PROTO, "claims")
        packed = field(5, b"\x10\x01" + varint(1 << 3 | 2) + varint(size))
        add(f"claims_{size}_bytes_of_dims", HEAD + field(7, packed), PROTO, "claims")
    add("varint_of_eleven_bytes", b"\x08" + b"\xff" * 11, PROTO, "10 bytes")
    add("field_number_0", b"\x00\x00", PROTO, "no field tag")
    add("wire_type_7", b"\x0f\x00", PROTO, "wire type 7")
    add("group_without_end", b"\x08\x09\x0b\x08\x01", PROTO, "within a group")
    add("group_bomb", b"\x08\x09" + b"\x0b" * 100000, PROTO, "nested deeper")
    add("wrong_wire_type_of_the_graph", b"\x08\x09\x38\x01", PROTO, "field 7 is a varint", "length-delimited")
    add("many_graphs", HEAD + field(7, b"\x12\x01g") * 1000, GRAPH, "1000 graphs")
    add("many_opsets", b"\x08\x09" + b"".join(field(8, field(1, b"d%d" % i) + b"\x10\x01") for i in range(20000)),
        PROTO, "no graph")
    add("many_names_of_the_producer", field(2, b"abc") * 100000, PROTO)
    # Types: sequences of sequences, and maps.
    kind = b"\x0a\x04\x08\x01\x12\x00"
    for _ in range(20000):
        kind = field(4, field(1, kind))
        if len(kind) > 200000:
            break
    value = field(11, field(1, b"x") + field(2, kind))
    add("type_bomb", HEAD + field(7, field(2, b"g") + value), PROTO, "nested deeper")
    body = field(2, b"g")
    for _ in range(3000):
        attribute = field(1, b"body") + field(6, body) + b"\xa0\x01\x05"
        body = field(2, b"g") + field(1, field(4, b"Loop") + field(5, attribute))
    add("subgraph_bomb", HEAD + field(7, body), (PROTO, GRAPH), "nested deeper")


def nested(op, depth):
    """Bytes of a model with `op` in `op` in ..., `depth` of them; the onnx package writes no more than 30."""
    def one_node(kind, inputs, output, *attributes):
        return field(1, b"".join([*(field(1, each) for each in inputs), field(2, output), field(4, kind), *attributes]))

    def branch(name, content, *outputs):
        return field(5, field(1, name) + field(6, content + b"".join(field(12, field(1, each)) for each in outputs)) +
                     b"\xa0\x01\x05")

    content, name = one_node(b"Identity", [b"x"], b"leaf"), b"leaf"
    for i in range(depth):
        result = b"y%d" % i
        if op == "If":
            other = one_node(b"Identity", [b"x"], b"e%d" % i)
            attributes = [branch(b"then_branch", content, name), branch(b"else_branch", other, b"e%d" % i)]
            content = one_node(b"If", [b"c"], result, *attributes)
        else:
            inputs = field(11, field(1, b"i%d" % i)) + field(11, field(1, b"c%d" % i))
            condition = one_node(b"Identity", [b"c%d" % i], b"d%d" % i)
            content = one_node(b"Loop", [b"n", b""], result, branch(b"body", inputs + condition + content, b"d%d" % i, name))
        name = result
    outer = model([], [info("x"), info("c", (), TensorProto.BOOL), info("n", (), TensorProto.INT64)], [])
    data = field(2, b"g") + content + outer.graph.SerializeToString() + field(12, field(1, name))
    return HEAD + field(7, data)


def nesting():
    for op in ("If", "Loop"):
        add(f"nested_{op}_30", nested(op, 30), "ran")
        for depth in (100, 1000, 10000):
            add(f"nested_{op}_{depth}", nested(op, depth), (GRAPH, PROTO), "nested deeper")


def versions():
    relu = lambda **options: model(node("Sigmoid", "x", "y"), **options)
    add("newer_ir", relu(ir=onnx.IR_VERSION + 1), "ran")
    add("much_newer_ir", relu(ir=2**40), "ran")
    add("newer_opset", relu(opset=onnx.defs.onnx_opset_version() + 1), "ran")
    add("much_newer_opset", relu(opset=2**40), "ran")
    add("newer_opset_and_unknown_operator", model(node("FutureOp", "x", "y"), opset=99), "load:NotImplemented",
        "FutureOp", "99", str(onnx.defs.onnx_opset_version()))
    add("ir_0", relu(ir=0), PROTO, "ir_version is 0")
    add("ir_negative", relu(ir=-3), PROTO, "ir_version is -3")
    add("no_ir", b"", PROTO)
    add("opset_0", relu(opset=0), GRAPH, "version 0")
    add("opset_negative", relu(opset=-1), GRAPH, "version -1")
    add("opset_of_two_versions", relu(imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx", 18)]), GRAPH,
        "17", "18")
    no_imports = relu()
    del no_imports.opset_import[:]
    add("no_opset", no_imports, GRAPH, "opset_import")
    add("operator_newer_than_the_opset", model(node("Gelu", "x", "y"), opset=17), "load:NotImplemented", "Gelu", "20", "17")
    add("unknown_operator", model(node("Reluu", "x", "y")), "load:NotImplemented", "'Reluu'", "'Relu'")
    other = node("Relu", "x", "y", domain="com.example")
    add("unknown_domain", model(other, imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]),
        "load:NotImplemented", "com.example")
    add("domain_not_imported", model(other), "load:NotImplemented", "com.example")


def weights_in_files():
    def weights(*entries, dims=(3,), kind=TensorProto.FLOAT):
        return model(node("Mul", "x,w", "y"), initializers=[external("w", dims, entries, kind)])

    data = bytes(12)
    at = ("location", "w.bin")
    good = {"w.bin": data}
    add("external", weights(at), "ran", files=good)
    add("external_with_all_keys", weights(at, ("offset", "0"), ("length", "12"), ("checksum", "abc")), "ran", files=good)
    add("external_missing", weights(at), "load:NoSuchFile", "w.bin", "beside the model")
    add("external_without_location", weights(("offset", "0")), GRAPH, "no location", files=good)
    add("external_without_entries", weights(), GRAPH, "no location")
    add("external_empty_location", weights(("location", "")), GRAPH, "is empty")
    add("external_twice", weights(at, at), GRAPH, "twice", files=good)
    add("external_unknown_key", weights(at, ("size", "12")), GRAPH, "unknown key 'size'", files=good)
    add("external_short", weights(at), GRAPH, "12 bytes", "has 8", files={"w.bin": bytes(8)})
    add("external_folder", weights(("location", "w.bin")), GRAPH, "folder",
        files={"w.bin/inner": b"x"})
    add("external_device", weights(("location", "zero")), GRAPH, "leads out", files={"zero": "/dev/zero"})
    for key in ("offset", "length"):
        for text in ("-1", "-9223372036854775808", "18446744073709551616", "1e3", "0x10", " 4", "4 ", "", "12abc",
                     "9" * 5000):
            add(f"external_{key}_{text[:24]}", weights(at, (key, text)), GRAPH, key, "decimal number", files=good)
    for offset in (13, 2**31, 2**32, 2**62, 2**63, 2**64 - 1, 2**64 - 12, 2**64 - 4):
        add(f"external_offset_{offset}", weights(at, ("offset", str(offset))), GRAPH, str(offset), "has 12", files=good)
    for length in (0, 11, 13, 2**31, 2**40, 2**63, 2**64 - 1):
        add(f"external_length_{length}", weights(at, ("length", str(length))), GRAPH, str(length), "12", files=good)
    add("external_offset_plus_length", weights(at, ("offset", str(2**64 - 6)), ("length", "12")), GRAPH, files=good)
    add("external_huge_tensor", weights(at, dims=(2**40,)), GRAPH, "takes", files=good)
    add("external_negative_dim", weights(at, dims=(-3,)), GRAPH, "negative", files=good)
    add("external_overflowing_dims", weights(at, dims=(2**32, 2**32, 4)), GRAPH, files=good)
    add("external_strings", weights(at, kind=TensorProto.STRING), GRAPH, "strings", files=good)
    add("external_unaligned", weights(at, ("offset", "1")), "ran", files={"w.bin": bytes(13)})

    for name, location, fault in (
            ("up", "../../etc/passwd", "climbs out"), ("up_and_back", "a/../../x/w.bin", "climbs out"),
            ("inside_and_up", "a/../w.bin", "climbs out"), ("up_once", "../w.bin", "climbs out"),
            ("dots", "..", "climbs out"), ("absolute", "/etc/passwd", "absolute"), ("proc", "/proc/self/mem", "absolute"),
            ("nul", "w.bin\0/etc/passwd", "NUL"), ("folder", ".", "leads out")):
        escaping = weights(("location", location), dims=(1,))
        # Whether anything lies there or not: it is not looked at.
        for there, files in (("", {}), ("_of_a_file", {"m/w.bin": data, "w.bin": data, "x/w.bin": data})):
            add(f"external_escapes_{name}{there}", escaping, GRAPH, "tensor 'w'", "location", fault, path="m/model.onnx",
                files=files)
    add("external_backslash", weights(("location", "..\\w.bin")), "load:NoSuchFile", "beside the model", files=good)
    add("external_link_out", weights(at), GRAPH, "leads out", files={"w.bin": "/etc/passwd"})
    add("external_link_up", weights(at), GRAPH, "leads out", path="m/model.onnx",
        files={"m/w.bin": "../secret", "secret": data})
    add("external_folder_link_out", weights(("location", "d/passwd")), GRAPH, "leads out", files={"d": "/etc"})
    add("external_link_inside", weights(at), "ran", files={"w.bin": "data/w", "data/w": data})
    # As model hubs lay models out: names in snapshots link to contents in blobs.
    add("external_hub", weights(at), "ran", path="snapshots/1/model.onnx", move="blobs/aaa",
        files={"snapshots/1/model.onnx": "../../blobs/aaa", "snapshots/1/w.bin": "../../blobs/bbb", "blobs/bbb": data})
    add("external_hub_link_out", weights(at), GRAPH, "leads out", path="snapshots/1/model.onnx", move="blobs/aaa",
        files={"snapshots/1/model.onnx": "../../blobs/aaa", "snapshots/1/w.bin": "../../secret", "secret": data})
    # From memory.
    add("external_from_memory", weights(at), GRAPH, "from memory", "w.bin", "folder", folder="-", files=good)
    add("external_from_memory_with_folder", weights(at), "ran", folder="data", files={"data/w.bin": data})
    add("external_from_memory_in_no_folder", weights(at), "load:NoSuchFile", "no folder", folder="nowhere", files=good)
    add("external_from_memory_escapes", weights(("location", "../w.bin")), GRAPH, "..", folder="data",
        files={"data/a": b"", "w.bin": data})


def paths():
    for name in ("モデル", "😀", "ünï cödé", "l" * 250 + "/" + "o" * 60, "a'b\"c", "-dash", "100%s%n", "line\nbreak",
                 "\\x01"):
        add(f"path_{name[:8]!r}", small_model(), "ran", path=f"{name}/model.onnx")
    weights = model(node("Mul", "x,w", "y"), initializers=[external("w", (3,), [("location", "重み.bin")])])
    add("external_japanese", weights, "ran", files={"重み.bin": bytes(12)})


for group in (truncated, noise, not_models, claimed_lengths, nesting, versions, weights_in_files, paths):
    group()
