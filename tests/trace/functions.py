#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions of programs in traces: functions.py ASSAY DUMP PROGRAMS LIBASSAY INCLUDE DIRECTORY

Programs log each call of theirs with its depth. A trace has the same calls in the same order, each
within its caller. Covers several compilers, jumps and exceptions, threads, other stacks and
children. Missing compilers are skipped.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

REGIONS = "SCOREP_REGION_NAMES_BEGIN\n{}\nSCOREP_REGION_NAMES_END\n"
ENVIRONMENT = dict(os.environ, ASSAY_NO_MEASURE="1")
# Functions of the compiler's library, or that write the log.
NOT_OURS = re.compile(r"std::|_GLOBAL_|__static_|__gnu|operator|Seen::|solver::note$")


class Fault(Exception):
    pass


def equal(what, got, want):
    if got != want:
        if isinstance(got, list) and isinstance(want, list):
            at = next((i for i, pair in enumerate(zip(got, want)) if pair[0] != pair[1]),
                      min(len(got), len(want)))
            got, want = got[at:at + 6], want[at:at + 6]
            what = f"{what}, from line {at + 1}"
        raise Fault(f"{what}: {got!r:.600}, not {want!r:.600}")


class Bench:
    def __init__(self, assay, dump, programs, library, include):
        self.assay, self.dump, self.programs = assay, dump, programs
        self.library, self.include = library, include

    def build(self, compiler, source, *options, plain=False):
        path = os.path.abspath(f"{source}.program")
        subprocess.run([compiler, "-g", *([] if plain else ["-finstrument-functions"]), "-pthread",
                        "-o", path, f"{self.programs}/{source}", *options], check=True)
        return path

    def assay_trace(self, *arguments):
        run = subprocess.run([self.assay, "trace", "-q", "--format", "json", *arguments],
                             capture_output=True, text=True, env=ENVIRONMENT, check=False)
        if run.returncode:
            raise Fault(f"exit status {run.returncode}: {run.stderr[-400:]}")
        return json.loads(run.stdout)

    def trace(self, *command, options=("--groups", "functions")):
        return self.assay_trace("--force", "-o", "out.assay", *options, "--", *command)

    def seen(self):
        """Returns, for each thread, "DEPTH NAME" of its calls; a fault in the dump raises."""
        run = subprocess.run([self.dump, "out.assay/run-001/trace", "nested"], capture_output=True,
                             text=True, check=False)
        threads = []
        for line in run.stdout.splitlines():
            if line.startswith("thread "):
                threads.append([])
            elif not NOT_OURS.search(line):
                threads[-1].append(line)
        if run.returncode:
            raise Fault(f"calls do not end as they began: {run.stdout[-300:]}")
        return [thread for thread in threads if thread]

    def query(self, sql):
        run = subprocess.run([self.assay, "query", "--format", "csv", "out.assay", sql],
                             capture_output=True, text=True, env=ENVIRONMENT, check=True)
        return run.stdout.splitlines()[1:]


def logged(name):
    return pathlib.Path(name).read_text(encoding="utf-8").splitlines()


def calls_of(answer):
    calls = collections.Counter()
    for row in answer["routines"]:
        calls[row["routine"]] += row["calls"]
    return {routine: n for routine, n in calls.items() if not NOT_OURS.search(routine)}


def said_by(*names):
    return dict(collections.Counter(line.split(" ", 1)[1] for name in names
                                    for line in logged(name)))


def without(lines, refused):
    """The log as it is when some functions are not seen: others lie less deep."""
    kept, around = [], []
    for line in lines:
        depth, name = line.split(" ", 1)
        del around[int(depth):]
        around.append(name)
        if name not in refused:
            outer = sum(it not in refused for it in around) - 1
            kept.append(f"{outer} {name}")
    return kept


def in_c(bench, compiler, level):
    program = bench.build(compiler, "functions.c", level)
    answer = bench.trace(program, "log", "nested", "2")
    equal("calls", bench.seen(), [logged("log")])
    equal("sums", calls_of(answer), said_by("log"))
    equal("lost", (answer["lost"], answer["unmatched"]), (0, 0))
    bench.trace(program, "log", "threads")
    equal("threads", bench.seen(), [logged(f"log.{i}") for i in range(3)])
    bench.trace(program, "log", "fork")
    equal("a child", sorted(bench.seen()), sorted([logged("log"), logged("log.child")]))


