#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures time lines, tables and changes of a trace.

usage: timeline.py ASSAY DIRECTORY [MILLION_LINES]

Writes a trace of 64 ranks with states, calls, counters and messages: 11.8 million lines, unless
MILLION_LINES says another number. Prints lines "NAME VALUE LOW HIGH". Times are seconds of CPU
time; those of requests are means of many requests of one kind.
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
END_OF_STEP_NS = 100000
REQUESTS = 20
TICKS = os.sysconf("SC_CLK_TCK")


def write_trace(path, lines):
    """A step of a rank: compute, send to the next rank, wait, with counters at the call."""
    steps = lines // (RANKS * LINES_OF_A_STEP)
    with open(path, "w", encoding="ascii") as out:
        ranks = ",".join("1:1" for _ in range(RANKS))
        out.write(f"#Paraver (01/01/2026 at 00:00):{steps * END_OF_STEP_NS}_ns:1({RANKS}):1:"
                  f"{RANKS}({ranks}),0\n")
        for step in range(steps):
            begin = step * END_OF_STEP_NS
            text = []
            for r in range(1, RANKS + 1):
                who = f"{r}:1:{r}:1"
                call = begin + 60000 + (r * 7919 + step * 104729) % 20000
                end = begin + END_OF_STEP_NS
                other = r % RANKS + 1
                text.append(
                    f"1:{who}:{begin}:{call}:1\n1:{who}:{call}:{end}:{3 if step % 5 else 13}\n"
                    f"2:{who}:{begin + 1}:60000019:{step % 7 + 1}\n"
                    f"2:{who}:{call}:50000001:{step % 3 + 1}:42000050:{call - begin}:42000059:"
                    f"{2 * (call - begin)}\n"
                    f"3:{who}:{call}:{call + 10}:{other}:1:{other}:1:{end - 100}:{end - 50}:"
                    f"{1024 << step % 8}:{step % 4}\n"
                    f"2:{who}:{call + 5}:50100001:{1024 << step % 8}\n"
                    f"2:{who}:{end - 1}:50000001:0:42000050:77:42000059:99\n")
            out.write("".join(sorted(text_lines(text), key=time_of)))
    (path.with_suffix(".pcf")).write_text(
        "STATES\n1 Running\n3 Waiting a message\n13 Group Communication\n\nEVENT_TYPE\n"
        "0 50000001 Call\nVALUES\n0 End\n1 Send\n2 Recv\n3 Isend\n", encoding="ascii")


def text_lines(text):
    return [line + "\n" for part in text for line in part.split("\n") if line]


def time_of(line):
    return int(line.split(":", 6)[5])


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


def main():
    assay, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    lines = int(float(sys.argv[3]) * 1e6) if len(sys.argv) > 3 else 11800000
    directory.mkdir(parents=True, exist_ok=True)
    trace = directory / "bench.prv"
    write_trace(trace, lines)
    end = lines // (RANKS * LINES_OF_A_STEP) * END_OF_STEP_NS
    shutil.rmtree(directory / "bench.prv.index", ignore_errors=True)
    run("edit.copy", assay, "edit", trace, "-q", "-o", directory / "copy.prv", "--force")
    (directory / "copy.prv").unlink()
    run("edit.cut", assay, "edit", trace, "-q", "--cut", "40%:60%", "-o", directory / "part.prv",
        "--force")
    run("table", assay, "evaluate", trace, "-q", "mpi-profile")
    served = Served(assay, trace)
    served.wait_for("states")
    served.end("index")
    run("indexed", assay, "evaluate", trace, "-q", "mpi-profile")
    served = Served(assay, trace)
    served.wait_for("states")
    served.end("reopen")
    served = Served(assay, trace)
    served.wait_for("states")
    parts = list(spans(end, REQUESTS))
    served.mean("tile.ms", [f"tile?m=states&from={a}&to={b}&px=2000&row=0&rows=64"
                            for a, b in parts])
    served.mean("all.ms", [f"tile?m=states&from=0&to={end}&px=2000&row=0&rows=64"] * REQUESTS)
    served.mean("events.ms", [f"events?type=50000001&from={a}&to={b}&px=2000&row=0&rows=64"
                              for a, b in parts])
    served.mean("rows.ms", [f"table?m=states&from={a}&to={b}" for a, b in parts])
    served.mean("matrix.ms", [f"matrix?from={a}&to={b}" for a, b in parts])
    served.mean("messages.ms", [f"messages?from={a}&to={b}&most=500" for a, b in parts])
    served.end("served")
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
