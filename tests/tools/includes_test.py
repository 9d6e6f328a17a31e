#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the rules of folders of tools/check-includes.py on small trees."""
import sys

import trees

CHECK = trees.ROOT / "tools" / "check-includes.py"
TREE = {
    "tools/floors.txt": "0 base\n3 agent\n5 profile\n",
    "tools/folders.txt": "src/agent/shared layout\nsrc/agent/core quiet shared\n"
                         "src/agent/wrap wrapper shared core\nsrc/agent/inject host shared\n",
    "src/base/alloc.h": "#include <stdlib.h>\n",
    "src/base/clock.h": "#include <time.h>\n",
    "src/base/table.h": "#include \"base/alloc.h\"\n",
    "src/agent/shared/page.h": "#include <stdint.h>\n",
    "src/agent/core/core.h": "#include \"agent/shared/page.h\"\n#include \"base/clock.h\"\n",
    "src/agent/core/core.c": "#include \"agent/core/core.h\"\nvoid a(void) { b->free(0); }\n",
    "src/agent/wrap/io.c": "#include <stdio.h>\n#include \"agent/core/core.h\"\n",
    "src/agent/inject/enter.c": "#include <stdio.h>\n#include \"base/alloc.h\"\n"
                                "#include \"agent/shared/page.h\"\n",
    "src/profile/run.c": "#include \"agent/shared/page.h\"\n",
}


def check(root, changes):
    trees.write(root, {**TREE, **changes})
    return trees.command(sys.executable, CHECK, root)


def fails(root, changes, *words):
    status, output = check(root, changes)
    assert status == 1 and all(word in output for word in words), output
    assert len(output.splitlines()) == 1, output


def test_tree_within_its_rules_passes(root):
    assert check(root, {}) == (0, "includes: 9 files, all go down\n"), check(root, {})


def test_include_of_a_higher_floor_is_found(root):
    fails(root, {"src/base/other.h": "#include \"profile/run.h\"\n", "src/profile/run.h": "\n",
                 "src/profile/run.c": "\n"},
          "src/base/other.h:1: base (floor 0) includes src/profile/run.h (floor 5): an upward edge")


def test_floor_without_a_room_is_found(root):
    fails(root, {"tools/floors.txt": "0 base\n3 agent\n5 profile semantics\n"},
          "tools/floors.txt: room 'semantics' does not exist")


def test_heap_behind_a_header_is_found(root):
    fails(root, {"src/agent/core/core.h": "#include \"base/table.h\"\n",
                 "src/agent/core/core.c": "\n", "src/agent/wrap/io.c": "\n"},
          "src/agent/core/core.h: reaches base/alloc.h")


def test_stdio_is_for_wrappers_and_the_host(root):
    fails(root, {"src/agent/core/core.c": "#include <stdio.h>\n"},
          "src/agent/core/core.c: reaches stdio.h, which the rule quiet")


def test_call_of_the_heap_is_found(root):
    fails(root, {"src/agent/core/core.c": "/* malloc(1) */\nvoid *a(void) { return malloc(1); }\n"},
          "src/agent/core/core.c:2: malloc")


def test_layout_has_plain_types_only(root):
    fails(root, {"src/agent/shared/page.h": "#include <time.h>\n"},
          "src/agent/shared/page.h:1: a layout may not include time.h")


def test_other_room_sees_layouts_and_the_host_side_only(root):
    fails(root, {"src/profile/run.c": "#include \"agent/core/core.h\"\n"},
          "src/profile/run.c:1: includes src/agent/core/core.h, which runs in another address")


def test_host_side_does_not_see_the_inside(root):
    fails(root, {"src/agent/inject/enter.c": "#include \"agent/core/core.h\"\n"},
          "src/agent/inject may not include src/agent/core")


def test_folder_without_a_rule_is_found(root):
    fails(root, {"src/agent/new/new.c": "\n"}, "folder src/agent/new has no rule")


if __name__ == "__main__":
    trees.main(globals())
