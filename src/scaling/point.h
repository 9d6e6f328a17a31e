/* SPDX-License-Identifier: Apache-2.0 */
/* One trace as a point of a scaling model: its times, efficiencies and useful work. */
#ifndef AS_SCALING_POINT_H
#define AS_SCALING_POINT_H

#include <assay/error.h>
#include <stdint.h>

#include "trace/read.h"

struct as_scaling_point {
    uint32_t rank_n;   /* 0: no ranks of MPI */
    uint32_t thread_n; /* of all ranks: the size of the run */
    double elapsed_ns;
    double useful_ns; /* of all threads */
    /* Shares; NAN: unknown. Without ranks balance and communication are those of threads. */
    double parallel, balance, communication, startup, serialisation, transfer;
    double threads;              /* parallel efficiency of threads within ranks; NAN: no ranks */
    double instructions, cycles; /* of useful time; NAN: not counted */
    char unsimulated[300];       /* why startup to transfer are unknown; "": known, or no ranks */
};

/* Reads the trace in a directory of streams. Errors: NOT_FOUND, NOMEM, IO, those of the trace;
 * UNSUPPORTED (a trace without a length). */
int as_scaling_point_read(const char *directory, struct as_scaling_point *out,
                          struct assay_error *err);

/* useful.c: instructions and cycles outside MPI, by counters that hold the increment since the
 * last reading ("PAPI_TOT_INS", "instructions"; "PAPI_TOT_CYC", "cycles"). NAN where a thread of a
 * rank lacks them. Errors: IO, NOMEM. */
int as_scaling_count_useful(const struct as_trace *trace, double *instructions, double *cycles,
                            struct assay_error *err);

#endif
