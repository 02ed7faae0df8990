"""Feeds the check for code at exit archives with and without such code, and sees it fail and pass."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import check_exit  # noqa: E402

HAS_DESTRUCTOR = "struct S { S(); ~S(); int i; };"


class CheckExitTest(unittest.TestCase):
    def check(self, *sources):
        with tempfile.TemporaryDirectory() as folder:
            archives = []
            for i, source in enumerate(sources):
                path = os.path.join(folder, f"{i}.o")
                subprocess.run(["c++", "-std=c++20", "-c", "-x", "c++", "-o", path, "-"], input=source, text=True, check=True)
                archives.append(os.path.join(folder, f"{i}.a"))
                subprocess.run(["ar", "rc", archives[-1], path], check=True)
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                return check_exit.main(archives), output.getvalue()

    def test_passes(self):
        self.assertEqual(self.check("int answer() { static int i = 1; return i; }",
                                    HAS_DESTRUCTOR + "S& one() { static S& s = *new S; return s; }"), (0, ""))

    def test_fails(self):
        for source in ("S global;", "int one() { static S s; return s.i; }", "int one() { thread_local S s; return s.i; }"):
            status, output = self.check("int good;", HAS_DESTRUCTOR + source)
            self.assertEqual(status, 1, source)
            self.assertIn("atexit", output)
            self.assertIn("1.o", output)

    def test_nothing_to_check_is_an_error(self):
        self.assertEqual(check_exit.main([]), 1)


if __name__ == "__main__":
    unittest.main()
