#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes configurations of Paraver as texts of C: gen-configurations.py OUTPUT FILE.cfg...

Each is known by the name of its file. A file without a description ends the build.
"""
import json
import pathlib
import sys


def description_of(path, text):
    begin, end = "ConfigFile.BeginDescription\n", "\nConfigFile.EndDescription"
    if begin not in text or end not in text:
        sys.exit(f"{path}: has no description")
    return text.split(begin)[1].split(end)[0]


def main():
    rows = []
    for name in sorted(sys.argv[2:]):
        path = pathlib.Path(name)
        text = path.read_text(encoding="ascii")
        lines = "\n     ".join(json.dumps(line + "\n") for line in text.splitlines())
        rows.append(f"    {{{json.dumps(path.stem)}, {json.dumps(description_of(path, text))},\n"
                    f"     {lines}}},")
    pathlib.Path(sys.argv[1]).write_text(
        "/* SPDX-License-Identifier: Apache-2.0 */\n/* Made by tools/gen-configurations.py. */\n"
        '#include "semantic/ready.h"\n\nconst struct as_ready as_ready_configurations[] = {\n'
        + "\n".join(rows) +
        "\n};\nconst size_t as_ready_n =\n"
        "    sizeof as_ready_configurations / sizeof *as_ready_configurations;\n")


if __name__ == "__main__":
    main()
