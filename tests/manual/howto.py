#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the how-to pages; reports in TAP.

usage: howto.py ASSAY PAGES EXAMPLE

Programs of the pages are small ones of programs/. A command that this machine cannot run begins
with a word of ELSEWHERE. Its page must have a paragraph "Not tested: ..." with that word. Series
have two runs. A table is compared by its heading, a finding by its words; times never.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "zoo"))
import pages  # noqa: E402
import tap as tap_module  # noqa: E402

PROGRAMS = HERE / "programs"
# First words of commands that need another machine, a container, a display or minutes.
ELSEWHERE = ("docker", "apptainer", "ssh", "scp", "rsync", "wxparaver",
             "assay machine --measure memory,peaks")
# Numbers of a command of a page, and those of the test.
SHORTER = ((r"--duration \d+", "--duration 1"), (r"-n 11\b", "-n 2"),
           (r"--budget 5m", "--budget 5s"), (r"-n 4 ", "-n 2 "))
# Commands that end with another status than 0, which says something.
STATUSES = (("assay compare --fail-if-slower", (0, 1)), ("assay try", (0, 3, 4)))
# Pages of programs with ranks, and commands that come before those of a page.
RANKS = ("late-rank", "paraver", "slurm")
BEFORE = {"paraver": "assay trace -q -o tr.assay -- mpirun -n 2 ./solver",
          "other-machine": "assay profile -q -o run.assay -- ./solver",
          "send-report": "assay profile -q -o run.assay -- ./solver",
          "overhead": "assay profile -q -o run.assay -- ./solver"}
# Findings that hold on every machine; those of threads and ranks need a quiet one.
FINDINGS = ("fortran", "memory-bound-loop")


def is_heading(line):
    """Returns whether a line is the heading of a table: columns of words without numbers."""
    return line.count("  ") > 2 and not re.search(r"\d", re.sub("95 %", "", line)) \
        and " -" not in line


class Place:
    """A folder with the programs that pages name; commands run there."""

    def __init__(self, folder, assay, example):
        self.folder, self.assay = folder, assay
        tools = folder / "tools"
        tools.mkdir(parents=True)
        shutil.copy(PROGRAMS / "srun.sh", tools / "srun")
        (tools / "srun").chmod(0o755)
        for name in ("mpirun", "mpicc"):
            found = shutil.which(f"{name}.openmpi")
            if found:
                (tools / name).symlink_to(found)
        shutil.copytree(example, folder / "examples" / "cg",
                        ignore=shutil.ignore_patterns("build", "plain", "*.assay"))
        self.env = {**os.environ, "PATH": f"{tools}:{assay.parent}:{os.environ['PATH']}",
                    "ASSAY_NO_MEASURE": "1", "LC_ALL": "C.UTF-8", "COLUMNS": "200",
                    "BROWSER": "true", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                    "MAKEFLAGS": "-s MPI=no CC=gcc FC=gfortran", "OMP_NUM_THREADS": "2",
                    "OMP_WAIT_POLICY": "passive", "module": "", "XDG_DATA_HOME": str(folder)}

    def run(self, command):
        done = subprocess.run(["bash", "-c", f"module() {{ :; }}\n{command}"], cwd=self.folder,
                              env=self.env, text=True, check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def build(self, ranks):
        """Builds the programs; returns what the compilers said."""
        compile_solver = "mpicc -DWITH_MPI" if ranks else "gcc"
        return self.run(f"""set -e
            cp {PROGRAMS}/dot.c {PROGRAMS}/stencil.c {PROGRAMS}/script.py {PROGRAMS}/solver.c .
            {compile_solver} -O2 -g solver.c -o solver
            cp solver solver-old; cp solver solver-new
            sed -e '6{{h;d}}' -e '7G' stencil.c >swapped.c
            printf 'CFLAGS =\\nsolver: solver.c\\n\\tgcc $(CFLAGS) solver.c -o $@\\n' >Makefile
            gcc -O2 -g stencil.c -o stencil; gcc -O2 -g swapped.c -o swapped
            echo >input.nml""")


def check_page(tap, name, page, place):
    """Runs the commands of one page and compares what it quotes of tables and findings."""
    untested = " ".join(re.findall(r"^Not tested: .*?(?=\n\n|\Z)", page, re.M | re.S))
    printed, process = "", None
    if name in BEFORE:
        status, output = place.run(BEFORE[name])
        tap.point(status == 0, f"{name}: {BEFORE[name]}", output)
    for number, kind, text in pages.parts(page):
        if kind == "output":
            for line in text.split("\n"):
                if is_heading(line):
                    heading = " ".join(line.split())
                    tap.point(heading in " ".join(printed.split()), f"{name}: heading {heading}",
                              f"line {number}\n{printed[-3000:]}")
            if name in FINDINGS and "The loop at" in text:
                sentence = text[text.index("The loop at"):]
                tap.point(pages.is_in(sentence, printed), f"{name}: {sentence[:50]}",
                          f"line {number}\n{printed[-4000:]}")
            continue
        word = next((word for word in ELSEWHERE if text.startswith(word)), None)
        if word:
            tap.point(f"`{word}" in untested,
                      f"{name}: says why it does not test: {text[:50]}")
            continue
        if "--pid 4711" in text:
            process = process or subprocess.Popen([place.folder / "solver", "forever"],
                                                  stdout=subprocess.DEVNULL)
            text = text.replace("4711", str(process.pid))
        command = text
        for old, new in SHORTER:
            command = re.sub(old, new, command)
        status, output = place.run(command)
        wanted = next((wanted for start, wanted in STATUSES if text.startswith(start)), (0,))
        refused = re.search(r"perf_event_paranoid|not permitted|ptrace_scope", output)
        if process and status and refused:
            tap.skip(f"{name}: {text[:60]}", f"refused here: {refused.group()}")
        else:
            tap.point(status in wanted, f"{name}: {text[:60]}",
                      f"status {status}: {command}\n{output}")
        printed += output
    if process:
        process.send_signal(signal.SIGKILL)
        process.wait()


def main():
    assay, folder, example = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    chosen = sys.argv[4:]
    tap = tap_module.Tap()
    tools = ("gcc", "gfortran", "make", "mpicc.openmpi", "mpirun.openmpi")
    missing = [tool for tool in tools if not shutil.which(tool)]
    names = sorted(path.stem for path in folder.glob("*.md"))
    tap.point(len(names) >= 17, f"there are {len(names)} pages")
    for name in [] if missing else names:
        if chosen and name not in chosen:
            continue
        with tempfile.TemporaryDirectory() as folder_name:
            place = Place(pathlib.Path(folder_name) / "t", assay, example)
            status, output = place.build(name in RANKS)
            if not tap.point(status == 0, f"{name}: the programs compile", output):
                continue
            check_page(tap, name, (folder / f"{name}.md").read_text(encoding="utf-8"), place)
    if missing:
        tap.skip("the commands of the pages", f"no {missing[0]} here")
    sys.exit(tap.end())


if __name__ == "__main__":
    main()
