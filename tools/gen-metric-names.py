#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the names of metrics as macros: gen-metric-names.py OUTPUT FILE...

Each FILE is a table of metrics of data/ (tools/gen-advice.py). `metric load_b` in
data/vprof/metrics.txt gives AS_METRIC_load_b. Code names a metric by its macro alone, so a metric
that was renamed does not compile. Metrics of data/quality/cqa.txt have the prefix cqa_, as in
experiments. A `variant NAME` of data/advise/what-ifs.txt has the speed-up cqa_NAME_x.
"""
import pathlib
import re
import sys

LINE = re.compile(r"metric (\w+)|    variant (\w+)")


def names_of(path):
    prefix = "cqa_" if path.name == "cqa.txt" else ""
    for line in path.read_text(encoding="ascii").splitlines():
        match = LINE.match(line)
        if match:
            yield prefix + match.group(1) if match.group(1) else f"cqa_{match.group(2)}_x"


def main(output, *files):
    names = sorted({name for path in files if path.endswith(".txt")
                    for name in names_of(pathlib.Path(path))})
    pathlib.Path(output).write_text(
        "/* Made by tools/gen-metric-names.py. */\n#ifndef AS_EXPERIMENT_METRIC_NAMES_H\n"
        "#define AS_EXPERIMENT_METRIC_NAMES_H\n\n"
        + "".join(f'#define AS_METRIC_{name} "{name}"\n' for name in names) + "\n#endif\n",
        encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
