#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trace that was exported for other tools and imported again has the same facts: imports.py ASSAY
WAITS_C CALLS_C DIRECTORY

The formats are .prv, .prv.gz and OTF2. The facts are calls with times and bytes, messages, and wait
states with their causes. A .prv has the span of each thread, so activities of threads are compared,
too. The programs have known waits, or random calls with communicators of their own. Then files that
are not traces are imported.
"""
import collections
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASSAY_NO_MEASURE="1")
CASES = (("waits", "late_sender_large", "5", "3"), ("waits", "nonblocking_allreduce", "5", "3"),
         ("waits", "late_broadcast", "5", "3"), ("calls", "7", "60"))


# Many calls of these that found nothing are one call in the trace, and in OTF2.
FOLDED = ("MPI_Test", "MPI_Iprobe", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Improbe")


class Wrong(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def run_json(*command):
    run = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    expect(run.returncode == 0, f"{command}: {run.stderr[-400:]}")
    return json.loads(run.stdout)["parallel"]


def facts_of(parallel, with_spans, with_requests, with_folded=False):
    """{what: numbers}, to be equal."""
    facts = {}
    for row in parallel["calls"]:
        if row["routine"] in FOLDED and not with_folded:
            continue
        # One row for each place that calls it, where callers are known.
        key = "call", row["location"], row["routine"]
        known = facts.get(key, (0, 0, 0))
        facts[key] = tuple(a + row[b] for a, b in zip(known, ("calls_n", "sent_b", "received_b"),
                                                      strict=True))
        facts[key, "s"] = facts.get((key, "s"), 0.0) + row["time_s"]
    for row in parallel["messages"]:
        facts["message", row["from"], row["to"]] = row["n"], row["size_b"]
    facts["matched"] = parallel["messages_matched_n"]
    for row in parallel["waits"] if with_requests else []:
        if row["kind"] == "wait_at_neighbours":  # the formats lack the neighbours
            continue
        key = "wait", row["kind"], row["routine"], row["location"]
        facts[key] = facts.get(key, 0) + row["n"]
        facts[key, "s"] = facts.get((key, "s"), 0.0) + row["time_s"]
    for number, row in enumerate(parallel["locations"] if with_spans else []):
        for what in ("computing_s", "mpi_s", "files_s", "idle_s"):
            facts[what, number] = row[what]
    return facts


def compare(was, now, what):
    expect(was.keys() == now.keys(), f"{what}: {sorted(map(str, was.keys() ^ now.keys()))[:4]}")
    for key, value in was.items():
        same = abs(now[key] - value) < 1e-8 if isinstance(value, float) else now[key] == value
        expect(same, f"{what}: {key} is {now[key]}, was {value}")


def is_among_neighbours(row):
    """Tell a wait, or its cause, in a collective among neighbours. No format holds their ranks. A
    wait for one that does not block ends in MPI_Wait."""
    return row.get("kind") == "wait_at_neighbours" or "neighbor" in row["routine"].lower()


def places_of(parallel):
    """{(location, routine, function and line): calls}, and the same of waits and causes."""
    places = collections.Counter()
    for what, number in (("calls", "calls_n"), ("waits", "n"), ("late", "waits_n")):
        for row in parallel[what]:
            is_known = what == "calls" or not is_among_neighbours(row)
            if row.get("place") and row["routine"] not in FOLDED and is_known:
                places[what, row["location"], row["routine"], row["place"]] += row[number]
    return places


def try_formats(assay, name, parallel, with_requests, with_spans):
    for kind, spans in (("prv", with_spans), ("otf2", False)):
        shutil.rmtree(f"{name}.otf2", ignore_errors=True)
        shutil.rmtree(f"{name}.{kind}.assay", ignore_errors=True)
        subprocess.run([assay, "export", "--force", f"{name}.assay", "--as", kind,
                        "-o", f"{name}.{kind}"],
                       check=True, capture_output=True)
        again = run_json(assay, "import", f"{name}.{kind}", "--format", "json", "-o",
                         f"{name}.{kind}.assay")
        was, now = places_of(parallel), places_of(again)
        expect(was and any(".c:" in key[3] for key in was), "the program's lines are known")
        expect(was == now, f"{kind}: callers: {was - now}, {now - was}")
        requests = with_requests or kind == "otf2"
        folded = kind == "prv"  # OTF2 has no event for them
        compare(facts_of(parallel, spans, requests, folded),
                facts_of(again, spans, requests, folded), kind)
    with open(f"{name}.prv", "rb") as plain, gzip.open(f"{name}.prv.gz", "wb") as packed:
        packed.write(plain.read())
    again = run_json(assay, "import", f"{name}.prv.gz", "--force", "--format", "json", "-o",
                     f"{name}.gz.assay")
    compare(facts_of(parallel, with_spans, with_requests),
            facts_of(again, with_spans, with_requests), "gzip")


def try_case(assay, mpi, case):
    program, *arguments = case
    name = "-".join(case)
    shutil.rmtree(f"{name}.assay", ignore_errors=True)
    if program == "calls":
        arguments.insert(0, f"{name}.log")
    else:
        arguments.insert(1, f"{name}.log")
    parallel = run_json(assay, "trace", "--format", "json", "-o", f"{name}.assay", "--",
                        f"mpirun.{mpi}", "-n", "3" if program == "calls" else "2",
                        f"./{program}", *arguments)
    try_formats(assay, name, parallel, True, True)


HEADER = "#Paraver (01/02/2020 at 10:20):1000_us:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n"


def refused(assay, name, text, sentence):
    pathlib.Path(name).write_text(text, encoding="ascii")
    run = subprocess.run([assay, "import", name, "-o", "bad.assay"], capture_output=True, text=True,
                         check=False)
    expect(run.returncode not in (0, -11) and sentence in run.stderr, f"{name}: {run.stderr!r}")
    expect(not os.path.exists("bad.assay"), f"{name}: nothing is left")


def try_bad(assay):
    refused(assay, "empty.prv", "", "is empty")
    refused(assay, "text.prv", "hello\n", "text.prv:1: is not a Paraver header")
    refused(assay, "tasks.prv", HEADER.replace("2(1:1,1:1)", "2(1:1)"), "tasks.prv:1: the header")
    refused(assay, "lines.prv", HEADER + "2:1:1:9:1:5:50000001:1\n", "lines.prv:3: has a thread")
    refused(assay, "anchor.otf2", "no archive\n", "anchor.otf2: cannot be opened")


def try_units(assay):
    """Microseconds, several events in a line, an unknown type, a line that makes no sense."""
    pathlib.Path("units.prv").write_text(
        HEADER + "1:1:1:1:1:0:1000:1\n2:1:1:1:1:10:50000001:1:42000050:77\nnonsense\n"
        "3:1:1:1:1:10:12:2:1:2:1:20:40:512:9\n2:1:1:1:1:15:50000001:0\n1:2:1:2:1:0:900:1\n"
        "2:2:1:2:1:20:50000001:2\n2:2:1:2:1:40:50000001:0\n", encoding="ascii")
    run = subprocess.run([assay, "import", "units.prv", "--force", "--format", "json", "-o",
                          "units.assay"], capture_output=True, text=True, check=False)
    expect("1 invalid records" in run.stderr and "line 5" in run.stderr, run.stderr)
    facts = facts_of(json.loads(run.stdout)["parallel"], True, True)
    expect(facts["call", 0, "MPI_Send"] == (1, 512, 0) and facts["call", 1, "MPI_Recv"] ==
           (1, 0, 512), f"calls: {facts}")
    expect(facts[("call", 0, "MPI_Send"), "s"] == 5e-6, f"a time: {facts}")
    expect(facts["message", 0, 1] == (1, 512) and facts["computing_s", 1] == 0.00088,
           f"message, span: {facts}")


LABELS = """EVENT_TYPE
0    70000001    Caller at level 1
0    70000002    Caller at level 2
VALUES
0   End
1   Unresolved
2   _NOT_Found
3   __mod_MOD..exchange [__mod_MOD_exchange]
4   main [main]
5   solve(double*, int)

