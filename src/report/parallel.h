/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parallel behaviour of a traced run from the views of its experiment, as text and JSON:
 * efficiency, wait states, delay costs and the critical path (doc/internals/analytics.md). All
 * figures are those that `assay show` and the page print.
 */
#ifndef AS_REPORT_PARALLEL_H
#define AS_REPORT_PARALLEL_H

#include "base/arena.h"
#include "base/json.h"
#include "base/vec.h"
#include "experiment/experiment.h"
#include "report/page.h"

/* A traced thread. */
struct as_parallel_thread {
    int64_t number;    /* in the order of rank, process and begin, from 0 */
    int64_t rank;      /* -1: without a rank */
    int64_t pid, tid;  /* process and thread ID */
    const char *queue; /* "queue 1" of a device; NULL: a thread */
};

/* Calls of a routine by a thread, from all call sites. */
struct as_parallel_routine {
    struct as_parallel_thread of;
    const char *group, *routine; /* "mpi-point", "MPI_Send" */
    int64_t calls_n, open_n;     /* open: did not return */
    int64_t sent_b, received_b;
    double time_s, longest_s;
    double waiting_s, transfer_s, overhead_s; /* of MPI calls; NAN: unknown, or other calls */
};

/* Readings of a counter by a thread. */
struct as_parallel_counter {
    struct as_parallel_thread of;
    const char *name;
    int64_t n, first, last, least, most;
    int64_t computing; /* growth while the thread computed */
};

/* The trace of a run. Texts live in `arena`. */
struct as_parallel {
    double elapsed_s, cost_s, cost_most_s; /* cost: computed time to write all records */
    double record_ns;                      /* time to write a record; NAN: not measured */
    double points_s;                       /* measured time of function probes; NAN: without any */
    int64_t events_n, lost_n, damaged_n, broken_n, violated_n;
    int64_t missed_n, doubtful_n, summed_n, filtered_n, samples_lost_n;
    AS_VEC(struct as_parallel_routine) routine; /* by thread, then most time first */
    AS_VEC(struct as_parallel_counter) counter; /* by thread */
    struct as_arena arena;
};

/* Reads the trace of a run. as_parallel_release releases it even after an error. Errors: NOT_FOUND
 * (the run has no trace), NOMEM, those of reading. */
int as_parallel_read(struct as_experiment *experiment, int64_t run_id, struct as_parallel *out,
                     struct as_error *err);
void as_parallel_release(struct as_parallel *parallel);

/* Reads an efficiency of a run by its metric, from 0 to 1; NAN: the run lacks it. Errors: those of
 * reading. */
int as_parallel_share(struct as_experiment *experiment, int64_t run_id, const char *metric,
                      double *out, struct as_error *err);

/* SQL of columns such as "mpi_s": the time of each state of a thread, in the order of
 * AS_ACTIVITIES. `s` has the rows of v_trace_states. */
#define AS_PARALLEL_STATE_SQL(name, word, title)                                                   \
    " ifnull(max(iif(s.name = '" word "', s.time_s, NULL)), 0) AS " word "_s,"
#define AS_PARALLEL_STATES_SQL AS_ACTIVITIES(AS_PARALLEL_STATE_SQL)

/* Writes the report as text. Errors: NOMEM, those of reading. */
int as_parallel_text(struct as_experiment *experiment, int64_t run_id, struct as_page *page,
                     struct as_error *err);
/* Writes the report as an object; doc/reference/json.md describes its members. Errors: those of
 * reading. */
int as_parallel_json(struct as_experiment *experiment, int64_t run_id, struct as_json *json,
                     struct as_error *err);

#endif
