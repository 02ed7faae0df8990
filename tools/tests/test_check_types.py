"""Feeds the check of type names sources that clash and sources that do not."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import check_types  # noqa: E402


class CheckTypesTest(unittest.TestCase):
    def check(self, first, second):
        with tempfile.TemporaryDirectory() as root:
            for name, text in (("src/ir/a.cc", first), ("src/ops/b.cc", second)):
                path = os.path.join(root, name)
                os.makedirs(os.path.dirname(path))
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            return check_types.check(root)

    def names(self, text):
        return [name for name, _, _ in check_types.types_of(text)]

    def test_clash(self):
        errors = self.check("namespace sardonyx {\nstruct Info { int a; };\n}", "namespace sardonyx {\nclass Info : Base {};\n}")
        self.assertEqual(len(errors), 1)
        self.assertIn("src/ops/b.cc:2", errors[0])
        self.assertIn("'sardonyx::Info'", errors[0])
        self.assertIn("src/ir/a.cc:2", errors[0])

    def test_rows_of_kernels_are_one_namespace(self):
        text = "HWY_BEFORE_NAMESPACE();\nnamespace sardonyx::kernels {\nnamespace HWY_NAMESPACE {\nstruct Task { %s };\n}\n}"
        self.assertEqual(len(self.check(text % "int a;", text % "long a;")), 1)

    def test_no_clash(self):
        other = "namespace sardonyx { struct Info { long a; }; }"
        for text in ("namespace sardonyx { namespace { struct Info { int a; }; } }",
                     "namespace sardonyx { struct Info; }",
                     "namespace sardonyx::cli { struct Info { int a; }; }",
                     "namespace sardonyx { struct Info { long a; }; }  // the same",
                     "namespace sardonyx { void f() { struct Info { int a; }; } }",
                     "namespace sardonyx { struct Outer { struct Info { int a; }; }; }",
                     "namespace sardonyx { // struct Info { int a; };\n}",
                     'namespace sardonyx { const char* text = "struct Info {"; const char brace = \'{\'; }',
                     'namespace sardonyx { const char* text = R"(struct Info {)"; }',
                     "#define OTHER struct Info {\nnamespace sardonyx { }"):
            self.assertEqual(self.check(text, other), [], text)

    def test_names(self):
        self.assertEqual(self.names("namespace a::b { class SARDONYX_API X final : public Y<int> {}; }"), ["a::b::X"])
        self.assertEqual(self.names("enum class Kind : uint8_t { kA }; struct Box<float> {}; struct A::B {};"),
                         ["Kind", "Box<float>", "A::B"])
        self.assertEqual(self.names('extern "C" { struct Raw { int a; }; }'), ["Raw"])
        self.assertEqual(self.names("struct Info make() { return {}; } auto f = [] { struct In {}; };"), [])


if __name__ == "__main__":
    unittest.main()
