#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No loop of a library exceeds a peak of a core: peaks.py ASSAY CORES LIBRARY...

CORES is `all` or names with commas. A library that is not installed is skipped. Output is TAP: a
test point for each library on each core."""
import csv
import os
import subprocess
import sys

FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
ROUNDING = 1.0001


def find_library(name):
    paths = (os.path.join(folder, name) for folder in FOLDERS)
    return next((path for path in paths if os.path.exists(path)), None)


def is_share(column):
    """Shares that have 100 % as their limit."""
    return column.endswith("_peak_pct") or column.startswith("vec_eff_")


def exceeding(assay, core, path):
    """Sentences on loops above a peak; rows that were looked at."""
    words = [assay, "cqa", "--machine", core, "--format", "csv", path]
    found, rows = [], 0
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as program:
        for row in csv.DictReader(program.stdout):
            rows += 1
            found += [f"loop {row['id']} of {row['function']}, path {row['path']}: {column} is "
                      f"{row[column]}" for column in row
                      if is_share(column) and row[column] and float(row[column]) > 100 * ROUNDING]
    if program.returncode:
        found.append(f"exit status {program.returncode}")
    return found, rows


def cores_of(assay, word):
    if word != "all":
        return word.split(",")
    text = subprocess.run([assay, "cqa", "--machine", "none", assay], capture_output=True,
                          text=True, check=False).stderr
    return text.split("there are ")[1].split(", and files")[0].split(", ")


def main():
    assay, cores, libraries = sys.argv[1], cores_of(sys.argv[1], sys.argv[2]), sys.argv[3:]
    number, failed = 0, False
    print(f"1..{len(cores) * len(libraries)}")
    for library in libraries:
        path = find_library(library)
        for core in cores:
            number += 1
            what = f"{number} - {library} on {core}"
            if not path:
                print(f"ok {what} # SKIP {library} is not installed")
                continue
            found, rows = exceeding(assay, core, path)
            if not rows:
                found.append("no loop was looked at")
            print(f"{'not ok' if found else 'ok'} {what}", flush=True)
            for line in found[:5]:
                print(f"# {line}")
            failed |= bool(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