def in_cpp(bench, compiler, level):
    program = bench.build(compiler, "functions.cpp", level)
    answer = bench.trace(program, "log")
    equal("calls", bench.seen(), [logged("log")])
    equal("sums", calls_of(answer), said_by("log"))


def in_fortran(bench, compiler, level):
    program = bench.build(compiler, "functions.f90", level)
    answer = bench.trace(program)
    ours = [line for thread in bench.seen() for line in thread]
    # Below main and the main program.
    equal("calls", [line for line in ours if not line.endswith(("main", "MAIN__"))],
          [f"{int(depth) + 2} {name}" for depth, name in
           (line.split(" ", 1) for line in logged("functions.log"))])
    calls = calls_of(answer)
    want = said_by("functions.log")
    equal("sums", {name: calls.get(name) for name in want}, want)


def is_usual(bench):
    program = bench.build("cc", "functions.c", "-O1")
    answer = bench.trace(program, "log", "nested", options=())
    equal("calls", {name: n for name, n in calls_of(answer).items() if name in said_by("log")},
          said_by("log"))
    answer = bench.trace(program, "log", "nested", options=("--groups", "openmp"))
    equal("calls that nobody asked for", answer["routines"], [])


def filtered(bench):
    program = bench.build("cc", "functions.c", "-O1")
    pathlib.Path("leaf.filter").write_text(REGIONS.format("EXCLUDE leaf in*"), encoding="utf-8")
    answer = bench.trace(program, "log", "nested", "3",
                         options=("--groups", "functions", "--filter", "leaf.filter"))
    said = said_by("log")
    out = said.pop("leaf") + said.pop("inlined")
    equal("calls", calls_of(answer), said)
    equal("calls that are left out", answer["filtered"], out)
    kept = [line for line in logged("log") if not line.endswith(("leaf", "inlined"))]
    equal("names in order", [line.split()[1] for thread in bench.seen() for line in thread],
          [line.split()[1] for line in kept])


def filtered_by_readable_names(bench):
    program = bench.build("c++", "functions.cpp", "-O1")
    pathlib.Path("grid.filter").write_text(
        REGIONS.format("EXCLUDE *\nINCLUDE solver::Grid<double>::* solver::leaf(int)"),
        encoding="utf-8")
    answer = bench.trace(program, "log", options=("--groups", "functions", "--filter",
                                                  "grid.filter"))
    said = said_by("log")
    equal("calls", calls_of(answer), {name: n for name, n in said.items()
                                      if "Grid" in name or "leaf" in name})
    # The next trace accepts the filter that a score proposes.
    bench.trace(program, "log")
    bench.assay_trace("--score", "out.assay", "--write-filter", "short.filter", "--force")
    answer = bench.trace(program, "log", options=("--groups", "functions", "--filter",
                                                  "short.filter"))
    text = pathlib.Path("short.filter").read_text(encoding="utf-8")
    left_out = {name for name in said if name.replace("*", "\\*") in text}
    equal("calls by a filter that was written", calls_of(answer),
          {name: n for name, n in said.items() if name not in left_out})


def known_by_place(bench):
    program = bench.build("cc", "functions.c", "-O1")
    bench.trace(program, "log", "nested")
    source = logged(f"{bench.programs}/functions.c")
    line = 1 + next(i for i, text in enumerate(source) if "static void lands(" in text)
    rows = bench.query("SELECT s.routine, f.name, l.number FROM trace_site s JOIN function f"
                       " USING (function_id) JOIN line l USING (line_id) WHERE s.routine = 'lands'")
    name, function, number = rows[0].split(",")
    equal("a function", (name, function, len(rows)), ("lands", "lands", 1))
    if not line <= int(number) <= line + 1:
        raise Fault(f"line {number}, not {line}")


def without_symbols(bench):
    program = bench.build("cc", "functions.c", "-O1", "-s")
    answer = bench.trace(program, "log", "nested")
    calls = calls_of(answer)
    equal("how often", sorted(calls.values()), sorted(said_by("log").values()))
    strange = [name for name in calls if not re.fullmatch(r"functions\.c\.program\+0x[0-9a-f]+",
                                                          name)]
    equal("names", strange, [])


def too_deep(bench):
    program = bench.build("cc", "functions.c", "-O0")
    answer = bench.trace(program, "log", "deep", "5000")
    equal("calls", (calls_of(answer), answer["lost"]), ({"again": 4096}, 5002 - 4096))
    calls = bench.seen()[0]
    equal("the deepest", calls[-1], "4095 again")


