/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small experiment with sums that can be added up by hand: two ranks, recursion, a loop nest,
 * MPI that copies memory. Shared by the unit tests and, as a program, by those of the command line.
 */
#ifndef AS_TESTS_FIXTURE_H
#define AS_TESTS_FIXTURE_H

#include "experiment/experiment.h"

struct fixture {
    int64_t host, run, process[2], thread[3];
    int64_t category[2]; /* application, mpi */
    int64_t module[3];   /* solver, libmpi.so.40, libc.so.6 */
    int64_t main, solve, fib, wait, copy;
    int64_t outer, inner, block;
    int64_t path[8];
};

/* Fills an experiment open for writing; 0 or the first failure. */
int fixture_fill(struct as_experiment *experiment, struct fixture *f, struct as_error *err);

#endif