EVENT_TYPE
0    80000001    Caller line at level 1
0    80000002    Caller line at level 2
VALUES
0   End
1   0 (Unresolved)
3   71 (exchange.f90, solver)
4   12 (main.f90, solver)
5   solve.cpp:88

EVENT_TYPE
0    30000001    Sampled functions (depth 1)
0    30000002    Sampled functions (depth 2)
VALUES
7   kernel
8   main

EVENT_TYPE
0    30000101    Sampled lines (depth 1)
0    30000102    Sampled lines (depth 2)
VALUES
3   40 (kernel.c, solver)
4   10 (main.c, solver)
"""


def try_places(assay):
    """Labels of callers as other tools write them: cut names, unknown ones, two forms of lines;
    callers before their call in a line, callers without a call; samples, which
    stand for the median time between two: 20 us."""
    pathlib.Path("places.pcf").write_text(LABELS, encoding="ascii")
    body = ["2:1:1:1:1:10:50000001:1:42000050:77:70000001:3:80000001:3:70000002:4:80000002:4",
            "2:1:1:1:1:20:50000001:0", "2:2:1:2:1:20:70000001:5:80000001:5:50000001:2",
            "2:2:1:2:1:40:50000001:0", "2:1:1:1:1:50:50000002:8:70000001:1:80000001:1",
            "2:2:1:2:1:50:50000002:8", "2:1:1:1:1:60:50000002:0", "2:2:1:2:1:60:50000002:0",
            "2:1:1:1:1:65:70000001:3:80000001:3",
            *(f"2:1:1:1:1:{time}:30000001:7:30000101:3:30000002:8:30000102:4"
              for time in (70, 90, 110, 200))]
    pathlib.Path("places.prv").write_text(HEADER + "\n".join(body) + "\n", encoding="ascii")
    run = subprocess.run([assay, "import", "places.prv", "--force", "--format", "json", "-o",
                          "places.assay"], capture_output=True, text=True, check=False)
    expect("1 records of other kinds" in run.stderr or "1 records are of kinds" in run.stderr,
           f"callers without a call are left out: {run.stderr}")
    calls = json.loads(run.stdout)["parallel"]["calls"]
    places = {(row["location"], row["routine"]): row.get("place") for row in calls}
    expect(places == {(0, "MPI_Send"): "mod::exchange, exchange.f90:71",
                      (1, "MPI_Recv"): "solve(double*, int), solve.cpp:88",
                      (0, "MPI_Barrier"): None, (1, "MPI_Barrier"): None}, f"places: {places}")
    run = subprocess.run([assay, "query", "places.assay", "--format", "csv",
                          "SELECT function, line, caller, n, round(time_s * 1e6) FROM"
                          " v_trace_samples"], capture_output=True, text=True, check=True)
    expect(run.stdout.splitlines()[1:] == ["kernel,40,main,4,80"], f"samples: {run.stdout}")


def try_show(assay):
    """`assay show` of an imported trace leads with efficiency and waits. Rank 0 waits 300 ms for
    rank 1 in one barrier: of 2 x 1 s the ranks compute 0.59 and 0.89 s."""
    pathlib.Path("show.prv").write_text(
        HEADER + "1:1:1:1:1:0:1000000:1\n1:2:1:2:1:0:1000000:1\n2:1:1:1:1:100000:50000002:8\n"
        "2:1:1:1:1:100000:50100001:0:50100002:0:50100004:1\n2:2:1:2:1:400000:50000002:8\n"
        "2:2:1:2:1:400000:50100001:0:50100002:0:50100004:1\n2:1:1:1:1:510000:50000002:0\n"
        "2:2:1:2:1:510000:50000002:0\n", encoding="ascii")
    subprocess.run([assay, "import", "show.prv", "--force", "-o", "show.assay"], check=True,
                   capture_output=True)
    text = subprocess.run([assay, "show", "show.assay"], check=True, capture_output=True,
                          text=True).stdout
    lines = [" ".join(line.split()) for line in text.splitlines()]
    order = ["Trace of import show.prv", "Efficiency", "Parallel efficiency 74.0 % fair",
             "Waiting", "0.300 0.300 1 wait at barrier MPI_Barrier rank 0", "Causes of waiting",
             "0.300 0.300 1 rank 1 MPI_Barrier"]
    expect(all(line in lines for line in order), f"show: {text}")
    places = [lines.index(line) for line in order]
    expect(places == sorted(places), f"order of show: {text}")
    expect("started 2020-02-01T10:20:00Z" in text, f"the header's date: {text}")
    expect("Sampl" not in text and "no_samples" not in text, f"no word on samples: {text}")


def try_applications(assay):
    """Two applications: the second calls no MPI and counts for no rank; then both call, and each
    has its own world: rank 1 of each is late to its own barrier, by 100 and by 200 us. An event
    value beyond 2^63 keeps its line."""
    head = "#Paraver (01/02/2020 at 10:20):1000_us:1(4):2:2(1:1,1:1),2(2:1,2:1),{}\n"
    states = "".join(f"1:{cpu}:{application}:{task}:1:0:1000:1\n" for cpu, application, task in
                     ((1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 2, 2)))
    calls = ("2:1:1:1:1:900:50000002:8\n2:1:1:1:1:1000:50000002:0\n"
             "2:2:1:2:1:990:50000002:8\n2:2:1:2:1:1000:50000002:0\n")
    pathlib.Path("two.prv").write_text(head.format(0) + states + calls, encoding="ascii")
    one = run_json(assay, "import", "two.prv", "--force", "--format", "json", "-o", "two.assay")
    expect([row["rank"] for row in one["locations"]] == [0, 1], f"ranks: {one['locations']}")
    share = one["mpi_parallel_efficiency"]
    expect(abs(share - 0.945) < 1e-9, f"MPI parallel efficiency: {share}")
    body = states
    for application, late in ((1, 100), (2, 200)):
        for task, begin in ((1, 500), (2, 500 + late)):
            who = f"2:1:{application}:{task}:1"
            body += (f"{who}:{begin}:50000002:8:42000050:12783449820010574593\n"
                     f"{who}:{begin}:50100001:0:50100002:0:50100004:1\n"
                     f"{who}:800:50000002:0\n")
    text = head.format(2) + "c:1:1:2:1:2\nc:2:1:2:1:2\n" + body
    pathlib.Path("both.prv").write_text(text, encoding="ascii")
    run = subprocess.run([assay, "import", "both.prv", "--force", "--format", "json", "-o",
                          "both.assay"], capture_output=True, text=True, check=False)
    expect(run.returncode == 0 and "make no sense" not in run.stderr, run.stderr)
    both = json.loads(run.stdout)["parallel"]
    waits = {(row["kind"], row["location"]): round(row["time_s"] * 1e6) for row in both["waits"]}
    expect(waits == {("wait_at_barrier", 0): 100, ("wait_at_barrier", 2): 200}, f"waits: {waits}")


def try_interest(assay):
    """Efficiencies are from the first that leaves MPI_Init (100 us) to the last that enters
    MPI_Finalize (950 us). The ranks are outside MPI for 800 and 830 of these 850 us."""
    calls = ((1, 31, 0, 100), (2, 31, 0, 120), (1, 32, 900, 1000), (2, 32, 950, 1000))
    lines = [f"2:{task}:1:{task}:1:{time}:50000003:{value}" for task, number, begin, end in calls
             for time, value in ((begin, number), (end, 0))]
    lines.sort(key=lambda line: int(line.split(":")[5]))
    pathlib.Path("interest.prv").write_text(HEADER + "\n".join(lines) + "\n", encoding="ascii")
    found = run_json(assay, "import", "interest.prv", "--force", "--format", "json", "-o",
                     "interest.assay")
    shares = [found[key] for key in ("mpi_parallel_efficiency", "mpi_load_balance",
                                     "mpi_communication_efficiency", "efficiency_begin_s",
                                     "efficiency_end_s")]
    right = [815 / 850, 815 / 830, 830 / 850, 100e-6, 950e-6]
    expect(all(abs(a - b) < 1e-9 for a, b in zip(shares, right, strict=True)), f"{shares}")
    text = subprocess.run([assay, "import", "interest.prv", "--force", "-o", "interest.assay"],
                          capture_output=True, text=True, check=True).stdout
    expect("from MPI_Init to MPI_Finalize" in text, f"the region is named: {text}")


def try_counters(assay):
    """Values of hardware counters are increments: 1,515 instructions in 900 cycles, of which 1,500
    in 750 outside MPI."""
    body = ["2:1:1:1:1:0:40000001:1:42000050:0:42000059:0"]
    for time, value, instructions, cycles in ((100, 1, 1000, 500), (150, 0, 10, 100),
                                              (300, 1, 500, 250), (350, 0, 5, 50)):
        body.append(f"2:1:1:1:1:{time}:50000001:{value}:42000050:{instructions}:42000059:{cycles}")
    pathlib.Path("counters.pcf").write_text(
        "EVENT_TYPE\n7  42000050 PAPI_TOT_INS [Instr completed]\n"
        "7  42000059 PAPI_TOT_CYC [Total cycles]\n", encoding="ascii")
    pathlib.Path("counters.prv").write_text(HEADER + "\n".join(body) + "\n", encoding="ascii")
    run = subprocess.run([assay, "import", "counters.prv", "--force", "--format", "json", "-o",
                          "counters.assay"], capture_output=True, text=True, check=False)
    facts = json.loads(run.stdout)
    row = facts["ipc"][0]
    expect(row["instructions"] == 1515 and row["cycles"] == 900 and
           row["useful_instructions"] == 1500 and row["useful_cycles"] == 750, f"sums: {row}")
    expect(abs(row["ipc"] - 1515 / 900) < 1e-4 and abs(row["useful_ipc"] - 2) < 1e-9, f"{row}")
    counters = {it["counter"]: it["last"] for it in facts["counters"]}
    expect(counters["PAPI_TOT_INS [Instr completed]"] == 1515, f"totals: {counters}")


def try_merged(assay, mpi):
    """assay behind the launcher: the trace of the merged experiment has the messages between its
    ranks, each matched."""
    for old in pathlib.Path(".").glob("m*.assay"):
        shutil.rmtree(old)
    run = subprocess.run([f"mpirun.{mpi}", "-n", "2", assay, "trace", "-q", "-o", "m.assay", "--",
                          "./waits", "late_sender_large", "m.log", "5", "3"], env=ENVIRONMENT,
                         capture_output=True, text=True, check=False)
    expect(run.returncode == 0, run.stderr[-400:])
    for command in (("merge", "m.r0.assay", "m.r1.assay", "-o", "m.assay"),
                    ("export", "--force", "m.assay", "--as", "otf2", "-o", "m.otf2")):
        shutil.rmtree("m.otf2", ignore_errors=True)
        run = subprocess.run([assay, *command], capture_output=True, text=True, check=False)
        expect(run.returncode == 0, f"{command}: {run.stderr}")
    parallel = run_json(assay, "import", "m.otf2", "--force", "--format", "json", "-o", "n.assay")
    facts = facts_of(parallel, False, False)
    expect(facts["message", 0, 1][0] == 5 and facts["matched"] == 5, f"messages: {facts}")
    expect([row["rank"] for row in parallel["locations"]] == [0, 1], "both ranks")


def try_merged_imports(assay):
    """Processes of two imports have one number: both are in the merged trace."""
    text = ("#Paraver (01/02/2020 at 10:20):1000_us:1(1):1:1(1:1)\n2:1:1:1:1:{0}:60000019:1\n"
            "2:1:1:1:1:{1}:60000019:0\n")
    names = []
    for number in (1, 2):
        pathlib.Path(f"own{number}.prv").write_text(text.format(10, 20 * number), encoding="ascii")
        names.append(f"own{number}.assay")
        run_json(assay, "import", f"own{number}.prv", "--force", "--format", "json", "-o",
                 names[-1])
    run = subprocess.run([assay, "merge", *names, "--force", "-o", "own.assay"],
                         capture_output=True, text=True, check=False)
    expect(run.returncode == 0, run.stderr)
    subprocess.run([assay, "export", "--force", "own.assay", "--as", "prv",
                    "-o", "own.prv"], check=True,
                   capture_output=True)
    lines = pathlib.Path("own.prv").read_text().splitlines()
    spans = sorted(int(line.split(":")[5]) for line in lines if line.endswith(":60000019:0"))
    expect(spans == [10000, 30000], f"both processes: {lines}")


def main():
    assay, waits, calls, directory = map(os.path.abspath, sys.argv[1:])
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    os.chdir(directory)
    mpi = next((m for m in ("mpich", "openmpi") if shutil.which(f"mpicc.{m}")), None)
    points = [("files that are no traces", lambda: try_bad(assay)),
              ("units, lines of several events", lambda: try_units(assay)),
              ("callers and samples", lambda: try_places(assay)),
              ("applications", lambda: try_applications(assay)),
              ("region of interest", lambda: try_interest(assay)),
              ("hardware counters", lambda: try_counters(assay)),
              ("show of a trace", lambda: try_show(assay)),
              ("two imports, merged", lambda: try_merged_imports(assay))]
    if mpi:
        for name, source in (("waits", waits), ("calls", calls)):
            subprocess.run([f"mpicc.{mpi}", "-O2", "-g", "-w", "-o", name, source], check=True)
        points += [(" ".join(case), lambda case=case: try_case(assay, mpi, case))
                   for case in CASES]
        points.append(("ranks, merged", lambda: try_merged(assay, mpi)))
    failed = 0
    print(f"1..{len(points)}")
    for number, (name, work) in enumerate(points, 1):
        try:
            work()
            print(f"ok {number} - {name}")
        except (Wrong, KeyError, ValueError, subprocess.CalledProcessError) as wrong:
            failed += 1
            print(f"not ok {number} - {name}\n# {wrong!r}")
    sys.exit(failed > 0)


main()