def switched(bench):
    program = bench.build("cc", "functions.c", "-O1", "-DWITH_ASSAY", f"-I{bench.include}",
                          bench.library, "-ldl")
    answer = bench.trace(program, "log", "switched")
    equal("calls", calls_of(answer), {"around": 1, "is_off_within": 1, "leaf": 4})
    equal("ends without a beginning", answer["unmatched"], 0)


# ---- Programs without compiled instrumentation

OURS = "leaf,again,jumps,lands,varying,last_call,handled,on_another_*,inlined"


def refused_by(bench):
    """Functions that flags name, each with a reason."""
    rows = bench.query("SELECT text FROM v_flags WHERE name = 'function_untraced'")
    found = [re.fullmatch(r'"?the function (.*) is not in the trace: .+', row) for row in rows]
    return {match[1] for match in found}


def plain_c(bench, compiler, level):
    program = bench.build(compiler, "functions.c", level, "-fno-inline", plain=True)
    answer = bench.trace(program, "log", "nested", "2",
                         options=("--groups", "functions", "--functions", OURS))
    refused = refused_by(bench)
    if level == "-O0":
        equal("functions that are refused", refused, set())
    equal("calls", bench.seen(), [without(logged("log"), refused)])
    equal("lost", (answer["lost"], answer["unmatched"]), (0, 0))
    bench.trace(program, "log", "threads",
                options=("--groups", "functions", "--functions", OURS))
    equal("threads", bench.seen(), [without(logged(f"log.{i}"), refused) for i in range(3)])
    bench.trace(program, "log", "fork", options=("--groups", "functions", "--functions", OURS))
    equal("a child", sorted(bench.seen()),
          sorted(without(logged(name), refused) for name in ("log", "log.child")))


def plain_cpp(bench, compiler, level):
    program = bench.build(compiler, "functions.cpp", level, plain=True)
    bench.trace(program, "log", options=("--functions", "solver::Grid<double>::step(double), "
                                         "solver::catches,solver::leaf,*throws*"))
    equal("calls", bench.seen(), [without(logged("log"), refused_by(bench))])


def plain_fortran(bench, compiler, level):
    program = bench.build(compiler, "functions.f90", level, plain=True)
    bench.trace(program, options=("--functions", "solver::power,solver::advance,outside_"))
    equal("calls", bench.seen(), [without(logged("functions.log"), refused_by(bench))])


def plain_openmp(bench, compiler, level):
    program = bench.build(compiler, "functions_omp.c", level, "-fopenmp", plain=True)
    answer = bench.trace(program, "7", options=("--functions", "work,tiny,main*_fn.*"))
    equal("functions that are refused", refused_by(bench), {"tiny"})
    equal("calls", calls_of(answer), {"work": 7 * 64, "main._omp_fn.0": 7 * 2} |
          {row["routine"]: row["calls"] for row in answer["routines"] if row["group"] != "user"})
    equal("threads", len(bench.seen()), 2)
    equal("loops that gcc divides itself",
          bench.query("SELECT n FROM v_flags WHERE name = 'worksharing_unseen'"), ["7"])
    # The function's own line, and its name in what others read.
    rows = bench.query("SELECT f.name, l.number FROM trace_site s JOIN function f"
                       " USING (function_id) JOIN line l USING (line_id) WHERE s.routine = 'work'")
    source = logged(f"{bench.programs}/functions_omp.c")
    line = 1 + next(i for i, text in enumerate(source) if "static double work(" in text)
    equal("its place", rows in ([f"work,{line}"], [f"work,{line + 1}"]), True)
    for form in (["prv", "-o", "out.prv"], ["perfetto", "-o", "out.pftrace"]):
        subprocess.run([bench.assay, "export", "-q", "out.assay", "--as", *form],
                       check=True, env=ENVIRONMENT)
    labels = pathlib.Path("out.pcf").read_text(encoding="utf-8")
    value = re.search(r"(?ms)60000019 .*?^VALUES$.*?^(\d+) +work$", labels)
    events = re.findall(r"^2:.*", pathlib.Path("out.prv").read_text(encoding="utf-8"), re.M)
    begun = sum(f":60000019:{value[1]}" in f"{event}:" and
                re.search(rf":60000019:{value[1]}(:|$)", event) is not None for event in events)
    equal("beginnings in a trace for Paraver", begun, 7 * 64)
    equal("a name for perfetto", b"work" in pathlib.Path("out.pftrace").read_bytes(), True)


