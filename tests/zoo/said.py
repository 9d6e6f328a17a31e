# SPDX-License-Identifier: Apache-2.0
"""The output of assay about a binary: its JSON documents, read through one place.

doc/reference/json.md is the contract; a field that is not there is a KeyError, and so a failed
test.
"""
import csv
import io
import json
import subprocess


class Failed(Exception):
    """assay did not end with status 0."""


class Said:
    def __init__(self, assay, *options):
        self.assay = assay
        self.options = list(options)

    def text(self, verb, *args):
        run = subprocess.run([self.assay, verb, *map(str, args), *self.options],
                             capture_output=True, text=True, errors="replace", check=False)
        if run.returncode != 0:
            raise Failed(f"assay {verb} {' '.join(map(str, args))}: exit status "
                         f"{run.returncode}: {run.stderr.strip()}")
        return run.stdout

    def info(self, path):
        return json.loads(self.text("info", path, "--format", "json"))["binaries"][0]

    def functions(self, path):
        return json.loads(self.text("functions", path, "--format", "json"))["functions"]

    def rows(self, path, start, end):
        """Instructions of a range as CSV rows, keyed by column."""
        text = self.text("disasm", path, "--range", f"{start:x}-{end:x}", "--format", "csv")
        return list(csv.DictReader(io.StringIO(text)))
