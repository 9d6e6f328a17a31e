#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the tutorial and looks for its findings in their output; reports in TAP.

usage: tutorial.py ASSAY PAGE EXAMPLE

Words must be as in the page; numbers may be others, and times are not compared. Series have two
runs of a small problem. The answer of a series is compared by its form.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "zoo"))
import pages  # noqa: E402
import tap as tap_module  # noqa: E402

SERIES = re.compile(r"^assay (repeat|scale) ")
# The answer of a series of two pairs may be that nothing is certain.
MEASURED = re.compile(r"^B is (faster|slower) than A: it takes \S+ % (less|more) \(95 %: .* %\)$")
STEPS = 6


def shorter(command):
    """Returns a series with two runs and a small problem: its figures are not compared."""
    if not SERIES.match(command):
        return command
    command = re.sub(r" -n \d+", " -n 2", command).replace("--size 64 --loads 2",
                                                          "--size 12 --loads 1")
    return command.replace("assay scale ", "assay scale -n 2 ")


class Shell:
    """Runs commands as a reader types them: directory and variables last."""

    def __init__(self, place, assay):
        self.state = ""
        self.place = place
        self.env = {**os.environ, "PATH": f"{assay.parent}:{os.environ['PATH']}",
                    "ASSAY_NO_MEASURE": "1", "LC_ALL": "C.UTF-8", "COLUMNS": "200",
                    "MAKEFLAGS": "-s MPI=no CC=gcc FC=gfortran"}

    def run(self, command):
        if re.match(r"(cd|export|unset) ", command):
            self.state += f"{command} || exit\n"
            command = "true"
        done = subprocess.run(["bash", "-c", f"set -o pipefail\n{self.state}{command}"],
                              cwd=self.place, env=self.env, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout


def check_page(tap, page, shell):
    step, outputs, commands = 0, {}, set()
    headings = [(number, int(match.group(1))) for number, line in enumerate(page.split("\n"), 1)
                for match in [re.match(r"## (\d+)\.", line)] if match]
    tap.equal([number for _, number in headings], list(range(1, STEPS + 1)),
              "the page has its steps")
    for number, kind, text in pages.parts(page):
        step = max((at for line, at in headings if line <= number), default=0)
        if kind == "command":
            status, output = shell.run(shorter(text))
            tap.point(status == 0, f"step {step}: {text[:60]}", output)
            outputs[step] = outputs.get(step, "") + output
            commands.add((step, text))
            continue
        # A finding may be of the step before.
        printed = outputs.get(step - 1, "") + outputs.get(step, "")
        for quoted in pages.lines_of(text):
            if MEASURED.match(quoted):
                tap.point("A against B, 2 pairs in turns" in printed,
                          f"step {step}: the series has an answer", printed)
            else:
                tap.point(pages.is_in(quoted, printed), f"step {step}: {quoted[:60]}",
                          f"line {number}: {quoted}\n{printed[-6000:]}")
    tap.equal(sorted({at for at, text in commands if text.startswith("assay ")}),
              list(range(1, STEPS + 1)), "each step has a command of assay")


def check_comparison(tap):
    """The comparison itself: it must not let a changed finding pass."""
    output = "  1. at most 2.82 s: The loop at a.c:7 takes 30\n     cycles.\n     → Divide once.\n"
    tap.point(pages.is_in("The loop at a.c:9 takes 31 cycles.", output), "numbers may differ")
    tap.point(not pages.is_in("The loop at b.c:7 takes 30 cycles.", output), "words may not")
    tap.point(pages.is_in("The loop at a.c:7 [...]\n→ Divide once.", output), "[...] is any text")
    tap.point(not pages.is_in("→ Divide twice.", output), "an action that is not there is seen")


def main():
    assay, page, example = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    tap = tap_module.Tap()
    check_comparison(tap)
    missing = [tool for tool in ("make", "gcc", "gfortran") if not shutil.which(tool)]
    with tempfile.TemporaryDirectory() as place:
        if missing:
            tap.skip("the commands of the tutorial", f"no {missing[0]} here")
        else:
            shutil.copytree(example, pathlib.Path(place, "examples", "cg"),
                            ignore=shutil.ignore_patterns("build", "plain", "*.assay"))
            check_page(tap, page.read_text(encoding="utf-8"), Shell(place, assay))
    sys.exit(tap.end())


if __name__ == "__main__":
    main()