def constructs_filtered(bench, compiler):
    program = bench.build(compiler, "functions_omp.c", "-O1", "-fopenmp", "-DDYNAMIC", plain=True)
    records = {}
    for name, rules in (("all", "INCLUDE *"), ("work", "EXCLUDE omp\\ work"),
                        ("barrier", "EXCLUDE omp\\ barrier"), ("task", "EXCLUDE omp\\ task")):
        pathlib.Path("omp.filter").write_text(REGIONS.format(rules), encoding="utf-8")
        answer = bench.trace(program, "3", options=("--groups", "openmp", "--filter",
                                                    "omp.filter"))
        run = subprocess.run([bench.dump, "out.assay/run-001/trace", "teams"], capture_output=True,
                             text=True, check=True)
        kinds = collections.Counter(line.split()[0] if not line.startswith("task") else
                                    "task " + line.split()[1]
                                    for line in run.stdout.splitlines())
        records[name] = (kinds, answer["filtered"])
        if name == "all":
            score = bench.assay_trace("--score", "out.assay", "--filter", "omp.filter")["score"]
            equal("sizes with a filter of nothing", score["filtered"]["size_b"],
                  score["trace"]["size_b"])
            continue
        kept = records["all"][0].copy()
        gone = {kind for kind in kept if kind.split()[0] == name}
        begins = {"work": "work", "barrier": "barrier", "task": "task create"}[name]
        # Beginnings and ends are of one word in the dump, but for tasks.
        out = kept[begins] // (1 if name == "task" else 2)
        for kind in gone:
            del kept[kind]
        equal(f"records without {name}", kinds, kept)
        equal(f"{name} that is left out", (out > 0, answer["filtered"]), (True, out))


def has_openmp(compiler):
    """Its runtime may not be installed."""
    return shutil.which(compiler) and subprocess.run(
        [compiler, "-fopenmp", "-x", "c", "-o", "has-openmp", "-"], capture_output=True, text=True,
        input="int main(void){return 0;}", check=False).returncode == 0


MAIN = """int library_main(int, char **);
int main(int argc, char **argv) { return library_main(argc, argv); }"""
LOADS = """#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *library = dlopen("./libours.so", RTLD_NOW);
    int (*run)(int, char **) = (int (*)(int, char **))dlsym(library, "library_main");
    return run(argc, argv);
}"""


def of_a_library(bench, text, build_id):
    """Linked, by a path that is not the whole one; or loaded later."""
    subprocess.run(["gcc", "-g", "-O0", "-shared", "-fPIC", "-pthread", "-Dmain=library_main",
                    f"-Wl,--build-id={build_id}", f"{bench.programs}/functions.c", "-o",
                    "libours.so"], check=True)
    subprocess.run(["gcc", "-x", "c", "-", "-o", "user", "-Wl,-rpath,.", "-L.", "-lours",
                    "-ldl", "-pthread"], input=globals()[text], text=True, check=True)
    options = ("--functions", OURS, "--functions-of", "libours.so")
    for command in (["./user"], ["sh", "-c", "./user \"$@\"; true", "sh"]):
        answer = bench.trace(*command, "log", "nested", "2", options=options)
        equal("functions that are refused", refused_by(bench), set())
        equal("calls", bench.seen(), [logged("log")])
        equal("lost", (answer["lost"], answer["unmatched"]), (0, 0))
    refused(bench, ["--functions", OURS, "--functions-of", "no.so", "--", "./user", "log"], 2,
            "--functions-of: cannot open no.so: No such file or directory")
    refused(bench, ["--functions-of", "libours.so", "--", "./user", "log"], 2, "add --functions")
    refused(bench, ["--functions", "leaf", "--", "./user", "log"], 2,
            "--functions-of FILE selects those of a library")


OFTEN = """__attribute__((noinline)) static double often(double x) { return x * 0.5 + 1; }
__attribute__((noinline)) static double seldom(double x)
{
    for (int i = 0; i < 40000000; i++)
        x = x * 0.5 + 1;
    return x;
}
int main(int argc, char **argv)
{
    double x = seldom(argc);
    for (int i = 0; i < 200000; i++)
        x = often(x);
    return x < 0 && argv;
}"""


def what_points_cost(bench):
    """Told where it is worth a word, with how many there were."""
    subprocess.run(["gcc", "-O0", "-x", "c", "-", "-o", "often"], input=OFTEN, text=True,
                   check=True)
    sql = "SELECT n, text FROM v_flags WHERE name = 'functions_cost'"
    bench.trace("./often", options=("--functions", "seldom"))
    equal("of two points", bench.query(sql), [])
    bench.trace("./often", options=("--functions", "often"))
    rows = bench.query(sql)
    match = re.match(r'400000,"probes .* took ([0-9.]+) s .*, ([0-9.]+) % of their CPU time',
                     rows[0])
    equal("of many", (len(rows), match is not None and 1 <= float(match[2]) <= 100), (1, True))
    points = bench.query("SELECT points_s FROM v_traces")
    equal("beside the records", round(float(points[0]) / float(match[1]), 2), 1)


