#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Filters and scores of traces: filter.py ASSAY PROGRAMS LIBASSAY INCLUDE DIRECTORY

Filtered calls are missing and counted. All other calls are as the program logged them, and messages
still match. The score of a whole trace predicts the size of the filtered one. Runs with both MPIs,
with regions of <assay/assay.h>, and without MPI. Missing programs are skipped.
"""
import collections
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

ROUNDS, LATE_MS = 20, 3
REGIONS = "SCOREP_REGION_NAMES_BEGIN\n{}\nSCOREP_REGION_NAMES_END\n"
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASSAY_NO_MEASURE="1")


class Fault(Exception):
    pass


def equal(what, got, want):
    if got != want:
        raise Fault(f"{what}: {got!r}, not {want!r}")


def holds(what, condition):
    if not condition:
        raise Fault(what)


class Bench:
    """A program, and traces of it."""

    def __init__(self, assay, program, launch):
        self.assay, self.program, self.launch = assay, program, launch
        self.log = f"{program}.log"

    def run(self, *arguments, status=0):
        run = subprocess.run([self.assay, "trace", "--format", "json", *arguments],
                             capture_output=True, text=True, env=ENVIRONMENT, check=False)
        if run.returncode != status:
            raise Fault(f"exit status {run.returncode}: {run.stderr[-400:]}")
        return run

    def trace(self, name, rules=None, *, options=(), rounds=ROUNDS):
        options = [*options]
        if rules is not None:
            pathlib.Path(f"{name}.filter").write_text(REGIONS.format(rules))
            options += ["--filter", f"{name}.filter"]
        run = self.run(*options, "--force", "-o", f"{name}.assay", "--", *self.launch,
                       self.program, str(rounds), str(LATE_MS), self.log)
        return json.loads(run.stdout), run.stderr

    def said(self):
        """(rank, routine) -> calls, by the program."""
        calls = {}
        for rank in range(2):
            for line in pathlib.Path(f"{self.log}.{rank}").read_text().splitlines():
                rank_word, routine, n = line.split()
                calls[int(rank_word), routine] = int(n)
        return calls

    def score(self, name, *options):
        return json.loads(self.run("--score", f"{name}.assay", *options).stdout)["score"]


def calls_of(answer):
    calls = collections.Counter()
    for row in answer["routines"]:
        calls[row.get("rank", 0), row["routine"]] += row["calls"]
    return {key: n for key, n in calls.items()
            if key[1] not in ("MPI_Init", "MPI_Finalize")}


def late_senders(answer):
    """Routine -> messages that were waited for."""
    return {wait["routine"] for wait in answer["parallel"]["waits"]
            if wait["kind"] == "late_sender"}


def check_messages(answer):
    said = answer["parallel"]
    equal("messages that are matched", said["messages_matched_n"], 2 * ROUNDS)
    for missing in ("sends_without_partner_n", "receives_without_partner_n",
                    "collectives_without_partners_n", "broken_n"):
        equal(missing, said[missing], 0)


def filtered_and_exact(bench):
    answer, note = bench.trace("out", "EXCLUDE MPI_Comm_* MPI_Allreduce MPI_Iallreduce MPI_Test")
    said = bench.said()
    missing = {key: n for key, n in said.items()
               if key[1] in ("MPI_Comm_rank", "MPI_Comm_size", "MPI_Allreduce",
                             "MPI_Iallreduce")}
    want = {key: n for key, n in said.items() if key not in missing}
    # Only tests that found their message stay.
    vain = want[1, "MPI_Test"] - ROUNDS
    want[1, "MPI_Test"] = ROUNDS
    equal("calls", calls_of(answer), want)
    equal("calls that are left out", answer["filtered"], sum(missing.values()) + vain)
    holds(f"no note: {note}", f"{answer['filtered']} calls were left out by the filter" in note)
    check_messages(answer)
    # Both sides of what is planted are there: rank 1 waits for rank 0.
    holds("nobody waits for a late sender", "MPI_Recv" in late_senders(answer))


def halves_stay(bench):
    answer, note = bench.trace("half", "EXCLUDE MPI_Send MPI_Wait*")
    equal("calls", calls_of(answer), bench.said())
    equal("calls that are left out", answer["filtered"], 0)
    holds(f"no note: {note}", "half.filter: MPI_Send, MPI_Wait" in note and
          "stay in the trace" in note)
    check_messages(answer)


def all_messages_go(bench):
    answer, note = bench.trace("all", "EXCLUDE MPI_*\nINCLUDE MPI_Allreduce MPI_Barrier")
    said = bench.said()
    want = {key: n for key, n in said.items() if key[1] in ("MPI_Allreduce", "MPI_Barrier")}
    equal("calls", calls_of(answer), want)
    equal("calls that are left out", answer["filtered"], sum(said.values()) - sum(want.values()))
    holds(f"a note: {note}", "stay in the trace" not in note)
    equal("messages", answer["parallel"]["messages_matched_n"], 0)
    for missing in ("sends_without_partner_n", "collectives_without_partners_n", "broken_n"):
        equal(missing, answer["parallel"][missing], 0)


def score_foretells(bench):
    whole, _ = bench.trace("whole")
    said = bench.said()
    check_messages(whole)
    score = bench.score("whole", "--filter", "out.filter")
    got = {row["routine"]: row for row in score["routines"]}
    for routine in ("MPI_Comm_rank", "MPI_Allreduce", "MPI_Send", "MPI_Barrier", "MPI_Test"):
        want = sum(n for key, n in said.items() if key[1] == routine)
        equal(f"calls of {routine}", got[routine]["calls"], want)
    equal("what the filter says", (got["MPI_Comm_rank"]["filter"], got["MPI_Test"]["filter"],
                                   got["MPI_Send"]["filter"]), ("out", "found", "in"))
    equal("all bytes", sum(row["size_b"] for row in score["routines"]), score["trace"]["size_b"])
    pids = {row["pid"] for row in whole["routines"]}
    files = sum(path.stat().st_size for path in pathlib.Path("whole.assay/run-001/trace").iterdir()
                if int(path.name.split(".")[1]) in pids)
    equal("bytes of files", score["trace"]["files_b"], files)
    # Longer pauses between records may take two bytes more.
    real = bench.score("out")["trace"]
    expected = score["filtered"]["size_b"]
    holds(f"{expected} bytes are expected, {real['size_b']} are there",
          abs(expected - real["size_b"]) <= 0.2 * real["size_b"])
    holds("the filter makes nothing smaller", 4 * expected < score["trace"]["size_b"])


def written_filter_is_read(bench):
    score = bench.score("whole", "--write-filter", "made.filter", "--force")
    again = bench.score("whole", "--filter", "made.filter")
    worth = {row["routine"] for row in score["routines"] if row["worth_excluding"]}
    out = {row["routine"] for row in again["routines"] if row["filter"] != "in"}
    equal("routines that are excluded", out, worth)
    holds("MPI_Send is excluded", "MPI_Send" not in out)


def beginning_of(bench, late_ms):
    """The score of a run of 150 rounds; and whether it was not recorded to its end."""
    run = bench.run("--dry-run", "--force", "-o", "dry.assay", "--", *bench.launch, bench.program,
                    "150", str(late_ms), bench.log)
    score = json.loads(run.stdout)["score"]
    return score, score["lasted_s"] - score["recorded_s"] > 1


def beginning_alone(bench):
    # The run lasts more than three seconds after MPI_Init; the first second is recorded. The run is
    # repeated with longer times in case the recording ends too late on a busy host: two seconds,
    # half a minute, minutes.
    for late_ms in (20, 200, 2000):
        score, is_part = beginning_of(bench, late_ms)
        if is_part:
            break
    said = bench.said()
    got = {row["routine"]: row["calls"] for row in score["routines"]}
    equal("rounds of the program", said[0, "MPI_Barrier"], 150)
    holds(f"{got.get('MPI_Barrier')} of 300 barriers", 0 < got.get("MPI_Barrier", 0) < 300)
    holds("it was recorded to the end", is_part)
    holds("no more is expected than was recorded",
          score["expected_b"] > score["trace"]["size_b"] > 0)
    # The experiment says so itself, to whoever reads it later.
    later = bench.score("dry")
    equal("score of the same experiment", later["expected_b"], score["expected_b"])
    db = sqlite3.connect("dry.assay/experiment.db")
    flags = db.execute("SELECT count(*) FROM v_flags WHERE name = 'trace_partial'").fetchone()
    equal("flags", flags, (1,))
    db.close()


def regions_are_calls(bench):
    answer, _ = bench.trace("regions", "EXCLUDE MPI_Comm_*")
    calls = calls_of(answer)
    for rank in range(2):
        equal("regions", (calls[rank, "round"], calls[rank, "asking"]), (ROUNDS, ROUNDS))
    check_messages(answer)
    holds("nobody waits for a late sender", "MPI_Recv" in late_senders(answer))
    # With time of what they call: each call of MPI lies in a round.
    types = {row["routine"]: row["type"] for row in bench.score("regions")["routines"]}
    equal("types", (types["round"], types["asking"]), ("COM", "USR"))
    answer, _ = bench.trace("fewer", "EXCLUDE asking MPI_Comm_*")
    calls = calls_of(answer)
    equal("regions", [calls.get((0, name), 0) for name in ("round", "asking")], [ROUNDS, 0])
    check_messages(answer)


def other_groups(bench):
    answer, note = bench.trace("io", "EXCLUDE pread* malloc pthread_mutex_lock close",
                               options=["--groups", "io,memory,pthread"])
    calls = {routine: n for (_, routine), n in calls_of(answer).items()}
    equal("calls that stay", [calls.get(name, 0) for name in ("write", "open", "close", "calloc")],
          [30, 1, 1, 30])
    equal("releases", calls.get("free", 0), 60)
    holds(f"left out is there: {calls}", not {"pread", "malloc", "pthread_mutex_lock"} & set(calls))
    holds(f"a release without waiting: {calls}", "pthread_mutex_unlock" not in calls)
    equal("calls that are left out", answer["filtered"], 61)
    holds(f"no note: {note}", "io.filter: close stay" in note)


def mistakes(bench):
    pathlib.Path("bad.filter").write_text("SCOREP_REGION_NAMES_BEGIN\n\nMPI_Send\n")
    run = bench.run("--filter", "bad.filter", "-o", "bad.assay", "--", "touch", "ran", status=2)
    equal("sentence", run.stderr, "assay: bad.filter:3: 'MPI_Send' is before EXCLUDE or "
          "INCLUDE; add one of them first\n")
    holds("something ran", not pathlib.Path("ran").exists() and
          not pathlib.Path("bad.assay").exists())
    run = bench.run("--filter", "none.filter", "--", "true", status=2)
    equal("sentence", run.stderr, "assay: none.filter: the filter is missing: No such file or "
          "directory; check the path\n")
    pathlib.Path("files.filter").write_text(
        "SCOREP_FILE_NAMES_BEGIN EXCLUDE */a.c SCOREP_FILE_NAMES_END\n")
    run = bench.run("--filter", "files.filter", "--force", "-o", "files.assay", "--", "true")
    holds(f"no note: {run.stderr}", "rules for file names have no effect" in run.stderr)
    run = bench.run("--score", "files.assay", "--", "true", status=2)
    holds(f"no sentence: {run.stderr}", "--score: reads an experiment" in run.stderr)
    run = bench.run("--write-filter", "x.filter", "--", "true", status=2)
    holds(f"no sentence: {run.stderr}", "--write-filter: needs --score" in run.stderr)


def main():
    assay, programs, library, include, directory = map(os.path.abspath, sys.argv[1:])
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    os.chdir(directory)
    points = []

    def point(name, case, bench):
        try:
            case(bench)
            why = ""
        except Fault as fault:
            why = str(fault)
        points.append(not why)
        print(f"{'not ok' if why else 'ok'} {len(points)} - {name}: {case.__name__}", flush=True)
        for line in why.splitlines():
            print(f"# {line}")

    def build(compiler, source, name, *options):
        subprocess.run([compiler, "-O1", "-o", name, f"{programs}/{source}", *options], check=True)
        return os.path.abspath(name)

    for mpi in ("openmpi", "mpich"):
        if not shutil.which(f"mpicc.{mpi}"):
            print(f"ok # SKIP {mpi} is not here")
            continue
        launch = [f"mpirun.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else []), "-n", "2"]
        bench = Bench(assay, build(f"mpicc.{mpi}", "filter.c", f"filter.{mpi}"), launch)
        for case in (filtered_and_exact, halves_stay, all_messages_go, score_foretells,
                     written_filter_is_read, beginning_alone):
            point(mpi, case, bench)
        bench = Bench(assay, build(f"mpicc.{mpi}", "filter.c", f"regions.{mpi}", "-DREGIONS",
                                   f"-I{include}", library, "-ldl"), launch)
        point(mpi, regions_are_calls, bench)
    alone = Bench(assay, build("cc", "filter_io.c", "filter_io", "-pthread"), [])
    point("alone", other_groups, alone)
    point("alone", mistakes, alone)
    print(f"1..{len(points)}")
    sys.exit(not all(points))


main()
