#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of the field under assay and under perf, one after the other: are the shares of their
hottest functions the same, and are the same samples unwound alike? By hand: runs differ.

    peers.py ASSAY OUTDIR [hpcc|lmp|gmx ...]
"""
import collections
import math
import os
import pathlib
import shutil
import subprocess
import sys

import perf
from experiment import Run, imported

MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
run 150
"""
TOPOLOGY = """#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
"""
STEPS = """integrator = md
nsteps = 400
dt = 0.0005
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
tcoupl = v-rescale
tc-grps = System
tau-t = 0.1
ref-t = 300
gen-vel = yes
constraints = all-bonds
"""
INPUT = """HPLinpack benchmark input file
one rank: what two wait for each other, spinning, differs from run to run
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
2000         Ns
1            # of NBs
80           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
1            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
"""
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def hpcc(folder):
    (folder / "hpccinf.txt").write_text(INPUT)
    (folder / "hpccoutf.txt").unlink(missing_ok=True)
    return ["hpcc"]


def lmp(folder):
    (folder / "in.melt").write_text(MELT)
    return ["lmp", "-in", "in.melt", "-log", "none"]


def gmx(folder):
    (folder / "topol.top").write_text(TOPOLOGY)
    (folder / "steps.mdp").write_text(STEPS)
    for words in (["solvate", "-cs", "spc216.gro", "-box", "3", "3", "3", "-o", "box.gro",
                   "-p", "topol.top"],
                  ["grompp", "-f", "steps.mdp", "-c", "box.gro", "-p", "topol.top", "-o", "run.tpr",
                   "-maxwarn", "5"]):
        subprocess.run(["gmx", *words], cwd=folder, check=True, capture_output=True)
    return ["gmx", "mdrun", "-s", "run.tpr", "-deffnm", "run", "-ntmpi", "1", "-ntomp", "2"]


def interval(n, total):
    """Wilson's, in per cent."""
    z, p = 1.96, n / total
    middle, far = p + z * z / (2 * total), z * math.sqrt(p * (1 - p) / total + (z / total / 2) ** 2)
    return [100 * (middle + s * far) / (1 + z * z / total) for s in (-1, 1)]


def known(function, of):
    """A function that both name; all others of a file are one: local ones of stripped files have
    names of assay's own, and the nearest exported one of perf's."""
    local = function == "[unknown]" or function.startswith("func_") or function.endswith("@plt")
    # If one function has several names, the tools choose different ones.
    name = perf.bare(function).lstrip("_").replace("memmove", "memcpy")
    return ("others", of) if local else (name, of)


def by_name(counts):
    named = collections.Counter()
    for (function, of), n in counts:
        named[known(function, of)] += n
    return named


def shares(name, assay, folder, command, env):
    """The ten hottest functions, by both."""
    data = perf.record(folder, command, "fp", rate=499, event="cpu-clock:u", env=env)
    theirs = by_name(perf.functions(data).items())
    run = Run(assay, folder, command, rate=499, env=env)
    ours = by_name(((f["name"], f["module"]), f["exclusive_sample_n"])
                   for f in run.view("functions") if f["module"] != "[kernel]")
    total, their_total = sum(ours.values()), sum(theirs.values())
    far = []
    print(f"{name}: {total} samples by assay, {their_total} by perf")
    for key, n in sorted(ours.items(), key=lambda x: -x[1])[:10]:
        k = theirs[key]
        low, high = interval(n, total)
        their_low, their_high = interval(k, their_total)
        points = 100 * n / total - 100 * k / their_total
        good = abs(points) <= 2 or (low <= their_high and their_low <= high)
        far.append(abs(points))
        print(f"  {100 * n / total:6.2f} % and {100 * k / their_total:6.2f} %  "
              f"{'ok ' if good else 'FAR'}  {key[0][:60]} ({key[1]})")
    print(f"{name}: at most {max(far):.2f} points apart, {sum(far) / len(far):.2f} on average")


def further(theirs, ours):
    """Returns the samples with different stacks, one of which is the inner part of the other."""
    inner, left = 0, collections.Counter(ours)
    for stack, n in theirs.items():
        for other in [o for o in left if o[-len(stack):] == stack]:
            k = min(n, left[other])
            inner, n = inner + k, n - k
            left[other] -= k
    return inner


def unwinding(name, assay, folder, command, env):
    """The same samples, unwound by both, as files: perf has no names of local functions."""
    data = perf.record(folder, command, "dwarf,16384", rate=97, name="stacks.data", env=env)
    theirs, ours = (collections.Counter() for _ in range(2))
    for counts, stacks in ((theirs, perf.stacks(data)), (ours, imported(assay, data).stacks())):
        for stack, n in stacks.items():
            counts[tuple(of for _, of in stack)] += n
    n, same = max(theirs.total(), ours.total()), (theirs & ours).total()
    more, less = further(theirs - ours, ours - theirs), further(ours - theirs, theirs - ours)
    print(f"{name}: of {n} stacks {100 * same / n:.2f} % are perf's; {100 * more / n:.2f} % go "
          f"further than perf's, {100 * less / n:.2f} % less far")


def main():
    assay, outdir = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    env = os.environ | ROOT | {"OPENBLAS_NUM_THREADS": "1"}
    for make in (hpcc, lmp, gmx):
        name = make.__name__
        if len(sys.argv) > 3 and name not in sys.argv[3:]:
            continue
        if not shutil.which(name):
            print(f"{name}: is not installed")
            continue
        folder = outdir / name
        folder.mkdir(parents=True, exist_ok=True)
        command = make(folder)
        shares(name, assay, folder, command, env)
        unwinding(name, assay, folder, command, env)


if __name__ == "__main__":
    main()
