#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests tools/check-circles.py on small build directories."""
import sys

import trees

CHECK = trees.ROOT / "tools" / "check-circles.py"
CIRCLE = {"a": "int b(void);\nint a(void) { return b(); }\n",
          "b": "int c(void);\nint b(void) { return c(); }\n",
          "c": "int a(void);\nint c(void) { return a(); }\n"}


def build(root, target, sources):
    """Compiles sources into the objects of a target."""
    folder = root / "build" / f"{target}.p"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in sources.items():
        trees.write(folder, {f"{name}.c": text})
        status, output = trees.command("cc", "-c", f"{name}.c", "-o", f"{name}.c.o", cwd=folder)
        assert status == 0, output


def check(root, *arguments):
    return trees.command(sys.executable, CHECK, *arguments, "--list", root / "allowed.txt",
                       root / "build")


def allowed(root):
    return (root / "allowed.txt").read_text(encoding="utf-8")


def test_tree_without_circles_passes(root):
    build(root, "src/liba.a", {**CIRCLE, "c": "int c(void) { return 0; }\n"})
    assert check(root) == (0, "circles: 1 targets checked, 0 circles allowed\n"), check(root)


def test_circle_fails_with_its_symbols(root):
    build(root, "src/liba.a", CIRCLE)
    status, output = check(root)
    assert status == 1 and ("src/liba.a: circle of calls: a.c needs b of b.c, b.c needs c of c.c, "
                            "c.c needs a of a.c; ") in output, output


def test_wrapped_functions_are_no_circle(root):
    wrapper = {"a": "int syscall(void);\nint as_a(void) { return syscall(); }\n",
               "b": "int as_a(void);\nint syscall(void) { return as_a(); }\n"}
    build(root, "src/agent/liba.so", wrapper)
    assert check(root)[0] == 0
    build(root, "src/liba.so", wrapper)
    assert check(root)[0] == 1


def test_calls_across_targets_are_no_circle(root):
    build(root, "src/liba.a", {name: CIRCLE[name] for name in "ab"})
    build(root, "src/libc.a", {"c": CIRCLE["c"]})
    assert check(root)[0] == 0


def test_tests_are_left_out(root):
    build(root, "tests/unit/a", CIRCLE)
    build(root, "src/liba.a", {"c": CIRCLE["c"]})
    assert check(root)[0] == 0


def test_allowed_circle_passes(root):
    build(root, "src/liba.a", CIRCLE)
    trees.write(root, {"allowed.txt": "src/liba.a\ta.c b.c c.c\nsrc/not-built.a\tx.c y.c\n"})
    assert check(root)[0] == 0, check(root)


def test_circle_that_grows_fails(root):
    build(root, "src/liba.a", CIRCLE)
    trees.write(root, {"allowed.txt": "src/liba.a\ta.c b.c\n"})
    status, output = check(root)
    assert status == 1 and "c.c needs a of a.c" in output, output
    assert check(root, "--shrink")[0] == 0 and "c.c" not in allowed(root)
    assert check(root)[0] == 1


def test_circle_of_another_target_is_not_allowed(root):
    build(root, "src/liba.a", CIRCLE)
    trees.write(root, {"allowed.txt": "src/libb.a\ta.c b.c c.c\n"})
    assert check(root)[0] == 1


def test_shrink_removes_what_left(root):
    build(root, "src/liba.a", {**CIRCLE, "d": "int d(void) { return 0; }\n"})
    trees.write(root, {"allowed.txt": "# head\nsrc/liba.a\ta.c b.c c.c d.c\nsrc/liba.a\tx.c y.c\n"})
    status, output = check(root)
    assert status == 1 and output.count("run tools/check-circles.py --shrink") == 2, output
    assert check(root, "--shrink")[0] == 0
    assert allowed(root) == "# head\nsrc/liba.a\ta.c b.c c.c\n"
    assert check(root)[0] == 0


def test_create_only_without_a_list(root):
    build(root, "src/liba.a", CIRCLE)
    assert check(root, "--create")[0] == 0 and allowed(root).endswith("src/liba.a\ta.c b.c c.c\n")
    assert check(root, "--create")[0] == 1


def test_name_of_two_archives_fails(root):
    build(root, "src/liba.a", {"a": "int a(void) { return 0; }\n"})
    build(root, "src/libb.a", {"b": "int a(void) { return 1; }\n"})
    assert check(root) == (1, "a: is defined in a.c of src/liba.a and in b.c of src/libb.a; rename "
                              "one of them\n"), check(root)


def test_name_of_a_library_and_an_archive_passes(root):
    build(root, "src/liba.a", {"a": "int a(void) { return 0; }\n"})
    build(root, "src/libb.so", {"b": "int a(void) { return 1; }\n"})
    assert check(root)[0] == 0


def test_directory_without_objects_fails(root):
    status, output = check(root)
    assert status == 1 and "no objects; build first: ./dev build" in output


if __name__ == "__main__":
    trees.main(globals())
