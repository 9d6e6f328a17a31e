# SPDX-License-Identifier: Apache-2.0
"""Judges the findings of recorded runs by the heads of the programs and their measured gains.

A finding is `true` if its rule states the cause and its text or its loop names the place. Without
the place it is `rule`. It is `false` if the head calls its rule false. If nothing can be gained, a
finding that promises at least 5 % of the run is false, too. Every other finding is `open`.

The bound of a finding is the upper end of its gain. A potential without a gain has its seconds.
Several loops may have one cause: the bounds of true findings of one rule are added.
The measured gain is the share that truth.json has, of the seconds of the recorded run.
"""
import collections
import json
import re
import subprocess

import measured

FIRST = 3
NEAR_LINES = 2
PLACE = re.compile(r"([\w.+-]+\.(?:c|cpp|F90)):(\d+)(?:-(\d+))?")
NAMED = re.compile(r"(?:most of (?:it|them) (?:for|in)|freed by) ([^ ,(]+?)\.?(?=[ ,(]|$)")
TRUE, RULE, FALSE, OPEN = "true", "rule", "false", "open"


def shown(assay, experiment, view):
    """Returns the rows of a view of an experiment."""
    done = subprocess.run([assay, "show", experiment, "--view", view, "--format", "json"],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


class Recorded:
    """Findings of an experiment in order, its loops and the seconds of its run."""

    def __init__(self, assay, experiment):
        run = shown(assay, experiment, "runs")[0]
        self.seconds = {"wall": run["wall_s"], "cpu": run["sampled_time_s"]}
        self.findings = sorted(shown(assay, experiment, "findings"), key=lambda row: row["rank"])
        self.loops = {row["loop_id"]: row for row in shown(assay, experiment, "loops")}


def lines_of(program, finding, loops):
    """Yields the ranges of lines of the program that a finding names."""
    for file, first, last in PLACE.findall(finding["text"]):
        if file == program.path.name:
            yield int(first), int(last or first)
    loop = loops.get(finding["object_id"]) if finding["object_kind"] == "loop" else None
    if loop and loop["source_file"] and loop["source_file"].endswith("/" + program.path.name):
        yield loop["first_line"], loop["last_line"] or loop["first_line"]


def functions_of(program, finding, loops):
    """Returns the functions of the head that a finding names."""
    text = finding["text"]
    if finding["object_kind"] == "loop" and finding["object_id"] in loops:
        loop = loops[finding["object_id"]]
        text += f" {loop['function']} {loop['binary_function']}"
    return [name for name in program.places
            if re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", text)]


def has_place(program, finding, loops):
    if "run" in program.places or functions_of(program, finding, loops):
        return True
    marks = program.marked_lines()
    return any(first - NEAR_LINES <= mark <= last + NEAR_LINES
               for first, last in lines_of(program, finding, loops) for mark in marks)


def states_cause(program, finding):
    if program.gains_nothing or (program.rules and finding["rule"] not in program.rules):
        return False
    words = program.head.get("words")
    text = PLACE.sub("", f"{finding['text']} {finding['workaround']}")
    return not words or bool(re.search(words, text))


def bounds_of(finding):
    """Returns the lower and the upper end of the gain that a finding states; None if missing."""
    if finding["gain_high_s"] is not None:
        return finding["gain_low_s"] or 0, finding["gain_high_s"]
    if finding["level"] == "potential" and finding["time_s"] is not None:
        return 0, finding["time_s"]
    return None, None


def verdict_of(program, finding, recorded):
    if states_cause(program, finding):
        return TRUE if has_place(program, finding, recorded.loops) else RULE
    _, high = bounds_of(finding)
    if program.gains_nothing and high is not None \
            and high >= measured.NEGLIGIBLE * recorded.seconds[program.clock]:
        return FALSE
    return FALSE if finding["rule"] in program.false_rules else OPEN


def place_text(program, finding, loops):
    """Returns in a few letters what a finding is about."""
    match = PLACE.search(finding["text"])
    line = f"{match[2]} " if match else ""
    loop = loops.get(finding["object_id"]) if finding["object_kind"] == "loop" else None
    if loop:
        return line + loop["function"]
    named = functions_of(program, finding, loops)
    if named:
        return line + named[0]
    match = NAMED.search(finding["text"])
    return line + (match[1] if match else finding["object_kind"])


def judged_finding(program, finding, recorded):
    low, high = bounds_of(finding)
    return {"rank": finding["rank"], "rule": finding["rule"], "level": finding["level"],
            "verdict": verdict_of(program, finding, recorded),
            "place": place_text(program, finding, recorded.loops),
            "low_s": low, "high_s": high, "text": finding["text"],
            "advice": finding["workaround"]}


def bound_of_cause(found, right):
    """Returns the sums of the bounds of all true findings that have the rule of the right one."""
    same = [one for one in found if right and one["rule"] == right["rule"]
            and one["verdict"] == right["verdict"] and one["high_s"] is not None]
    return (sum(one["low_s"] for one in same), sum(one["high_s"] for one in same)) if same \
        else (None, None)


def judged_program(program, truth, recorded):
    """Returns the verdict on all findings of a program, in a form that JSON can keep."""
    seconds = recorded.seconds[program.clock]
    shares = (0, 0, 0) if program.gains_nothing else truth.share(program.clock)
    gain, gain_low, gain_high = (seconds * share for share in shares)
    found = [judged_finding(program, finding, recorded) for finding in recorded.findings]
    first = found[0]["verdict"] if found else OPEN
    right = next((one for one in found if one["verdict"] == TRUE), None)
    low, high = bound_of_cause(found, right)
    holds = None if high is None else gain_low <= high
    if program.gains_nothing:
        is_true = is_useful = first != FALSE
        in_first = all(one["verdict"] != FALSE for one in found[:FIRST])
    else:
        is_true = first == TRUE
        is_useful = is_true and gain_low > 0 and bool(holds) and gain_high >= low
        in_first = right is not None and right in found[:FIRST]
    return {"program": program.name, "folder": program.folder, "nothing": program.gains_nothing,
            "expected": program.rules, "clock": program.clock, "run_s": seconds, "gain_s": gain,
            "gain_low_s": gain_low, "gain_high_s": gain_high, "first": first,
            "first_true": is_true, "first_useful": is_useful, "in_first_three": in_first,
            "rule_in_first_three": in_first or any(one["verdict"] == RULE
                                                   for one in found[:FIRST]),
            "rank": right and right["rank"],
            "false_n": sum(one["verdict"] == FALSE for one in found[:FIRST]),
            "bound_s": high, "bound_holds": holds, "findings": found}


def percent(values):
    values = list(values)
    return 100 * sum(values) / len(values) if values else None


def totals_of(rows):
    return {"program_n": len(rows),
            "first_true_pct": percent(row["first_true"] for row in rows),
            "first_true_and_useful_pct": percent(row["first_useful"] for row in rows),
            "in_first_three_pct": percent(row["in_first_three"] for row in rows),
            "rule_in_first_three_pct": percent(row["rule_in_first_three"] for row in rows),
            "false_n": sum(row["false_n"] for row in rows),
            "bound_n": sum(row["bound_holds"] is not None for row in rows),
            "bound_holds_pct": percent(row["bound_holds"] for row in rows
                                       if row["bound_holds"] is not None)}


def rules_of(rows):
    """Returns for each rule its verdicts among the first three, and how often it was missed."""
    rules = collections.defaultdict(collections.Counter)
    for row in rows:
        for one in row["findings"][:FIRST]:
            rules[one["rule"]][one["verdict"]] += 1
        for rule in row["expected"]:
            rules[rule]["expected"] += 1
            rules[rule]["hit"] += any(one["rule"] == rule and one["verdict"] == TRUE
                                      for one in row["findings"][:FIRST])
    return {rule: {"said_n": sum(count[key] for key in (TRUE, RULE, FALSE, OPEN)),
                   "true_n": count[TRUE], "rule_n": count[RULE], "false_n": count[FALSE],
                   "open_n": count[OPEN],
                   "expected_n": count["expected"], "hit_n": count["hit"]}
            for rule, count in sorted(rules.items())}


def cut(text, width):
    return text if len(text) <= width else text[:width - 1] + "~"


def yes(value):
    return "-" if value is None else "yes" if value else "no"


def amount(value):
    return "-" if value is None else f"{value:.2f}"


def print_rows(rows):
    print("program           first finding         place             true use top3 rank false"
          "  gain bound holds")
    for row in rows:
        first = row["findings"][0] if row["findings"] else {"rule": "-", "place": "-"}
        is_true = "rule" if row["first"] == RULE else yes(row["first_true"])
        print(f"{cut(row['program'], 17):17} {cut(first['rule'], 21):21} "
              f"{cut(first['place'], 17):17} {is_true:>4} "
              f"{yes(row['first_useful']):>3} {yes(row['in_first_three']):>4} "
              f"{row['rank'] or '-':>4} {row['false_n']:5} "
              f"{'none' if row['nothing'] else amount(row['gain_s']):>5} "
              f"{amount(row['bound_s']):>5} {yes(row['bound_holds']):>5}")


def print_text(rows):
    print_rows(rows)
    totals = totals_of(rows)
    print(f"\n{totals['program_n']} programs: first true {totals['first_true_pct']:.0f} %, "
          f"first true and useful {totals['first_true_and_useful_pct']:.0f} %,\n"
          f"in the first three {totals['in_first_three_pct']:.0f} % "
          f"(rule without place {totals['rule_in_first_three_pct']:.0f} %),\n"
          f"{totals['false_n']} false in the first three, bound holds "
          f"{amount(totals['bound_holds_pct'])} % of {totals['bound_n']}\n")
    print("rule                    said  true  rule false  open   expected  hit")
    for rule, count in rules_of(rows).items():
        print(f"{rule:23} {count['said_n']:4} {count['true_n']:5} {count['rule_n']:5} "
              f"{count['false_n']:5} {count['open_n']:5}   {count['expected_n']:8} "
              f"{count['hit_n']:4}")


def print_json(rows):
    print(json.dumps({"programs": rows, "totals": totals_of(rows), "rules": rules_of(rows)},
                     indent=1))
