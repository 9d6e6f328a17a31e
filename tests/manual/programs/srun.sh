#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands in for srun: two ranks with the variables of Slurm; fails if one of them does.
export SLURM_JOB_ID=77 SLURM_NTASKS=2 SLURM_NNODES=1 SLURM_STEP_ID=0
SLURM_PROCID=0 SLURM_LOCALID=0 "$@" &
first=$!
SLURM_PROCID=1 SLURM_LOCALID=1 "$@"
status=$?
wait "$first" && exit "$status"
