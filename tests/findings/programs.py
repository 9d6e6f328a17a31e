# SPDX-License-Identifier: Apache-2.0
"""Reads the heads of the programs with known causes, builds the programs and runs them.

The first comment after the line of the licence is the head: `key: value` lines. A line without a
key continues the one before. The keys are:

- cause: the cause of the lost time, or why nothing can be gained; one sentence
- place: functions that have the cause, or `run` if every place has it; lines that have the cause
  carry the comment HERE
- finding: rules of data/advise that state the cause, `none yet` or `nothing`; `none yet` if no rule
  states the cause, `nothing` if nothing can be gained
- words: pattern that the text or the advice of a right finding has, besides its rule
- false: rules that are false here; may come more than once
- compiler: gcc, g++ or gfortran by suffix if missing
- flags: of both forms
- libraries: linked besides
- launcher: command that starts the program
- variables: environment of each run
- arguments: of the program
- repair: what the repaired form does; macro `REPAIRED` chooses the form
- repair flags: flags of the repaired form in place of `flags`
- naive: advice that gains nothing, in place of a repair; macro `NAIVE` chooses the form
- naive flags: flags of the naive form in place of `flags`
- naive variables: variables of the naive form besides `variables`
- clock: the seconds that the repair saves, `cpu` or `wall`; `cpu` is user and system time of all
  processes
"""
import os
import pathlib
import re
import resource
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("memory", "compute", "waiting", "resources")
COMPILERS = {".c": "gcc", ".cpp": "g++ -std=c++17", ".F90": "gfortran"}
KEYS = ("cause", "place", "finding", "words", "false", "compiler", "flags", "libraries", "launcher",
        "variables", "arguments", "repair", "repair flags", "naive", "naive flags",
        "naive variables", "clock")
NEEDED = ("cause", "place", "finding", "flags", "clock")
KEY = re.compile(rf"({'|'.join(KEYS)}): *(.*)")
NONE_YET, NOTHING = "none yet", "nothing"
MARK = "HERE"


class Program:
    """A program of the folders, with its head."""

    def __init__(self, path):
        self.path, self.name, self.folder = path, path.stem, path.parent.name
        self.head = parsed_head(path)
        self.rules = [] if self.head["finding"] in (NONE_YET, NOTHING) \
            else self.head["finding"].split()
        self.false_rules = self.head.get("false", "").split()
        self.places = self.head["place"].split()
        self.clock = self.head["clock"]

    @property
    def gains_nothing(self):
        return self.head["finding"] == NOTHING

    @property
    def other_form(self):
        return "naive" if self.gains_nothing else "repair"

    def marked_lines(self):
        text = self.path.read_text(encoding="ascii")
        return {number for number, line in enumerate(text.splitlines(), 1)
                if re.search(rf"(/\*|!) {MARK}\b", line)}

    def build(self, form, directory):
        """Compiles `base` or the other form into the directory; returns the path of the program."""
        binary = directory / f"{self.name}-{form}"
        flags = self.head.get(f"{form} flags", self.head["flags"])
        macro = {"repair": ["-DREPAIRED"], "naive": ["-DNAIVE"]}.get(form, [])
        compiler = self.head.get("compiler", COMPILERS[self.path.suffix])
        subprocess.run([*compiler.split(), *flags.split(), *macro, str(self.path), "-o",
                        str(binary), *self.head.get("libraries", "").split()], check=True,
                       cwd=directory)
        return binary

    def command(self, binary):
        return [*self.head.get("launcher", "").split(), str(binary),
                *self.head.get("arguments", "").split()]

    def environment(self, form="base"):
        given = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C",
                 "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        given |= {key: os.environ[key] for key in ("HOME", "TMPDIR") if key in os.environ}
        words = self.head.get("variables", "") + " " + self.head.get(f"{form} variables", "")
        return given | dict(word.split("=", 1) for word in words.split())


def parsed_head(path):
    """Returns {key: value} of the head of a source file."""
    lines = path.read_text(encoding="ascii").splitlines()[1:]
    head, key = {}, None
    for line in lines:
        if not re.match(r"(/\*|!| \*)", line):
            break
        text = re.sub(r"\s*\*/$", "", re.sub(r"^(/\*| \*|!)\s*", "", line))
        match = KEY.fullmatch(text)
        if match:
            key = match[1]
            head[key] = " ".join((head.get(key, "") + " " + match[2]).split())
        elif key:
            head[key] += " " + text
        else:
            raise ValueError(f"{path.name}: no key in '{text}'")
        if line.endswith("*/"):
            break
    for key in NEEDED:
        if key not in head:
            raise ValueError(f"{path.name}: key '{key}' is missing")
    return head


def all_programs(chosen=()):
    """Returns the programs in the order of folders and names."""
    found = [Program(path) for folder in FOLDERS for path in sorted((HERE / folder).iterdir())
             if path.suffix in COMPILERS]
    missing = set(chosen) - {program.name for program in found}
    if missing:
        raise SystemExit(f"judge.py: unknown program {', '.join(sorted(missing))}")
    return [program for program in found if not chosen or program.name in chosen]


def busy_seconds():
    """Returns the seconds that all CPUs of this machine were busy or stolen since its start."""
    ticks = pathlib.Path("/proc/stat").read_text("ascii").splitlines()[0].split()[1:]
    user, nice, system, _, _, irq, softirq, steal = map(int, ticks[:8])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def timed_run(command, environment):
    """Runs a command; returns its output and its wall, CPU and external seconds.

    External seconds are those that other processes took from the CPUs meanwhile.
    """
    busy, used = busy_seconds(), resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    external = max(0, busy_seconds() - busy - cpu)
    return done.stdout.decode("ascii").strip(), wall, cpu, external
