#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs with clones for a long time: soak.py RUN AGENT ASSAY STEP DIRECTORY SECONDS

Slices of some minutes at most, until SECONDS are over. A slice runs the known loops of
tests/patch/truth.py: counted instances and threads, static and not, handlers, teams of threads.
Then it runs each program of the field in all modes (field.py); results must be equal to the bit.
Prints a line per slice and sums. Exit status 1 if a slice failed.
"""
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KNOWN = ["soak", "static-soak", "handlers", "threads", "coroutines-O2", "small-stacks"]
FIELD = ["lmp", "hpcc", "python3", "h5repack", "gmx"]
# Counts of one row `soak` (truth.py): four modes.
INSTANCES, THREADS = 4 * 4 * 10**7, 4 * 3000


def slices(runner, agent, assay, step, where):
    """name, command; again and again."""
    times = int(os.environ.get("PATCH_SOAK", "1"))
    while True:
        for row in KNOWN:
            yield (row, [str(ROOT / "tests/patch/truth.py"), runner, agent, step,
                         str(where / "known"), row], times * row.endswith("soak"))
        for name in FIELD:
            yield name, [str(HERE / "field.py"), runner, agent, assay, str(where / "field"),
                         name], 0


def main():
    runner, agent, assay, step, directory, seconds = sys.argv[1:7]
    where = pathlib.Path(directory).resolve()
    where.mkdir(parents=True, exist_ok=True)
    begun, failed, counted, n = time.monotonic(), [], 0, 0
    for name, words, times in slices(runner, agent, assay, step, where):
        if time.monotonic() - begun >= float(seconds):
            break
        at = time.monotonic()
        got = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
        bad = [x for x in got.stdout.splitlines() if x.startswith("not ok") or " DIFFERS " in x]
        good = got.returncode == 0 and not bad
        n += 1
        counted += times if good else 0
        print(f"{name} {'good' if good else 'FAILED'} {time.monotonic() - at:.1f} s", flush=True)
        if not good:
            failed.append(name)
            print("\n".join(bad[:5] or [got.stderr[-500:]]), flush=True)
    print(f"{n} slices in {time.monotonic() - begun:.0f} s: {counted * INSTANCES:.3g} instances and"
          f" {counted * THREADS} threads in known loops; failed: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
