#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges findings by programs with known causes.

usage: judge.py measure [NAME...]              measure both forms in turns: truth.json
       judge.py record ASSAY DIR [NAME...]     record the base forms: DIR/NAME.assay
       judge.py judge [--assay ASSAY] [--format text|json] DIR [NAME...]
                                               judge the findings of what was recorded

programs.py explains the heads of the programs, judged.py the verdicts.
"""
import argparse
import pathlib
import subprocess
import sys
import time

import judged
import measured
import programs

BUILT = programs.HERE.parents[1] / "build" / "assay"


def record(assay, directory, chosen):
    """Records the base form of each program; returns the number of failures.

    A program that is judged by wall seconds waits for a quiet machine.
    """
    directory.mkdir(parents=True, exist_ok=True)
    failed = 0
    for program in programs.all_programs(chosen):
        binary = program.build("base", directory)
        command = [assay, "run", "-q", "--force", "-o", str(directory / f"{program.name}.assay"),
                   "--", *program.command(binary)]
        if program.clock == "wall":
            measured.wait_for_quiet(time.monotonic() + measured.PATIENCE_S)
        done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, env=program.environment())
        print(f"{program.name:17} {'recorded' if done.returncode == 0 else 'failed'}", flush=True)
        if done.returncode:
            failed += 1
            print(done.stderr.decode("utf-8", "replace")[-2000:])
    return failed


def judge(assay, directory, chosen, form):
    """Prints the verdicts on all experiments of the directory; returns the number of missing."""
    rows, missing, truth = [], 0, measured.read_truth()
    for program in programs.all_programs(chosen):
        experiment = directory / f"{program.name}.assay"
        if not experiment.exists() or program.name not in truth:
            print(f"judge.py: {experiment}: missing; run judge.py record", file=sys.stderr)
            missing += 1
            continue
        recorded = judged.Recorded(assay, str(experiment))
        rows.append(judged.judged_program(program, truth[program.name], recorded))
    if rows:
        (judged.print_json if form == "json" else judged.print_text)(rows)
    return missing


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("measure").add_argument("name", nargs="*")
    recording = verbs.add_parser("record")
    recording.add_argument("assay")
    judging = verbs.add_parser("judge")
    judging.add_argument("--assay", default=str(BUILT))
    judging.add_argument("--format", choices=("text", "json"), default="text")
    for verb in (recording, judging):
        verb.add_argument("directory", type=pathlib.Path)
        verb.add_argument("name", nargs="*")
    given = parser.parse_args()
    if given.verb == "measure":
        return measured.measure(given.name) > 0
    if given.verb == "record":
        return record(given.assay, given.directory.resolve(), given.name) > 0
    return judge(given.assay, given.directory, given.name, given.format) > 0


if __name__ == "__main__":
    sys.exit(main())
