"""Feeds the size check files that are too long and sees it warn and fail."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import check_sizes  # noqa: E402


class CheckSizesTest(unittest.TestCase):
    def check(self, name, lines):
        with tempfile.TemporaryDirectory() as root:
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path))
            with open(path, "w", encoding="utf-8") as file:
                file.write("x\n" * lines)
            errors, warnings = check_sizes.check(root)
            return len(errors), len(warnings)

    def test_limits(self):
        self.assertEqual(self.check("src/ir/graph.cc", 400), (0, 0))
        self.assertEqual(self.check("src/ir/graph.h", 401), (0, 1))
        self.assertEqual(self.check("src/ir/graph.cc", 800), (0, 1))
        self.assertEqual(self.check("tools/long.py", 801), (1, 0))

    def test_other_files_have_no_limit(self):
        self.assertEqual(self.check("src/ops/norm/softmax.cases", 2000), (0, 0))
        self.assertEqual(self.check("src/build/generated.cc", 2000), (0, 0))


if __name__ == "__main__":
    unittest.main()
