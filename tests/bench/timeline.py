#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures time lines, tables and changes of a trace.

usage: timeline.py ASSAY GENERATOR DIRECTORY [MILLION_LINES [large]]

GENERATOR (timeline_trace.c) writes a trace of 64 ranks with states, calls, counters and messages:
11.8 million lines, unless MILLION_LINES says another number. Prints lines "NAME VALUE LOW HIGH".
Times are seconds of CPU time; those of requests are means of many requests of one kind. With
"large", changes and tables of the whole trace are left out. Without enough disk nothing is
measured.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

RANKS, LINES_OF_A_STEP = 64, 7
LINE_B = 100 # of the trace and its index
END_OF_STEP_NS = 100000
REQUESTS = 20
TICKS = os.sysconf("SC_CLK_TCK")


def show(name, value):
    print(name, f"{value:.4f}", f"{value:.4f}", f"{value:.4f}", flush=True)


def run(name, *words):
    """Shows CPU seconds and resident memory of a command."""
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise RuntimeError(f"{words}: status {status}")
    show(f"{name}.s", used.ru_utime + used.ru_stime)
    show(f"{name}.mib", used.ru_maxrss / 1024)


class Served:
    """A running `assay open`."""

    def __init__(self, assay, trace, *more):
        self.child = subprocess.Popen([assay, "open", trace, *more, "--serve"],
                                      stdout=subprocess.PIPE, text=True)
        line = self.child.stdout.readline()
        self.address = re.search(r"http://\S+", line).group(0).rstrip("/")

    def ask(self, request):
        with urllib.request.urlopen(f"{self.address}/{request}") as answer:
            return answer.read()

    def wait_for(self, metric):
        while b'"ready"' not in self.ask(f"metric?m={metric}"):
            time.sleep(0.2)

    def cpu_s(self):
        fields = pathlib.Path(f"/proc/{self.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def mean(self, name, requests):
        """Shows milliseconds of CPU time of a request."""
        before = self.cpu_s()
        for request in requests:
            self.ask(request)
        show(name, 1000 * (self.cpu_s() - before) / len(requests))

    def end(self, name):
        self.child.send_signal(signal.SIGINT)
        _, _, used = os.wait4(self.child.pid, 0)
        self.child.returncode = 0
        show(f"{name}.s", used.ru_utime + used.ru_stime)
        show(f"{name}.mib", used.ru_maxrss / 1024)


def spans(end, n):
    """Parts of the time, from all of it to a thousandth."""
    for i in range(n):
        width = int(end / 1000 ** (i / max(1, n - 1)))
        begin = (end - width) * (i * 37 % n) // n
        yield begin, begin + width


def measure_changes(assay, trace, directory):
    run("edit.copy", assay, "edit", trace, "-q", "-o", directory / "copy.prv", "--force")
    (directory / "copy.prv").unlink()
    run("edit.cut", assay, "edit", trace, "-q", "--cut", "40%:60%", "-o", directory / "part.prv",
        "--force")
    run("table", assay, "evaluate", trace, "-q", "mpi-profile")


def measure_opening(assay, trace, name, *words):
    served = Served(assay, trace, *words)
    served.wait_for("states")
    served.end(name)


def measure_requests(assay, trace, end, requests):
    served = Served(assay, trace)
    served.wait_for("states")
    parts = list(spans(end, requests))
    served.mean("tile.ms", [f"tile?m=states&from={a}&to={b}&px=2000&row=0&rows=64"
                            for a, b in parts])
    served.mean("all.ms", [f"tile?m=states&from=0&to={end}&px=2000&row=0&rows=64"] * requests)
    served.mean("events.ms", [f"events?type=50000001&from={a}&to={b}&px=2000&row=0&rows=64"
                              for a, b in parts])
    served.mean("rows.ms", [f"table?m=states&from={a}&to={b}" for a, b in parts])
    served.mean("matrix.ms", [f"matrix?from={a}&to={b}" for a, b in parts])
    served.mean("messages.ms", [f"messages?from={a}&to={b}&most=500" for a, b in parts])
    served.end("served")


def main():
    assay, generator, directory = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    lines = int(float(sys.argv[4]) * 1e6) if len(sys.argv) > 4 else 11800000
    is_large = sys.argv[5:] == ["large"]
    directory.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(directory).free < LINE_B * lines:
        print("bench: the disk is too small for the trace", file=sys.stderr)
        return
    trace = directory / "bench.prv"
    subprocess.run([generator, trace, str(lines)], check=True)
    end = lines // (RANKS * LINES_OF_A_STEP) * END_OF_STEP_NS
    shutil.rmtree(directory / "bench.prv.index", ignore_errors=True)
    if not is_large:
        measure_changes(assay, trace, directory)
    measure_opening(assay, trace, "index")
    run("indexed", assay, "evaluate", trace, "-q", "mpi-profile")
    measure_opening(assay, trace, "reopen")
    measure_opening(assay, trace, "verify", "--verify")
    measure_requests(assay, trace, end, 3 if is_large else REQUESTS)
    browser = pathlib.Path("web/test/browser/large.mjs")
    if pathlib.Path("web/node_modules/playwright-core").is_dir():
        # Without a browser its lines are missing.
        subprocess.run(["node", browser, trace], check=False, env={**os.environ, "ASSAY": assay})
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
