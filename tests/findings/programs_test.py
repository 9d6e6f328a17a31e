#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the heads of the programs, their measured gains, and the verdicts on made-up findings."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "zoo")]
import judged  # noqa: E402
import measured  # noqa: E402
import programs  # noqa: E402
import tap as tap_module  # noqa: E402

ADVISE = HERE.parents[1] / "data" / "advise"


def known_rules():
    return {name for path in ADVISE.glob("*.txt")
            for name in re.findall(r"^(?:finding|cause) (\w+)", path.read_text("utf-8"), re.M)}


def faults_of_head(program, known):
    """Yields what is wrong with a head."""
    head = program.head
    if program.clock not in measured.CLOCKS:
        yield f"clock: '{program.clock}' is neither cpu nor wall"
    if program.other_form not in head:
        yield f"key '{program.other_form}' is missing"
    if not head["cause"].endswith(".") or not head[program.other_form].endswith("."):
        yield "a sentence has no full stop"
    if head["finding"] == programs.NONE_YET and "words" not in head:
        yield "key 'words' is missing"
    re.compile(head.get("words", ""))
    for rule in set(program.rules + program.false_rules) - known:
        yield f"unknown rule '{rule}'"
    if set(program.rules) & set(program.false_rules):
        yield "a rule is right and false"
    text = program.path.read_text("ascii")
    for macro, form in (("REPAIRED", "repair"), ("NAIVE", "naive")):
        chosen = f"{form} flags" in head or f"{form} variables" in head
        if form == program.other_form and not chosen and macro not in text:
            yield f"macro {macro} is missing"
    names = [name for name in program.places if re.search(rf"\b{re.escape(name)}\b",
                                                          text.split("clock:", 1)[1])]
    if not names and "run" not in program.places:
        yield "no function of 'place' is in the source"


def finding_of(**given):
    finding = {"rank": 1, "rule": "divisions", "object_kind": "run", "object_id": 1,
               "level": "potential", "text": "The run divides.", "workaround": "Divide less.",
               "gain_s": None, "gain_low_s": None, "gain_high_s": None, "time_s": 0.5}
    return finding | given


class MadeUp:
    """A recorded run of 2 s."""
    seconds = {"wall": 2.0, "cpu": 2.0}
    loops = {7: {"function": "calibrate", "binary_function": "main", "source_file": None}}

    def __init__(self, *findings):
        self.findings = findings


def check_verdicts(tap, all_named):
    division, idle = all_named["image_division"], all_named["idle_pool"]
    mark = min(division.marked_lines())
    truth = measured.Truth({"base": [[2, 2]] * 9, "other": [[1.8, 1.8]] * 9})

    def verdict(program, **given):
        return judged.verdict_of(program, finding_of(**given), MadeUp())
    tap.equal(verdict(division), "rule", "a right rule without a place has the rule alone")
    tap.equal(verdict(division, text="calibrate divides."), "true",
              "a right rule with the function is true")
    tap.equal(verdict(division, text=f"The loop at image_division.cpp:{mark}-{mark} divides."),
              "true", "a right rule with the line is true")
    tap.equal(verdict(division, text="The loop at image_division.cpp:5 divides."), "rule",
              "a right rule with another line has the rule alone")
    aliasing = finding_of(rule="flat", text="The loop at alias_pixels.cpp:5 is slow.")
    tap.equal(judged.states_cause(all_named["alias_pixels"], aliasing), False,
              "the name of a file is no word of a finding")
    tap.equal(verdict(division, object_kind="loop", object_id=7), "true",
              "a right rule on a loop of the function is true")
    tap.equal(verdict(division, rule="memory_pace", text="calibrate"), "false",
              "a rule that the head calls false is false")
    tap.equal(verdict(idle, rule="hottest", level="hint"), "open",
              "a hint does not promise seconds")
    tap.equal(verdict(idle, rule="hottest"), "false", "a promise where nothing is to gain is false")
    tap.equal(verdict(idle, rule="hottest", time_s=0.05), "open",
              "a promise of less than 5 % of the run is not false")
    right = finding_of(text="calibrate divides.")
    row = judged.judged_program(division, truth, MadeUp(right))
    tap.equal((row["first_true"], row["first_useful"], row["bound_holds"]), (True, True, True),
              "0.2 s of gain are within a bound of 0.5 s")
    row = judged.judged_program(division, truth, MadeUp(right | {"time_s": 0.1}))
    tap.equal((row["first_true"], row["first_useful"], row["bound_holds"]), (True, False, False),
              "0.2 s of gain exceed a bound of 0.1 s")
    row = judged.judged_program(division, truth, MadeUp(right | {"time_s": 0.15},
                                                        right | {"rank": 2, "time_s": 0.15}))
    tap.equal((row["bound_s"], row["bound_holds"]), (0.3, True),
              "the bounds of two loops with one cause are added")
    other = finding_of(rule="flat", level="hint", time_s=None)
    row = judged.judged_program(division, truth, MadeUp(other, right | {"rank": 2}))
    tap.equal((row["first_true"], row["in_first_three"], row["rank"]), (False, True, 2),
              "a right finding behind another one is in the first three")
    totals = judged.totals_of([row])
    tap.equal((totals["first_true_pct"], totals["in_first_three_pct"]), (0, 100),
              "totals are shares of the programs")


def main():
    tap, found, known, kept = tap_module.Tap(), [], known_rules(), measured.read_truth()
    found = programs.all_programs()
    tap.equal({folder: sum(one.folder == folder for one in found) for folder in programs.FOLDERS},
              dict.fromkeys(programs.FOLDERS, 25), "each folder has 25 programs")
    for program in found:
        wrong = list(faults_of_head(program, known))
        tap.point(not wrong, f"{program.name}: the head is complete", "\n".join(wrong))
    tap.same_set(kept, [program.name for program in found], "truth.json has every program")
    for program in found:
        if program.name in kept:
            wrong = measured.fault_of(program, kept[program.name])
            tap.point(not wrong, f"{program.name}: the measured gain agrees with the head", wrong)
    tap.equal([measured.interval_rank(n) for n in (6, 8, 9, 12)], [0, 0, 1, 2],
              "the interval of a median leaves out so many values at each end")
    check_verdicts(tap, {program.name: program for program in found})
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
