# SPDX-License-Identifier: Apache-2.0
"""Linux perf as a peer: recordings by it, and what it says of them. Knows no program."""
import collections
import pathlib
import re
import subprocess


def may_record(folder):
    """Returns whether perf is installed and may sample."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        record(folder, ["true"], None)
    except (OSError, RuntimeError):
        return False
    return True


def record(folder, command, stacks, rate=997, event="cpu-clock:u", name="perf.data", **more):
    """Path of the recording. `stacks`: as of --call-graph, or None."""
    data = folder / name
    words = ["perf", "record", "-q", "-F", str(rate), "-e", event, "-o", str(data)]
    words += ["--call-graph", stacks] if stacks else []
    done = subprocess.run([*words, "--", *map(str, command)], cwd=folder, capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return data


def stacks(data, inlined=False):
    """Returns samples by stack, the outermost frame first: ((function, file name), ...). An unknown
    frame has the name "[unknown]". Version suffixes of names are left out. So is the frame at the
    last address of all, with which perf ends a stack longer than the copy. `inlined`: with inlined
    functions."""
    done = subprocess.run(["perf", "script", "-i", str(data), "-F", "ip,sym,dso",
                           *([] if inlined else ["--no-inline"])],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"perf script: {done.stderr.strip()}")
    counts = collections.Counter()
    for sample in done.stdout.strip("\n").split("\n\n"):
        frames = []
        for line in sample.splitlines():
            m = re.match(r"\s*([0-9a-f]+) (.*) \((.*)\)$", line)
            if m and m[1] != "f" * 16:
                frames.append((m[2].partition("@")[0], pathlib.Path(m[3]).name))
        for i in reversed(range(len(frames) - 1)):  # an inlined one has the file of its caller
            if frames[i][1] == "inlined":
                frames[i] = (frames[i][0], frames[i + 1][1])
        if frames:
            counts[tuple(frames[::-1])] += 1
    return counts


def bare(name):
    """A C++ name as perf has it: without parameters and what the function returns."""
    return re.sub(r"(?<=.)\((?!anonymous).*", "", name).removeprefix("void ")


def functions(data):
    """Samples by (function, file name) of the innermost frame."""
    counts = collections.Counter()
    for stack, n in stacks(data).items():
        counts[stack[-1]] += n
    return counts
