#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of the field with their loops as clones: field.py RUN AGENT ASSAY DIRECTORY [NAME...]

Each program runs alone. Then it runs with all innermost loops of it and of its libraries as clones,
in every mode. Last it runs under `assay vprof`, `assay count` and `assay run --level two`. Results
must be equal to the bit; lines with times are left out.

Prints a line per run: "NAME HOW same|DIFFERS SECONDS RATIO NOTE...". SECONDS are CPU seconds, RATIO
is relative to the run alone. For `vprof` and `count` it is the last run of the program to its
first. Exit status 1 if a result differs. Missing programs are left out with a message.
"""
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MODES = (["ident"], ["time"], ["sample:1000"], ["count"], ["count", "--bodies"], ["vary:31"])
LIBRARIES = re.compile(r"/lib(lammps|openblas|blas|gromacs|hdf5|z|sz|aec|mpi|gomp|gfortran|m"
                       r"|fftw3f?|stdc\+\+|c|python3\.\d+)[-_.]")

HPCC_LINES = re.compile(r"PASSED|FAILED|_(N|NB|residual|maxErr|Errors\w*)=|CommWorldProcs|=\d+$")
TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
"""
DYNAMICS = """integrator = md
nsteps = 400
dt = 0.0005
nstxout = 200
nstenergy = 100
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
gen_vel = yes
gen_seed = 4711
"""
IMPORT = """PATH /a
INPUT-CLASS FP
INPUT-SIZE 64
RANK 2
DIMENSION-SIZES 1000 1000
OUTPUT-CLASS FP
OUTPUT-SIZE 64
OUTPUT-ARCHITECTURE NATIVE
CHUNKED-DIMENSION-SIZES 100 100
"""
SCRIPT = """import hashlib, json, math, random, re, zlib
random.seed(5)
d = {str(i): [random.random() for _ in range(20)] for i in range(3000)}
s = json.dumps(d, sort_keys=True)
print(len(s), json.loads(s) == d, hashlib.sha256(zlib.compress(s.encode())).hexdigest())
print(len(re.findall(r'0\\.(1|2)\\d+', s)))
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(25))
a = sorted(random.random() for _ in range(200000))
print(sum(a), math.fsum(a), sum(i * i % 7 for i in range(1000000)))
try:
    raise ValueError(len(a))
except ValueError as e:
    print(e)
"""


def call(words, where, **more):
    return subprocess.run(words, cwd=where, capture_output=True, text=True, check=True, timeout=900,
                          **more)


def prepare_hpcc(where):
    text = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt").read_text()
    lines = [re.sub(r"^2", "1", x) if re.search(r" [PQ]s$", x) else
             re.sub(r"^1000", "600", x) if x.endswith(" Ns") else x for x in text.splitlines()]
    (where / "hpccinf.txt").write_text("\n".join(lines) + "\n")
    return ["hpcc"]


def read_hpcc(where, _):
    text = (where / "hpccoutf.txt").read_text() # that of each run, one behind the other
    (where / "hpccoutf.txt").unlink()
    text = text.split("End of HPC Challenge tests.")[-2]
    at = text.index("Begin of Summary section")
    kept = [x for x in text[at:].splitlines() if HPCC_LINES.search(x) and "time" not in x.lower()]
    return "\n".join([re.sub(r"^.*?\|\|", "||", x) for x in text[:at].splitlines()
                      if "||Ax-b||" in x] + kept)


def prepare_lmp(where):
    text = (HERE / "melt.in").read_text().replace("run 300", "run 40")
    (where / "melt.in").write_text(text + "write_dump all custom last.txt id x y z vx vy vz modify"
                                          " format float %.17g sort id\n")
    return ["lmp", "-log", "none", "-in", "melt.in"]


def read_lmp(where, said):
    return said.split("Loop time")[0].split("Setting up")[-1] + (where / "last.txt").read_text()


def prepare_gmx(where):
    (where / "topol.top").write_text(TOPOLOGY)
    (where / "md.mdp").write_text(DYNAMICS)
    call(["gmx", "solvate", "-cs", "spc216.gro", "-box", "2.6", "2.6", "2.6", "-o", "w.gro", "-p",
          "topol.top"], where)
    call(["gmx", "grompp", "-f", "md.mdp", "-c", "w.gro", "-p", "topol.top", "-o", "t.tpr",
          "-maxwarn", "5"], where)
    return ["gmx", "mdrun", "-s", "t.tpr", "-deffnm", "o", "-nt", "1", "-reprod", "-pin", "off"]


def read_gmx(where, _):
    said = [hashlib.sha256((where / f).read_bytes()).hexdigest()
            for f in ("o.trr", "o.gro", "o.edr")]
    for file in [*where.glob("o.*"), *where.glob("#*")]:
        file.unlink()
    return "\n".join(said)


def prepare_h5repack(where):
    with open(where / "a.bin", "wb") as f:
        f.write(b"".join(struct.pack("<d", (i * i % 1009) / 7) for i in range(1000000)))
    (where / "import.conf").write_text(IMPORT)
    call(["h5import", "a.bin", "-c", "import.conf", "-o", "a.h5"], where)
    return ["h5repack", "-f", "SHUF", "-f", "GZIP=6", "a.h5", "b.h5"]


