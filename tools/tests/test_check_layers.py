"""Feeds the layer check wrong includes and sees it fail."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import check_layers  # noqa: E402


class CheckLayersTest(unittest.TestCase):
    def findings(self, path, *lines):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, os.path.dirname(path)))
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in lines))
            return check_layers.check(root)

    def assert_allowed(self, path, include):
        self.assertEqual(self.findings(path, f"#include {include}"), [])

    def assert_refused(self, path, include, rule):
        found = self.findings(path, "// first line", f"#include {include}")
        self.assertEqual(len(found), 1, f"{path} with {include}: {found}")
        self.assertTrue(found[0].startswith(f"{path}:2: error: "), found[0])
        self.assertIn(rule, found[0])

    def test_allowed(self):
        self.assert_allowed("src/ops/norm/softmax.cc", '"kernels/softmax/softmax.h"')
        self.assert_allowed("src/exec/executor.cc", '"ops/op.h"')
        self.assert_allowed("src/kernels/gemm/gemm.cc", "<hwy/highway.h>")
        self.assert_allowed("src/kernels/gemm/gemm_test.cc", "<gtest/gtest.h>")
        self.assert_allowed("src/base/cpu.cc", "<cpuid.h>")
        self.assert_allowed("src/base/mmap.cc", "<sys/mman.h>")
        self.assert_allowed("src/base/error.h", '"sardonyx/error.h"')
        self.assert_allowed("src/session/session.cc", '"sardonyx/session.h"')
        self.assert_allowed("apps/cli/main.cc", '"session/dump.h"')
        self.assert_allowed("tests/models/equal_test.cc", '"plan/program.h"')
        self.assert_allowed("include/sardonyx/session.h", "<memory>")

    def test_upward_includes_are_refused(self):
        self.assert_refused("src/base/log.cc", '"tensor/shape.h"', "base may include only")
        self.assert_refused("src/base/log.cc", '"sardonyx/session.h"', "public headers")
        self.assert_refused("src/kernels/gemm/gemm.cc", '"ir/node.h"', "kernels may include only")
        self.assert_refused("src/kernels/gemm/gemm.cc", '"tensor/value.h"', "must not know")
        self.assert_refused("src/ir/graph.cc", '"ops/op.h"', "ir may include only")
        self.assert_refused("src/onnx/reader.cc", '"ops/op_list.h"', "onnx may include only")
        self.assert_refused("src/plan/plan.cc", '"cpu/cpu_provider.h"', "plan may include only")
        self.assert_refused("src/exec/run.cc", '"ops/norm/softmax.h"', "exec may include only")
        self.assert_refused("src/exec/run.cc", '"passes/pass.h"', "exec may include only")
        self.assert_refused("src/cpu/fuse.cc", '"session/session.h"', "cpu may include only")
        self.assert_refused("src/capi/api.cc", '"cpu/cpu_provider.h"', "capi may include only")
        self.assert_refused("src/extras/jpeg.cc", '"tensor/tensor.h"', "extras may include only")
        self.assert_refused("bindings/python/module.cc", '"session/session.h"', "bindings may include only")
        self.assert_refused("include/sardonyx/session.h", '"base/error.h"', "public headers include only")
        # Tests inside a module obey the module's row.
        self.assert_refused("src/kernels/gemm/gemm_test.cc", '"ops/op.h"', "kernels may include only")

    def test_third_party_includes_are_refused(self):
        self.assert_refused("src/ops/norm/softmax.cc", "<hwy/highway.h>", "belongs to: kernels")
        self.assert_refused("src/ir/print.cc", "<nlohmann/json.hpp>", "belongs to: artifact")
        self.assert_refused("src/onnx/reader.cc", "<google/protobuf/message.h>", "neither standard nor listed")
        self.assert_refused("src/plan/plan.cc", "<sys/mman.h>", "operating system")
        self.assert_refused("src/ops/math/add.cc", "<immintrin.h>", "intrinsics belong to")
        self.assert_refused("src/base/log.cc", "<gtest/gtest.h>", "test and benchmark files")
        self.assert_refused("src/session/image.cc", "<png.h>", "belongs to: extras")
        self.assert_refused("include/sardonyx/session.h", "<fmt/format.h>", "public headers include only")

    def test_names_and_places(self):
        self.assert_refused("src/ir/graph.cc", '"node.h"', "name headers from src/")
        self.assert_refused("src/ir/graph.cc", '"../base/log.h"', "name headers from src/")
        found = self.findings("src/helpers/x.cc", "#include <vector>")
        self.assertEqual(len(found), 1)
        self.assertIn("lies in no module", found[0])

    def test_test_headers(self):
        self.assert_allowed("src/kernels/test_util.h", "<gtest/gtest.h>")
        self.assert_allowed("src/kernels/gemm/gemm_test_data.h", "<gtest/gtest.h>")
        self.assert_allowed("src/kernels/gemm/gemm_test.cc", '"kernels/test_util.h"')
        self.assert_refused("src/kernels/gemm/gemm.cc", '"kernels/test_util.h"', "only tests and benchmarks")
        self.assert_refused("src/kernels/test_util.h", '"ir/graph.h"', "kernels may include only")

    def test_every_row_points_down(self):
        rows = list(check_layers.LAYERS)
        for row, allowed in check_layers.LAYERS.items():
            for target in allowed:
                module = target.split("/")[0]
                self.assertIn(module, rows)
                self.assertLess(rows.index(module), rows.index(row), f"{row} -> {target}")


if __name__ == "__main__":
    unittest.main()
