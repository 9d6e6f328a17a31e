/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of a run as a program: a rank computes between its calls of MPI, and the calls become
 * operations. The length of a call is not used. Wildcards of receives are replaced by the partner
 * that was recorded.
 */
#ifndef AS_SIMULATE_RECORDED_H
#define AS_SIMULATE_RECORDED_H

#include "simulate/program.h"
#include "trace/read.h"

struct as_recorded_rank {
    int64_t begin_ns, end_ns; /* after MPI_Init, before MPI_Finalize; clock of the trace */
    int64_t computing_ns;     /* outside MPI */
};

/* Filled while the program is read to its end. */
struct as_recorded {
    AS_VEC(struct as_recorded_rank) rank;
    uint64_t one_sided_n;   /* records of one-sided access, which are not simulated */
    uint64_t neighbours_n;  /* collectives among neighbours or two groups, not simulated */
    uint64_t unnamed_n;     /* collectives of unknown communicators, not simulated */
    uint64_t off_n;         /* times without recording, taken as empty */
    uint64_t damaged_n;     /* blocks and records that are missing */
    uint32_t *name_found_n; /* bursts of each name */
    int64_t *name_ns;       /* computing of each name that was handed over, all ranks */
};

/*
 * `trace` and the texts of `name` stay until the program is closed. `name[i]` (NULL: none) are
 * functions and regions; their bursts carry the number of the innermost. Errors: NOT_FOUND (no
 * ranks of MPI), IO, NOMEM, UNSUPPORTED: ranks that are missing or twice, several threads that call
 * MPI, sums of calls, rings.
 */
int as_recorded_open(const struct as_trace *trace, const char *const *name, size_t name_n,
                     struct as_recorded *recorded, struct as_simulated_program *out,
                     struct as_error *err);
/*
 * From now on the program has marks: where calls of MPI begin and end, and where a burst changes.
 * `before` was filled by an earlier reading, and stays until the program is closed.
 */
void as_recorded_mark(struct as_simulated_program *program, const struct as_recorded *before);
/*
 * From now on marks stand where these functions and regions begin (tag 1) and end (tag -1). `name`
 * of a mark is 1 + place in the regions. The texts stay until the program is closed.
 */
void as_recorded_mark_regions(struct as_simulated_program *program, const char *const *region,
                              size_t region_n);
/* The thread of a rank that calls MPI, as its stream names it. */
uint32_t as_recorded_tid(const struct as_simulated_program *program, uint32_t rank);
/* From the first begin to the last end, ns. */
int64_t as_recorded_ns(const struct as_recorded *recorded);
void as_recorded_fini(struct as_recorded *recorded);

#endif
