#!/usr/bin/env python3
"""The help of `sardonyx` and docs/cli.md say the same.

Usage: test_help.py SARDONYX_COMMAND [unittest arguments]
"""

import os
import re
import sys
import unittest

import test_cli
from test_cli import VERBS, CommandTest

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
OPTION = re.compile(r"--[a-z][a-z-]*")


def read(name):
    with open(os.path.join(DOCS, name), encoding="utf-8") as file:
        return file.read()


class TestHelp(CommandTest):
    def help_of(self, *verb):
        return self.run_command(*verb, "--help").stdout

    def options_of(self, verb):
        """Those that the help lists, with the text of each."""
        lines = self.help_of(verb).split("\n")
        options = {}
        current = None
        for line in lines:
            found = re.match(r"  (?:-\w,)?(--[a-z-]+)(.*)", line)
            if found:
                current = found[1]
                options[current] = found[2]
            elif current and line.startswith("      "):
                options[current] += " " + line.strip()
            else:
                current = None
        return options

    def test_every_verb_is_listed(self):
        text = self.help_of()
        listed = re.findall(r"(?m)^  (\w+) {2,}\S", text.split("Subcommands:")[1].split("Exit codes:")[0])
        self.assertEqual(sorted(listed), sorted(VERBS))
        documented = re.findall(r"(?m)^\| `(\w+)[^|]*\|", read("cli.md").split("## ")[0])
        self.assertEqual(documented, list(VERBS))

    def test_every_option_is_documented(self):
        documented = set(OPTION.findall(read("cli.md")))
        for verb in VERBS:
            options = self.options_of(verb)
            self.assertIn("--help", options)
            self.assertEqual(set(options) - {"--help"} - documented, set(), f"{verb}: not in docs/cli.md")

    def test_options_of_runs_belong_to_verbs_that_run(self):
        for verb in VERBS:
            runs = verb in ("inspect", "run", "bench", "verify")
            for option in ("--threads", "--verify-compiled"):
                self.assertEqual(option in self.options_of(verb), runs, f"{verb} {option}")

    def test_every_documented_option_exists(self):
        existing = set(OPTION.findall(self.help_of())).union(*(self.options_of(verb) for verb in VERBS))
        # Of other programs: where docs name those, they do so with the program.
        for name in ("cli.md", "debugging.md"):
            text = re.sub(r"(?m)^.*\b(cmake|taskset|ctest|compare_ort\.py)\b.*$|`--gtest_filter[^`]*`", "", read(name))
            self.assertEqual(set(OPTION.findall(text)) - existing, set(), name)

    def test_every_option_says_what_it_does(self):
        for verb in VERBS:
            for option, text in self.options_of(verb).items():
                self.assertRegex(text, r"[A-Za-z]{3,} [A-Za-z]+", f"{verb} {option}")

    def test_examples_in_the_help_parse(self):
        """Each example gets past the command line: what fails is its made-up model."""
        for verb in VERBS:
            examples = re.findall(r"(?m)^  sardonyx (.*)$", self.help_of(verb))
            self.assertTrue(examples, verb)
            for example in examples:
                words = [word for word in example.split(" > ")[0].split() if "*" not in word]
                if verb in ("ops", "doctor"):
                    self.run_command(*words)
                elif verb == "verify":
                    self.run_command("verify", self.path("none"), *words[1:], code=1)
                else:
                    self.run_command(*words, code=3)

    def test_environment_variables_are_the_same(self):
        names = re.compile(r"SARDONYX_[A-Z_]+")
        self.assertEqual(set(names.findall(self.help_of())), set(names.findall(read("cli.md"))))

    def test_exit_codes_are_the_same(self):
        codes = re.findall(r"(?m)^  (\d+) +\S", self.help_of().split("Exit codes:")[1].split("Examples:")[0])
        self.assertEqual(codes, re.findall(r"(?m)^\| (\d+) \|", read("cli.md")))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    test_cli.COMMAND = os.path.abspath(sys.argv.pop(1))
    unittest.main()
