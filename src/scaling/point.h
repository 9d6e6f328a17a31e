/* SPDX-License-Identifier: Apache-2.0 */
/* One trace as a point of a scaling model: times, efficiencies and useful work. */
#ifndef AS_SCALING_POINT_H
#define AS_SCALING_POINT_H

#include <stdint.h>

#include "base/error.h"
#include "trace/read.h"

struct as_scaling_point {
    uint32_t rank_n;   /* 0 = no MPI ranks */
    uint32_t thread_n; /* of all ranks: the size of the run */
    double elapsed_ns;
    double useful_ns; /* sum over all threads */
    /* Shares of 1; NAN = unknown. Without ranks, balance and communication are those of threads. */
    double parallel, balance, communication, startup, serialisation, transfer;
    /* parallel efficiency of threads within ranks; NAN without ranks */
    double threads;
    double instructions, cycles; /* in useful time; NAN = not counted */
    char unsimulated[300];       /* why startup to transfer are unknown; "" = known, or no ranks */
};

/* Reads the trace in a directory of streams. Errors: NOT_FOUND, NOMEM, IO, UNSUPPORTED (a trace
 * without duration), those of the trace. */
int as_scaling_point_read(const char *directory, struct as_scaling_point *out,
                          struct as_error *err);

/* Counts instructions and cycles outside MPI (useful.c). The trace's counters are "PAPI_TOT_INS"
 * or "instructions", and "PAPI_TOT_CYC" or "cycles". Their readings are running totals of a
 * thread. Sets NAN if a thread of a rank lacks a counter. Errors: IO, NOMEM. */
int as_scaling_count_useful(const struct as_trace *trace, double *instructions, double *cycles,
                            struct as_error *err);

#endif
