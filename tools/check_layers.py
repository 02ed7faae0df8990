#!/usr/bin/env python3
"""Checks who includes whom. The tables below are the module map of ARCHITECTURE.md as data.

Only direct includes count. Each finding is printed as `file:line: error: ...` with the rule it breaks.

Usage: check_layers.py [ROOT]
"""

import os
import re
import sys

from source_files import source_files

SUFFIXES = (".cc", ".h", ".inc")

# Module -> what it may include, besides itself and the public headers: a module name, or one header of a module.
LAYERS = {
    "base": [],
    "tensor": ["base"],
    "kernels": ["base", "tensor"],
    "ir": ["base", "tensor"],
    "onnx": ["base", "tensor", "ir"],
    "ops": ["base", "tensor", "kernels", "ir"],
    "passes": ["base", "tensor", "kernels", "ir", "onnx", "ops"],
    "providers": ["base", "tensor", "kernels", "ir", "ops/op.h"],
    "plan": ["base", "tensor", "kernels", "ir", "onnx", "ops", "providers"],
    "exec": ["base", "tensor", "plan", "providers/provider.h", "ops/op.h"],
    "artifact": ["base", "tensor", "ir", "plan"],
    "cpu": ["base", "tensor", "kernels", "ir", "onnx", "ops", "passes", "providers", "plan", "exec", "artifact"],
    "cache": ["base", "artifact"],
    "remote": ["base", "artifact"],
    "session": ["base", "tensor", "kernels", "ir", "onnx", "ops", "passes", "providers", "plan", "exec", "artifact",
                "cpu", "cache", "remote"],
    "capi": ["base", "tensor", "ir", "ops/op.h", "providers/provider.h", "cache", "session"],
    "extras": ["base/extras.h"],
    # Outside src/: the command may look below the public interface for its debugging verbs, bindings may not.
    "apps": ["base/cgroup.h", "base/cpu.h", "base/extras.h", "base/machine.h", "base/mapped_file.h", "base/staged_file.h",
             "base/thread_pool.h", "capi/host.h", "session", "ir/text_print.h", "onnx/tensor_proto.h",
             "onnx/value_proto.h", "ops/op.h"],
    "bindings": ["base/extras.h", "capi/host.h"],
    "examples": ["base/extras.h"],
}

# Headers of an otherwise allowed module that stay out of reach: kernels use the element types, not storage.
DENIED = {
    "kernels": ["tensor/allocator.h", "tensor/tensor.h", "tensor/value.h"],
}

# Public headers a module may include; a module not named here may include all of them.
PUBLIC = {
    "base": ["sardonyx/error.h"],
    "extras": [],
}

EVERYWHERE = None
TESTS = "tests"

# Third-party header (name, or folder ending in a slash) -> the modules that may include it.
THIRD_PARTY = {
    "fmt/": EVERYWHERE,
    "xxhash.h": EVERYWHERE,
    "hwy/": ["kernels"],
    "sodium.h": ["base"],
    "nlohmann/": ["artifact", "cache", "remote", "session", "apps"],
    "CLI/": ["apps"],
    "nanobind/": ["bindings"],
    "jpeglib.h": ["extras"],
    "jerror.h": ["extras"],
    "png.h": ["extras"],
    "tiffio.h": ["extras"],
    "webp/": ["extras"],
    "openjpeg": ["extras"],
    "re2/": ["extras"],
    "utf8proc.h": ["extras"],
    "curl/": ["extras"],
    "gtest/": [TESTS],
    "gmock/": [TESTS],
    "benchmark/": [TESTS],
}

# Compiler intrinsics: SIMD bodies, and the processor queries and control registers of base.
INTRINSICS = re.compile(r"^([a-z]?mmintrin|x86intrin|immintrin|arm_neon|arm_acle|cpuid)\.h$")
INTRINSICS_IN = ["base", "kernels"]

# Headers of the operating system. base wraps files, memory and threads; the others listed own an OS interface.
OS_HEADER = re.compile(
    r"^(sys|linux|asm|net|netinet|arpa)/|"
    r"^(unistd|fcntl|dirent|dlfcn|pthread|sched|poll|link|elf|spawn|syslog|termios|semaphore|malloc|ucontext|"
    r"features|alloca|strings|glob|pwd|getopt|execinfo|cxxabi|langinfo|iconv|netdb|ftw|fnmatch|libgen|utime)\.h$")
OS_IN = ["base", "extras", "cache", "remote", "capi", "apps"]

