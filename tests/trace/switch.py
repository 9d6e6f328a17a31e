#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pauses of tracing by calls, a signal, a file and times; and messages around them.

usage: switch.py ASSAY DUMP SOURCE INCLUDE LIBRARY
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASSAY_NO_MEASURE="1")


def trace(assay, made, options, command):
    """The answer of assay; `made` is new."""
    shutil.rmtree(made, ignore_errors=True)
    return subprocess.run([assay, "trace", "--format", "json", "-o", made, *options, "--",
                           *command], capture_output=True, text=True, check=False,
                          env=ENVIRONMENT, timeout=800)


def writes_of(dump, made):
    """Returns, for each thread, the bytes that it wrote, with "off" and "on" in between."""
    text = subprocess.run([dump, made / "run-001" / "trace"], capture_output=True, text=True,
                          check=False).stdout
    threads = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["process"]:
            threads.append([])
        elif words[:1] == ["write"] and "io" in words:
            threads[-1].append(int(words[words.index("io") + 2]))
        elif words[:1] in (["off"], ["on"]):
            threads[-1].append(words[0])
    return [thread for thread in threads if thread]


def off_s(run):
    return [place["off_s"] for place in json.loads(run.stdout)["parallel"]["locations"]]


class Switches:
    """One process; what it writes is what is seen."""

    def __init__(self, assay, dump, work, program):
        self.assay, self.dump, self.work, self.program = assay, dump, work, program
        self.flag = work / "flag"

    def check(self, options, words, want, off=None):
        made = self.work / "out.assay"
        run = trace(self.assay, made, ["--groups", "io", *options], [self.program, *words])
        if run.returncode:
            return f"exit status {run.returncode}: {run.stderr[-300:]!r}"
        got = writes_of(self.dump, made)
        if got != want:
            return f"{got}, not {want}"
        if off and not off(off_s(run)):
            return f"off for {off_s(run)}"
        return ""

    def from_outside(self, try_with):
        """Tries with longer times after a failure; `try_with(factor of all times)` returns the
        reason. The switching process may have no CPU for a while, or the program may be delayed. It
        fails if assay has no CPU for a second, then for ten, and then for a minute. That has a
        chance of 1e-9 if one of 1,000 tries each does."""
        why = ""
        for times in (1, 10, 60):
            why = try_with(times)
            if not why:
                break
        return why

    def points(self):
        flag = str(self.flag)
        kept = ["--while", flag]

        def fresh(make):
            self.flag.unlink(missing_ok=True)
            if make:
                self.flag.touch()
            return ""

        return [
            ("the program switches", lambda: self.check(
                [], ["1", "off", "2", "rest", "60", "on", "3", "off", "on", "4"],
                [[1, "off", "on", 3, "off", "on", 4]], lambda s: s[0] >= 0.06)),
            ("off without an event in it", lambda: self.check(
                [], ["1", "off", "rest", "60", "on", "2"], [[1, "off", "on", 2]],
                lambda s: s[0] >= 0.06)),
            ("off to the end", lambda: self.check(
                [], ["1", "off", "2", "rest", "60"], [[1, "off"]], lambda s: s[0] >= 0.06)),
            ("more often than is kept", self.check_many),
            ("it begins off", lambda: self.check(
                ["--start-off"], ["1", "on", "2", "off", "3"], [[2, "off"]])),
            ("a signal switches", lambda: self.check(
                ["--toggle-signal", "USR2"], ["1", "signal", "2", "signal", "3"],
                [[1, "off", "on", 3]])),
            ("a signal that the program handles", lambda: self.check(
                ["--toggle-signal", "SIGUSR2", "--start-off"],
                ["handler", "1", "signal", "2", "signal", "3", "handled", "2"], [[2, "off"]])),
            ("a signal by its number, a child", lambda: self.check(
                ["--toggle-signal", "12"], ["1", "signal", "2", "fork", "3", "signal", "4"],
                [[1, "off"], [4]])),
            ("while a file is there", lambda: self.from_outside(
                lambda times: fresh(True) or self.check(
                    kept, ["1", "remove", flag, "rest", str(1000 * times), "2", "make", flag,
                           "rest", str(1000 * times), "3"],
                    [[1, "off", "on", 3]]))),
            ("while a file is there, which is not", lambda: fresh(False) or self.check(
                kept, ["1"], [])),
            ("after a delay", lambda: self.from_outside(lambda times: self.check(
                ["--delay", f"{900 * times}ms"], ["1", "rest", str(1800 * times), "2"], [[2]]))),
            ("counters of the system", self.check_counters),
            ("counters, where a filter leaves out all else", self.check_counters_alone),
            ("for so long", lambda: self.from_outside(lambda times: self.check(
                ["--duration", str(times)], ["1", "rest", str(2000 * times), "2"], [[1, "off"]],
                lambda s: s[0] > 0.9 * times))),
        ]

    def check_counters(self):
        """Four readings at least: as it begins, behind each rest, and at the end."""
        run = trace(self.assay, self.work / "out.assay",
                    ["--groups", "io", "--os-counters", "switches,faults,memory,network",
                     "--os-interval", "20ms"],
                    [self.program, "1", "rest", "60", "2", "rest", "60", "off", "on", "3"])
        rows = {row["counter"]: row for row in json.loads(run.stdout)["counters"]}
        want = {"voluntary context switches", "involuntary context switches",
                "minor page faults", "major page faults", "resident bytes"}
        fits = (want <= set(rows) <= want | {"network bytes received", "network bytes sent"}
                and all(row["readings"] >= 4 and row["least"] <= row["first"] <= row["most"]
                        and row["least"] <= row["last"] <= row["most"] for row in rows.values())
                and all(row["least"] == row["first"] and row["most"] == row["last"]
                        for name, row in rows.items() if name != "resident bytes")
                and rows["voluntary context switches"]["last"]
                >= rows["voluntary context switches"]["first"] + 2
                and rows["minor page faults"]["first"] > 0
                and 100000 < rows["resident bytes"]["least"] < 1000000000)
        if not fits:
            return str(rows)
        return self.check_facts(rows) or self.check_exports(
            sum(row["readings"] for row in rows.values()))

    def check_facts(self, rows):
        """The experiment has the values that were shown; pauses are facts, and a flag."""
        def ask(sql):
            run = subprocess.run([self.assay, "query", "--format", "json",
                                  self.work / "out.assay", sql], capture_output=True, text=True,
                                 check=True, env=ENVIRONMENT, timeout=800)
            return json.loads(run.stdout)

        for fact in ask("SELECT * FROM v_trace_counters"):
            row = rows[fact["name"]]
            known = [value for value in json.loads(fact["bins"]) if value is not None]
            is_size = "bytes" in fact["name"]
            if [fact[key] for key in ("n", "first", "last", "least", "most")] != [
                    row[key] for key in ("readings", "first", "last", "least", "most")] \
                    or known[-1] != row["last"] or min(known) < row["least"] \
                    or fact["unit"] != ("B" if is_size else "1"):
                return f"{fact}, not {row}"
        offs = ask("SELECT o.*, s.time_s AS state_s FROM v_trace_offs o LEFT JOIN v_trace_states s"
                   " ON s.number = o.number AND s.name = 'off'")
        doubts = ask("SELECT name FROM v_flags WHERE name LIKE 'trace%'")
        fits = (len(offs) == 1 and offs[0]["n"] == 1 and offs[0]["reason"] == "by the program"
                and offs[0]["off_s"] == offs[0]["state_s"] > 0
                and abs(offs[0]["end_s"] - offs[0]["begin_s"] - offs[0]["off_s"]) < 1e-9
                and doubts == [{"name": "trace_off"}])
        return "" if fits else f"{offs}, {doubts}"

    def check_counters_alone(self):
        """No filter names counters."""
        rules = self.work / "nothing.filter"
        rules.write_text("SCOREP_REGION_NAMES_BEGIN EXCLUDE * SCOREP_REGION_NAMES_END\n",
                         encoding="ascii")
        run = trace(self.assay, self.work / "alone.assay",
                    ["--groups", "io", "--os-counters", "faults,memory", "--os-interval", "20ms",
                     "--filter", rules], [self.program, "1", "rest", "60", "2"])
        told = json.loads(run.stdout)
        rows = {row["counter"]: row["readings"] for row in told["counters"]}
        want = {"minor page faults", "major page faults", "resident bytes"}
        fits = set(rows) == want and min(rows.values()) >= 2 and told["filtered"] > 0
        return "" if fits else f"{rows}, {told['filtered']} left out"

    def check_exports(self, readings):
        """All readings, and when nothing was recorded; the latter also of what is imported."""
        def run(*words):
            return subprocess.run(list(map(str, words)), capture_output=True, text=True,
                                  check=True, env=ENVIRONMENT, cwd=self.work, timeout=800).stdout

        for old in ("x.otf2", "again.assay"):
            shutil.rmtree(self.work / old, ignore_errors=True)
        run(self.assay, "export", "--force", "out.assay", "--as", "prv", "-o", "x.prv")
        if "resident bytes" not in (self.work / "x.pcf").read_text(encoding="utf-8"):
            return "no resident bytes for Paraver"
        if not shutil.which("otf2-print"):
            return ""
        run(self.assay, "export", "--force", "out.assay", "--as", "otf2", "-o", "x.otf2")
        kinds = [line.split()[0] for line in run("otf2-print", "x.otf2/traces.otf2").splitlines()
                 if line.strip()]
        if kinds.count("METRIC") != readings or kinds.count("MEASUREMENT_ON_OFF") != 2:
            return f"{kinds.count('METRIC')} metrics, not {readings}"
        run(self.assay, "import", "x.otf2/traces.otf2", "-o", "again.assay")
        again = writes_of(self.dump, self.work / "again.assay")
        return "" if again == [["off", "on"]] else f"imported: {again}"

    def check_many(self):
        """More than are kept: what is not known was off, and it ends as it is."""
        made = self.work / "out.assay"
        trace(self.assay, made, ["--groups", "io"],
              [self.program, "1", *70 * ["off", "on"], "2"])
        got = writes_of(self.dump, made)[0]
        inside = got[1:-1]
        fits = (got[0] == 1 and got[-1] == 2 and len(inside) >= 60 and len(inside) % 2 == 0
                and inside == len(inside) // 2 * ["off", "on"])
        return "" if fits else str(got)


def refused(assay, work, options, said):
    run = trace(assay, work / "out.assay", options, ["true"])
    fits = run.returncode == 2 and said in run.stderr
    return "" if fits else f"exit status {run.returncode}: {run.stderr!r}"


def check_ranks(assay, dump, work, mpi, program):
    """Each rank pauses at times of its own, and messages still find their partners."""
    made = work / "out.assay"
    launch = [f"mpirun.{mpi}"] + ["--oversubscribe"] * (mpi == "openmpi") + ["-n", "2"]
    run = trace(assay, made, ["--groups", "mpi"], [*launch, program])
    if run.returncode:
        return f"exit status {run.returncode}: {run.stderr[-300:]!r}"
    facts = json.loads(run.stdout)
    parallel = facts["parallel"]
    # Rank 0 does not record messages 2 to 5, rank 1 not 4 to 7.
    want = {"messages_matched_n": 4, "sends_without_partner_n": 2,
            "receives_without_partner_n": 2, "collectives_without_partners_n": 4, "broken_n": 0}
    got = {key: parallel[key] for key in want}
    if got != want:
        return f"{got}, not {want}"
    missed = [int(line.split()[-1]) for line in subprocess.run(
        [dump, made / "run-001" / "trace"], capture_output=True, text=True,
        check=False).stdout.splitlines() if line.startswith("missed ")]
    if sum(missed) != 16 or facts["not_recorded"] != 16: # four messages and barriers of each
        return f"missed {missed}"
    locations = parallel["locations"]
    if not all(place["off_s"] > 0 and place["mpi_s"] >= 0 and place["computing_s"] >= 0
               for place in locations):
        return f"states: {locations}"
    return ""


def check_helpers(assay, dump, work, mpi, program):
    """Helper threads of an MPI read and write, and do not belong to the program."""
    made = work / "out.assay"
    del dump
    launch = [f"mpirun.{mpi}"] + ["--oversubscribe"] * (mpi == "openmpi") + ["-n", "2"]
    run = trace(assay, made, ["--groups", "mpi,io"], [*launch, program])
    if run.returncode:
        return f"exit status {run.returncode}: {run.stderr[-300:]!r}"
    knows = tuple(map(int, os.confstr("CS_GNU_LIBC_VERSION").split()[-1].split("."))) >= (2, 35)
    ranks = sorted(place["rank"] for place in json.loads(run.stdout)["parallel"]["locations"])
    return "" if ranks == [0, 1] or not knows else f"threads of ranks {ranks}"


def check_bursts(assay, dump, work, mpi, program):
    """Sums of calls agree with the calls, by rank and routine; wait states are absent."""
    del dump
    made = work / "out.assay"
    launch = [f"mpirun.{mpi}"] + ["--oversubscribe"] * (mpi == "openmpi") + ["-n", "2"]

    def sums_of(*options):
        run = trace(assay, made, ["--groups", "mpi", *options], [*launch, program, "always"])
        if run.returncode:
            return run.stderr, {}
        facts = json.loads(run.stdout)
        return facts, {(row["rank"], row["routine"]):
                       (row["calls"], row["sent_b"], row["received_b"], row["open"])
                       for row in facts["routines"]}

    facts, want = sums_of()
    bursts, got = sums_of("--burst", "100ms")
    if not want or got != want:
        return f"{got}, not {want}"
    if facts["sums"] or not bursts["sums"] or bursts["parallel"]["waits"]:
        return f"{facts['sums']} and {bursts['sums']} sums"
    if bursts["events"] >= facts["events"]:
        return f"{bursts['events']} events, of {facts['events']}"
    if not all(place["mpi_s"] > 0 and place["computing_s"] > 0
               for place in bursts["parallel"]["locations"]):
        return f"states: {bursts['parallel']['locations']}"
    return ""


def main():
    assay, dump, source, include, library = map(os.path.abspath, sys.argv[1:6])
    programs = pathlib.Path(source) / "programs"
    user = [f"-I{include}", "-O1", "-w"]
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        subprocess.run(["cc", *user, "-o", work / "switch", programs / "switch.c", library],
                       check=True)
        points = Switches(assay, dump, work, work / "switch").points()
        points += [
            ("a signal that kills", lambda: refused(
                assay, work, ["--toggle-signal", "KILL"], "invalid signal 'KILL'")),
            ("it ends before it begins", lambda: refused(
                assay, work, ["--delay", "2", "--duration", "1"], "not longer than --delay")),
            ("a counter that there is not", lambda: refused(
                assay, work, ["--os-counters", "faults,heat"], "invalid value 'heat'")),
            ("no time", lambda: refused(assay, work, ["--delay", "soon"], "invalid time 'soon'"))]
        for mpi in ("openmpi", "mpich"):
            program = work / f"switch.{mpi}"
            if shutil.which(f"mpicc.{mpi}") and shutil.which(f"mpirun.{mpi}"):
                subprocess.run([f"mpicc.{mpi}", *user, "-o", program, programs / "switch_mpi.c",
                                library], check=True)
            for name, check in (("each rank when it likes", check_ranks),
                                ("threads of its own", check_helpers),
                                ("bursts", check_bursts)):
                points.append((f"{mpi}, {name}",
                               lambda mpi=mpi, program=program, check=check: check(
                                   assay, dump, work, mpi, program) if program.exists() else None))
        failed = 0
        for n, (name, check) in enumerate(points, 1):
            fault = check()
            failed += bool(fault)
            print(f"{'not ok' if fault else 'ok'} {n} - {name}"
                  + " # SKIP no such MPI" * (fault is None) + f"\n# {fault}" * bool(fault))
    print(f"1..{len(points)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