def both_ways(bench):
    """Compiled and patched: each call twice, one in the other."""
    program = bench.build("gcc", "functions.c", "-O0")
    answer = bench.trace(program, "log", "nested", "1", options=("--functions", "leaf,again"))
    want = said_by("log")
    refused = refused_by(bench)
    equal("calls", calls_of(answer),
          {name: n * (2 if name in ("leaf", "again") and name not in refused else 1)
           for name, n in want.items()})
    bench.seen()


def refused(bench, words, status, *sentences):
    run = subprocess.run([bench.assay, "trace", "-q", "--force", "-o", "bad.assay", *words],
                         capture_output=True, text=True, env=ENVIRONMENT, check=False)
    equal("exit status", run.returncode, status)
    for sentence in sentences:
        if sentence not in run.stderr:
            raise Fault(f"no sentence {sentence!r} in {run.stderr!r}")


def mistakes(bench):
    program = bench.build("gcc", "functions.c", "-O1", plain=True)
    pathlib.Path("log").unlink(missing_ok=True)
    command = ["--", program, "log", "nested"]
    refused(bench, ["--functions", "again,nobody*", *command], 2,
            f"'nobody*' matches no function of {program}; "
            f"'assay functions {program}' lists its functions")
    refused(bench, ["--functions", " ,", *command], 2, "--functions: empty list")
    equal("whether something ran", pathlib.Path("log").exists(), False)


def is_static(bench):
    program = bench.build("gcc", "functions.c", "-O1", "-static", plain=True)
    for words in ([], ["--functions", "again"]):
        refused(bench, [*words, "--", program, "log", "nested"], 2, f"{program}: is statically "
                "linked, so no library can be preloaded")


def is_static_within(bench):
    program = bench.build("gcc", "functions.c", "-O1", "-static", plain=True)
    bench.trace("sh", "-c", f"{program} log nested; {program} log nested; true")
    rows = bench.query("SELECT n, text FROM v_flags WHERE name = 'trace_static'")
    equal("a flag", [re.sub(r'[\\"]', "", row).split(": ")[:2] for row in rows],
          [["2,processes are not in the trace", f"{program} is statically linked, so its calls "
            "cannot be wrapped; link it dynamically"]])


def main():
    assay, dump, programs, library, include, directory = map(os.path.abspath, sys.argv[1:])
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    os.chdir(directory)
    bench = Bench(assay, dump, programs, library, include)
    points = []

    def point(case, *arguments):
        try:
            case(bench, *arguments)
            why = ""
        except Fault as fault:
            why = str(fault)
        points.append(not why)
        words = " ".join((case.__name__, *arguments))
        print(f"{'not ok' if why else 'ok'} {len(points)} - {words}", flush=True)
        for line in why.splitlines():
            print(f"# {line}")

    for case, compilers in ((in_c, ("gcc", "clang")), (in_cpp, ("g++", "clang++")),
                            (in_fortran, ("gfortran",))):
        for compiler in compilers:
            if not shutil.which(compiler):
                points.append(True)
                print(f"ok {len(points)} # SKIP {compiler} is not here")
                continue
            for level in ("-O0", "-O3"):
                point(case, compiler, level)
    for case, compilers in ((plain_c, ("gcc", "clang")), (plain_cpp, ("g++", "clang++")),
                            (plain_fortran, ("gfortran",))):
        for compiler in compilers:
            if shutil.which(compiler):
                for level in ("-O0", "-O1"):
                    point(case, compiler, level)
    for text in ("MAIN", "LOADS"):
        point(of_a_library, text, "sha1")
        point(of_a_library, text, "none")
    point(plain_openmp, "gcc", "-O0")
    for compiler in ("gcc", "clang"):
        if has_openmp(compiler):
            point(constructs_filtered, compiler)
    for case in (both_ways, what_points_cost, mistakes, is_static, is_static_within, is_usual,
                 filtered, filtered_by_readable_names, known_by_place, without_symbols, too_deep,
                 switched):
        point(case)
    print(f"1..{len(points)}")
    sys.exit(not all(points))


main()
