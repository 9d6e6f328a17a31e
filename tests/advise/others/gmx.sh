#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels that were tuned by hand, one thread, built without debug information.
# command: gmx mdrun -s run.tpr -deffnm run -ntmpi 1 -ntomp 1; variables: OMP_NUM_THREADS=1;
# advises: short_vectors intrinsics stay; has: short_vectors no_debug;
# never: array_access access_by_variable load_imbalance parallel_overhead scalar_arithmetic;
gmx solvate -cs spc216.gro -box 3 3 3 -o box.gro >made.txt 2>&1
cat >topol.top <<END
#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spce.itp"
[ system ]
water
[ molecules ]
SOL $(($(sed -n 2p box.gro) / 3))
END
cat >run.mdp <<END
integrator = md
nsteps = 400
dt = 0.0005
cutoff-scheme = Verlet
coulombtype = PME
END
gmx grompp -f run.mdp -c box.gro -p topol.top -o run.tpr -maxwarn 5 >made.txt 2>&1
