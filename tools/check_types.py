#!/usr/bin/env python3
"""Checks that no two translation units define different types of one name in one namespace.

The linker keeps one copy of what such types have in common by name (constructors, copies, templates over them) and takes
it for both, without a word. Types in unnamed namespaces, and in functions, are each unit's own.

Sources are read, not compiled: comments and literals are left out, then braces are followed. Namespaces whose name is a
macro (HWY_NAMESPACE) count as one, which is what they are within a row of kernels.

Usage: check_types.py [ROOT]
"""

import collections
import os
import re
import sys

from source_files import source_files

SUFFIXES = (".cc", ".h", ".inc")
FOLDERS = ("include/", "src/", "apps/")

LITERAL = re.compile(r"""
    //[^\n]* | /\*.*?\*/ |
    R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)" |
    "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*' |
    ^[ \t]*\#(?:\\\n|[^\n])*
""", re.VERBOSE | re.DOTALL | re.MULTILINE)
NAMESPACE = re.compile(r"\bnamespace\s*((?:[\w:]|\s(?=\w))*?)\s*$")
EXTERN = re.compile(r"\bextern\s*$")
TYPE = re.compile(r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:[A-Z][A-Z0-9_]*\s+)*"  # SARDONYX_API
                  r"(?P<name>(?!final\b)[A-Za-z_]\w*(?:<[^{};]*>)?(?:\s*::\s*[A-Za-z_]\w*(?:<[^{};]*>)?)*)\s*"
                  r"(?:\bfinal\s*)?(?::(?!:)[^{};]*)?$")


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def heads(text):
    """Yields (head, position, scopes) of every opening brace that opens no namespace: what stands before it, and the
    braces that are open around it."""
    scopes = []  # one per open brace: the name of a namespace, "" for an unnamed one, None for anything else
    begin = 0
    for match in re.finditer(r"[{};]", text):
        at, sign = match.start(), match.group()
        if sign == "{":
            head = text[begin:at].strip()
            namespace = NAMESPACE.search(head)
            if namespace and "=" not in head:
                scopes.append(namespace.group(1).strip())
            elif EXTERN.search(head):
                scopes.append("extern")
            else:
                yield head, at, list(scopes)
                scopes.append(None)
        elif sign == "}" and scopes:
            scopes.pop()
        begin = at + 1


def body_of(text, at):
    depth = 0
    for match in re.finditer(r"[{}]", text[at:]):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return text[at:at + match.end()]
    return text[at:]


def types_of(text):
    """Yields (qualified name, normalised definition, line) of the types at namespace level."""
    text = LITERAL.sub(blank, text)
    for head, at, scopes in heads(text):
        match = TYPE.search(head)
        if not match or None in scopes or "" in scopes:
            continue
        name = re.sub(r"\s+", "", match.group("name"))
        qualified = "::".join([scope for scope in scopes if scope != "extern"] + [name])
        definition = re.sub(r"\s+", " ", head[match.start():] + body_of(text, at))
        yield qualified, definition, text.count("\n", 0, at) + 1


def check(root):
    """Returns a list of lines to print."""
    found = collections.defaultdict(list)
    for path in source_files(root, SUFFIXES):
        if path.startswith(FOLDERS):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                for name, definition, line in types_of(file.read()):
                    found[name].append((definition, f"{path}:{line}"))
    errors = []
    for name, places in sorted(found.items()):
        files = {place.rsplit(":", 1)[0] for _, place in places}
        if len({definition for definition, _ in places}) > 1 and len(files) > 1:
            first, second = places[0][1], places[1][1]
            errors.append(f"{second}: error: '{name}' is defined in {first}, too: rename one, or use an unnamed namespace")
    return errors


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    errors = check(root)
    for line in errors:
        print(line)
    print(f"types: {len(errors)} errors")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
