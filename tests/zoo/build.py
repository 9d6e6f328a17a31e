#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the zoo: every row of rows.toml into OUTDIR/ROW/, as many at a time as there are cores.

    build.py OUTDIR [ROW ...]

A row is left alone if its commands and sources did not change since its last build. A row that
lacks a program it needs is not built. That is not an error: check.py skips it with the reason.
"""
import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SRC = HERE / "src"


def rows():
    with open(HERE / "rows.toml", "rb") as f:
        return tomllib.load(f)


def lacking(row):
    """The first program the row needs that this machine lacks, or None."""
    for need in row["needs"]:
        if need == "libomp":
            if not openmp_of_clang():
                return "libomp (libomp-dev)"
        elif not shutil.which(need):
            return need
    return None


def openmp_of_clang():
    code = "#include <omp.h>\nint main(void){return omp_get_max_threads()<0;}\n"
    run = subprocess.run(["clang", "-fopenmp", "-x", "c", "-", "-o", os.devnull],
                         input=code.encode(), capture_output=True)
    return run.returncode == 0


def stamp_of(row):
    h = hashlib.sha256(repr(row["build"]).encode())
    for f in sorted(SRC.iterdir()):
        h.update(f.read_bytes())
    return h.hexdigest()


def build_row(name, row, outdir):
    """Builds one row. Returns None, or the reason why there is nothing: ("skip"|"fail", text)."""
    need = lacking(row)
    if need:
        return ("skip", f"{need} is not installed")
    folder = outdir / name
    stamp = folder / ".stamp"
    want = stamp_of(row)
    if stamp.exists() and stamp.read_text() == want:
        return None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for command in row["build"]:
        run = subprocess.run(command.format(src=SRC), shell=True, cwd=folder, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if run.returncode != 0:
            return ("fail", f"{command}: {run.stdout.strip()}")
    stamp.write_text(want)
    return None


def build(outdir, names=None):
    """Builds the rows; a dict of row name to None or (kind, reason)."""
    table = rows()
    names = names or list(table)
    outdir = pathlib.Path(outdir).resolve()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {n: pool.submit(build_row, n, table[n], outdir) for n in names}
        return {n: j.result() for n, j in jobs.items()}


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    failed = 0
    for name, what in build(sys.argv[1], sys.argv[2:]).items():
        if what:
            print(f"{what[0]} {name}: {what[1]}")
            failed += what[0] == "fail"
    print(f"zoo: {pathlib.Path(sys.argv[1]).resolve()}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
