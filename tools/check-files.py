#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One way to open a named file.

usage: check-files.py ROOT

A named file comes from a user, an experiment or a binary. base/untrusted_open.h opens it,
base/infile.h reads it, base/filemap.h maps it, and base/outfile.h writes it. These do not block.
They do not follow forbidden links, survive truncation, and replace a file whole or not at all.
Every other call that opens a file is in the list below, with its number and reason. Exit status 1
when a call is not in the list, or the list has more than the sources.
"""
import pathlib
import re
import sys

CALL = re.compile(r"(?<![A-Za-z0-9_.>])(fopen|freopen|open|openat|creat|mkstemp|mmap|"
                  r"hwloc_topology_set_xml|gzopen)\s*\(")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"", re.S)
ANONYMOUS = re.compile(r"mmap\s*\([^;]*?MAP_ANONYMOUS", re.S)

# Rooms that never open what a user names: inside of the program, and benchmarks of this machine.
ROOMS = ("src/agent/", "src/measure/")
KERNEL = "files of /proc, /sys and /dev"
DRAFT = "new files in a directory that this process made"
PLACE = "directories, as places for names"
EVENTS = "perf events and shared memory of an agent"
ALLOWED = {
    "cli/main.c": (1, KERNEL),
    "cli/merge_together.c": (2, DRAFT),
    "src/analytics/parallel/shuffle_file.c": (2, DRAFT),
    "src/analytics/parallel/parallel.c": (1, DRAFT),
    "src/base/filemap.c": (1, "the piece"),
    "src/base/untrusted_open.c": (4, "the piece"),
    "src/base/infile.c": (1, "the piece"),
    "src/base/limited.c": (1, KERNEL),
    "src/base/memory_used.c": (1, KERNEL),
    "src/base/outfile.c": (4, "the piece"),
    "src/base/tree.c": (1, PLACE),
    "src/base/io_full.c": (1, KERNEL),
    "src/campaign/campaign.c": (2, PLACE),
    "src/campaign/streams.c": (1, DRAFT),
    "src/container/write.c": (1, DRAFT),
    "src/count/reader.c": (2, EVENTS),
    "src/exchange/scratch.c": (1, "a temporary file without a name"),
    "src/experiment/array.c": (1, DRAFT),
    "src/experiment/directory.c": (4, PLACE),
    "src/experiment/sync.c": (3, PLACE),
    "src/launch/attach.c": (1, KERNEL),
    "src/launch/party.c": (2, DRAFT),
    "src/launch/rank.c": (1, KERNEL),
    "src/machine/host.c": (2, KERNEL),
    "src/machine/load.c": (1, KERNEL),
    "src/merge/files.c": (3, DRAFT),
    "src/merge/streams.c": (2, DRAFT),
    "src/profile/collect_trace.c": (2, DRAFT),
    "src/profile/task_account.c": (3, KERNEL),
    "src/profile/limit.c": (1, KERNEL),
    "src/profile/pages.c": (1, KERNEL),
    "src/report/write.c": (1, PLACE),
    "src/report/xlsx.c": (1, KERNEL),
    "src/report/xlsx_verify.c": (1, DRAFT),
    "src/sample/choose.c": (3, KERNEL),
    "src/sample/code_maps.c": (2, EVENTS),
    "src/sample/existing.c": (2, KERNEL),
    "src/sample/module_file.c": (1, DRAFT),
    "src/sample/open.c": (1, KERNEL),
    "src/sample/rings.c": (3, EVENTS),
    "src/sample/timer.c": (1, KERNEL),
    "src/sample/timer_ring.c": (3, EVENTS),
    "src/trace/write.c": (1, DRAFT),
    "src/trial/build.c": (4, DRAFT),
    "src/trial/tree.c": (1, DRAFT),
    "src/trial/wrap.c": (1, DRAFT),
    "src/validate/compile.c": (1, DRAFT),
    "src/vprof/collect.c": (2, DRAFT),
}


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def calls_in(text):
    text = COMMENT.sub(blank, text)
    for match in CALL.finditer(text):
        if not ANONYMOUS.match(text, match.start()):
            yield text.count("\n", 0, match.start()) + 1, match.group(1)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    count = faults = 0
    for path in sorted(p for room in ("src", "cli") for p in (root / room).rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        if name.startswith(ROOMS):
            continue
        calls = list(calls_in(path.read_text(encoding="utf-8")))
        count += len(calls)
        allowed = ALLOWED.get(name, (0, ""))[0]
        if len(calls) > allowed:
            faults += 1
            for line, call in calls:
                print(f"{name}:{line}: {call}: use base/untrusted_open.h, infile.h, filemap.h or "
                      f"outfile.h ({len(calls)} calls, {allowed} allowed)")
        elif len(calls) < allowed:
            faults += 1
            print(f"{name}: {len(calls)} calls, {allowed} allowed: lower its number in "
                  "tools/check-files.py")
    if not faults:
        print(f"files: {count} calls outside of the pieces, all known")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