STANDARD = set("""
    algorithm any array atomic barrier bit bitset charconv chrono codecvt compare complex concepts condition_variable
    coroutine deque exception execution filesystem format forward_list fstream functional future initializer_list
    iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex new
    numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex
    source_location span sstream stack stdexcept stop_token streambuf string string_view syncstream system_error
    thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version
    cassert cctype cerrno cfenv cfloat cinttypes climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio
    cstdlib cstring ctime cuchar cwchar cwctype
    assert.h ctype.h errno.h fenv.h float.h inttypes.h limits.h locale.h math.h setjmp.h signal.h stdarg.h stdbool.h
    stddef.h stdint.h stdio.h stdlib.h string.h time.h uchar.h wchar.h wctype.h
""".split())

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def module_of(path):
    """The row of the map a file belongs to, or None where the map has no row for it."""
    parts = path.replace(os.sep, "/").split("/")
    if parts[0] == "src":
        return parts[1] if len(parts) > 2 else None
    if parts[:2] == ["include", "sardonyx"]:
        return "public"
    if parts[0] in ("apps", "bindings", "examples"):
        return parts[0]
    if parts[0] in ("tests", "benchmarks", "tools"):
        return TESTS
    return None


def is_test(path):
    """Tests, benchmarks, and the headers they share (test_*.h, *_test_*.h)."""
    return module_of(path) == TESTS or re.search(r"_(test|bench)\.cc$|(^|[/_])test_\w+\.h$", path) is not None


def check_own(path, module, header):
    """The broken rule for an include of one of the project's own headers, or None."""
    if module == TESTS:
        return None
    target = header.split("/")[0]
    if is_test(header) and not is_test(path):
        return "only tests and benchmarks include test headers"
    if target == "sardonyx":
        allowed = PUBLIC.get(module, EVERYWHERE)
        if allowed is EVERYWHERE or header in allowed:
            return None
        return f"{module} may include only {', '.join(allowed) or 'none'} of the public headers"
    if module == "public":
        return "public headers include only the standard library and each other"
    if header in DENIED.get(module, []):
        return f"{module} must not know {header}"
    if target == module:
        return None
    allowed = LAYERS[module]
    if target in allowed or header in allowed:
        if target == "session" and module == "apps" and not path.replace(os.sep, "/").startswith("apps/cli/"):
            return "of the applications only the command line may include session"
        return None
    return f"{module} may include only: {', '.join(allowed) or 'itself'}"


def third_party_rule(header):
    """The entry of THIRD_PARTY that a header falls under, or None."""
    for name in THIRD_PARTY:
        if header == name or (not name.endswith(".h") and header.startswith(name)):
            return name
    return None


def check_system(path, module, header):
    """The broken rule for an include of a header that is not the project's own, or None."""
    if header in STANDARD:
        return None
    if module == "public":
        return "public headers include only the standard library and each other"
    test = is_test(path)
    name = third_party_rule(header)
    if name is not None:
        modules = THIRD_PARTY[name]
        if modules is EVERYWHERE or module in modules or module == TESTS or (test and TESTS in modules):
            return None
        places = ", ".join("test and benchmark files" if place == TESTS else place for place in modules)
        return f"<{header}> belongs to: {places}"
    if INTRINSICS.match(header):
        if module in INTRINSICS_IN or test:
            return None
        return f"intrinsics belong to: {', '.join(INTRINSICS_IN)}"
    if OS_HEADER.match(header):
        if module in OS_IN or test:
            return None
        return f"headers of the operating system belong to: {', '.join(OS_IN)}"
    return f"<{header}> is neither standard nor listed in tools/check_layers.py"


def check_file(root, path):
    """Yields one line for each finding in a file."""
    module = module_of(path)
    if module is None or (module not in LAYERS and module not in ("public", TESTS)):
        yield f"{path}:1: error: the file lies in no module of the map (tools/check_layers.py)"
        return
    with open(os.path.join(root, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, header = match.groups()
            target = header.split("/")[0]
            if "/" in header and (target in LAYERS or target == "sardonyx") and target not in ("apps", "bindings"):
                rule = check_own(path, module, header)
            elif quote == "<":
                rule = check_system(path, module, header)
            elif module in ("apps", "bindings", "examples", TESTS) and os.path.exists(
                    os.path.join(root, os.path.dirname(path), header)):
                rule = None
            elif module == TESTS and os.path.exists(os.path.join(root, header)):
                rule = None
            else:
                rule = f'name headers from src/, as in "{module}/{header}", and others in angle brackets'
            if rule:
                yield f"{path}:{number}: error: includes {header}: {rule}"


def check(root):
    findings = []
    for path in source_files(root, SUFFIXES):
        findings.extend(check_file(root, path))
    return findings


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    findings = check(root)
    for line in findings:
        print(line)
    print(f"layers: {len(findings)} errors")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
