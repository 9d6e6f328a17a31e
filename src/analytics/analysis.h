/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace says of a run: what threads did, who waited for whom, what it cost, what the run
 * could not have been shorter than, and how well it used its processors. Events of all threads are
 * walked through once in order of time; memory is that of unfinished operations and of waits.
 */
#ifndef AS_ANALYTICS_ANALYSIS_H
#define AS_ANALYTICS_ANALYSIS_H

#include <assay/error.h>

#include "analytics/causes.h"
#include "analytics/waits.h"
#include "trace/read.h"

/* What a thread does, outermost first: a mutex taken inside MPI_Send is MPI's. */
#define AS_ACTIVITIES(X)                                                                           \
    X(COMPUTING, "computing")                                                                      \
    X(MPI, "MPI")                                                                                  \
    X(OPENMP, "OpenMP")                                                                            \
    X(THREADS, "threads and locks")                                                                \
    X(FILES, "input/output")                                                                       \
    X(IDLE, "idle")
#define AS_ACTIVITY_ENUM(name, title) AS_ACTIVITY_##name,
enum as_activity { AS_ACTIVITIES(AS_ACTIVITY_ENUM) AS_ACTIVITIES_N };
#undef AS_ACTIVITY_ENUM
const char *as_activity_title(enum as_activity activity);

struct as_location {
    uint32_t process, thread; /* places in the trace */
    int64_t rank;             /* -1: none */
    uint32_t tid;
    struct as_span span;
    int64_t activity_ns[AS_ACTIVITIES_N];
    uint64_t events_n;
};

/* A call of a routine: from one place of the code where callers were recorded, else from all. */
struct as_site {
    const char *routine; /* the trace's */
    uint32_t group;      /* as_trace_group */
    uint32_t process;    /* whose address it is; AS_WAIT_NOBODY: of all, without an address */
    uint64_t address;    /* of the caller; 0: not known */
};

struct as_site_sum {
    uint32_t location, site;
    uint64_t calls_n;
    int64_t time_ns, most_ns; /* inclusive */
    uint64_t sent_b, received_b;
};

/* Messages from one rank to another. */
struct as_traffic {
    int64_t from, to;
    uint64_t messages_n, size_b;
};

/* The shares of M. Wagner et al., "A structured approach to performance analysis" (Tools for High
 * Performance Computing 2017; the POP methodology); NAN where they make no sense. */
struct as_efficiency {
    double parallel;     /* mean useful time of processors over the elapsed */
    double mpi_parallel; /* of ranks: mean time outside MPI of their main threads */
    double mpi_balance, mpi_communication;
    double openmp_parallel; /* parallel over mpi_parallel */
};

struct as_analysis {
    AS_VEC(struct as_location) location;
    AS_VEC(struct as_site) site;
    AS_VEC(struct as_site_sum) sum;
    AS_VEC(struct as_traffic) traffic;
    struct as_wait_list waits;
    struct as_blame_list blame;
    struct as_path path;
    struct as_efficiency efficiency;
    struct as_messages_count messages;
    uint64_t violated_n; /* messages that were received before they were sent, by the clocks */
    uint64_t unmet_n;    /* collective operations that not all members left */
    uint64_t events_n;
    uint64_t broken_n; /* records that make no sense where they stand */
    int64_t begin_ns, end_ns;
};

/*
 * Who wants to see what passes by. Each may be NULL, and answers 0 or an error that ends the walk.
 * `location` is a place in the analysis, whose list of them is complete before the first call.
 */
struct as_analysis_watch {
    void *context;
    int (*event)(void *context, uint32_t location, const struct as_trace_event *event);
    /* It did this from then to then; `routine` and `group` (as_trace_group) are of the outermost
     * call, NULL: in none. */
    int (*stretch)(void *context, uint32_t location, enum as_activity activity, const char *routine,
                   uint32_t group, int64_t begin_ns, int64_t end_ns);
    as_message_matched *message;
};

/* Whether the name of a routine of MPI begins with that of an operation ("reduce"), whatever stands
 * before it (MPI_, I for one that does not block); v, w, _init, _c and others may follow. */
bool as_mpi_is(const char *routine, const char *operation);

/* 0, ASSAY_ERR_NOMEM or what reading or a watch answers. `watch` may be NULL. `trace` stays open
 * while the answer is used. */
int as_analyse_trace(const struct as_trace *trace, const struct as_analysis_watch *watch,
                     struct as_analysis *out, struct assay_error *err);
void as_analysis_fini(struct as_analysis *analysis);

#endif