def read_h5repack(where, _):
    said = call(["h5dump", "-p", "-H", "b.h5"], where).stdout
    call(["h5dump", "-d", "/a", "-b", "LE", "-o", "b.bin", "b.h5"], where)
    return said + hashlib.sha256((where / "b.bin").read_bytes()).hexdigest()


def prepare_python3(where):
    (where / "script.py").write_text(SCRIPT)
    return ["/usr/bin/python3", "script.py"]


PROGRAMS = {"hpcc": (prepare_hpcc, read_hpcc), "lmp": (prepare_lmp, read_lmp),
            "gmx": (prepare_gmx, read_gmx), "h5repack": (prepare_h5repack, read_h5repack),
            "python3": (prepare_python3, lambda _, said: said)}


def libraries(path):
    said = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    files = [os.path.realpath(x.split()[2]) for x in said.splitlines() if "=> /" in x]
    return [path, *(f for f in files if LIBRARIES.search(f))][:16]


class Field:
    def __init__(self, runner, agent, assay, directory):
        self.runner, self.agent, self.assay = (str(pathlib.Path(x).resolve())
                                               for x in (runner, agent, assay))
        self.out = pathlib.Path(directory).resolve()
        self.bad = False
        self.env = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def say(self, name, how, same, seconds, ratio, note=""):
        self.bad |= not same
        print(f"{name} {how} {'same' if same else 'DIFFERS'} {seconds:.2f} {ratio:.3f} {note}",
              flush=True)

    def go(self, words, where):
        try:
            return subprocess.run(words, cwd=where, capture_output=True, text=True, check=False,
                                  timeout=900, env=self.env)
        except subprocess.TimeoutExpired as e:
            return subprocess.CompletedProcess(words, 124, "", repr(e))

    def read(self, read, where, got, said):
        try:
            return (got.returncode, read(where, said))
        except (OSError, ValueError, IndexError, subprocess.CalledProcessError) as e:
            return (got.returncode, f"{e!r} {got.stderr[-300:]}")

    def clones(self, name, words, where, read, alone, seconds):
        for mode in MODES:
            files = [w for path in libraries(os.path.realpath(words[0])) for w in ("--only", path)]
            how, plan = "-".join(mode), self.out / "plan"
            shutil.rmtree(plan, ignore_errors=True)
            plan.mkdir()
            got = self.go([self.runner, *mode, *files, str(plan), self.agent, "--", *words], where)
            mine = self.read(read, where, got, got.stdout)
            result = plan / "result.json"
            data = json.loads(result.read_text()) if result.exists() else {}
            took = data.get("seconds", 0)
            note = ", ".join(f"{k} {data[k]}" for k in ("asked", "done", "refused", "unplaced",
                                                        "missed") if k in data)
            if mine != alone:
                note += f": {str(mine)[:200]!r} not {str(alone)[:200]!r}"
            self.say(name, how, mine == alone, took, took / seconds, note)

    def analysed(self, name, words, where, read, alone, verb, *options):
        experiment = self.out / "x.assay"
        shutil.rmtree(experiment, ignore_errors=True)
        got = self.go([self.assay, *verb, "-q", "--format", "json", "-o", str(experiment),
                       *options, "--", *words], where)
        took = self.go([self.assay, "query", "--format", "csv", str(experiment),
                        "SELECT sum(cpu_ns) / 1e9 FROM thread JOIN process USING (process_id)"
                        " GROUP BY run_id ORDER BY run_id"], where)
        took = [float(x) for x in took.stdout.splitlines()[1:] if x] or [0]
        # The output of later runs goes into the experiment, run by run.
        prints = sorted(experiment.glob("run-*/output.txt"))
        said = prints[-1].read_text() if prints else got.stdout
        mine = self.read(read, where, got, said)
        text = got.stdout[got.stdout.find("{"):] if "{" in got.stdout else "{}"
        note = f"exit {got.returncode} {got.stderr[-200:]!r}" if got.returncode else ""
        try:
            data = json.loads(text)
            refused = {}
            for it in data.get("loops", data.get("counted", [])):
                if it.get("refused"):
                    refused[it["refused"]] = refused.get(it["refused"], 0) + it.get("share", 0)
            note += f" refused {data.get('refused_share', 0):.4f} {refused}"
        except ValueError:
            note += " no JSON"
        if mine != alone:
            note += f": {str(mine)[:200]!r} not {str(alone)[:200]!r}"
        self.say(name, "-".join(verb), mine == alone, took[-1], took[-1] / (took[0] or 1), note)

    def program(self, name):
        prepare, read = PROGRAMS[name]
        where = self.out / name
        shutil.rmtree(where, ignore_errors=True)
        where.mkdir(parents=True)
        if not shutil.which(name):
            print(f"{name} is not here")
            return
        words = prepare(where)
        words[0] = shutil.which(words[0])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        got = self.go(words, where)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        alone = self.read(read, where, got, got.stdout)
        self.say(name, "alone", got.returncode == 0, seconds, 1, f"{len(alone[1])} characters")
        if not os.environ.get("FIELD_ANALYSED"):
            self.clones(name, words, where, read, alone, seconds)
        for verb in (["vprof"], ["count"], ["run", "--level", "two"]):
            self.analysed(name, words, where, read, alone, verb)


def main():
    field = Field(*sys.argv[1:5])
    for name in sys.argv[5:] or PROGRAMS:
        field.program(name)
    return field.bad


if __name__ == "__main__":
    sys.exit(main())
