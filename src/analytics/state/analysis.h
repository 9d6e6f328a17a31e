/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace says of a run: what threads did, who waited for whom, what it cost, what the run
 * could not have been shorter than, and how well it used its processors. Events of all threads are
 * walked through once in order of time; memory is that of unfinished operations and of waits.
 */
#ifndef AS_ANALYTICS_ANALYSIS_H
#define AS_ANALYTICS_ANALYSIS_H

#include <assay/error.h>
#include <stdbool.h>

#include "analytics/waits/delay_costs.h"
#include "analytics/waits/waits.h"
#include "trace/read.h"

/* What a thread does, outermost first: a mutex taken inside MPI_Send is MPI's. Constant, word,
 * title. */
#define AS_ACTIVITIES(X)                                                                           \
    X(COMPUTING, "computing", "computing")                                                         \
    X(MPI, "mpi", "MPI")                                                                           \
    X(OPENMP, "openmp", "OpenMP")                                                                  \
    X(THREADS, "threads", "threads and locks")                                                     \
    X(FILES, "files", "input/output")                                                              \
    X(SLEEPING, "sleeping", "asleep")                                                              \
    X(OPENCL, "opencl", "OpenCL")                                                                  \
    X(IDLE, "idle", "idle")                                                                        \
    X(OFF, "off", "not recorded")
#define AS_ACTIVITY_ENUM(name, word, title) AS_ACTIVITY_##name,
enum as_activity { AS_ACTIVITIES(AS_ACTIVITY_ENUM) AS_ACTIVITIES_N };
#undef AS_ACTIVITY_ENUM
const char *as_activity_word(enum as_activity activity);
const char *as_activity_title(enum as_activity activity);
/* Of calls of a group of routines (as_trace_group); COMPUTING: they are the program's own work. */
enum as_activity as_activity_of_group(uint32_t group);

struct as_location {
    uint32_t process, thread; /* places in the trace */
    int64_t rank;             /* -1: none */
    uint32_t tid;
    struct as_span span;
    int64_t activity_ns[AS_ACTIVITIES_N];
    int64_t interest_ns[AS_ACTIVITIES_N]; /* of that, in the region of interest */
    uint64_t events_n;
    const char *queue; /* of a device, "queue 1": no part of efficiencies; NULL: a thread */
};

/* A call of a routine: from one place of the code where callers were recorded, else from all. */
struct as_site {
    const char *routine; /* the trace's */
    uint32_t group;      /* as_trace_group */
    uint32_t process;    /* whose address it is; AS_WAIT_UNKNOWN: of all, without an address */
    uint64_t address;    /* of the caller; 0: not known */
    bool is_function;    /* the address is where it begins itself */
    const char *module;  /* the trace's: file that this lies in; NULL: not known */
    uint64_t in_file;    /* the address there: the same place in all processes is one site */
    const struct as_trace_place *place; /* of an imported trace, in place of both; NULL: none */
};

struct as_site_sum {
    uint32_t location, site;
    uint64_t calls_n, open_n; /* that began; those of them that did not come back */
    int64_t time_ns;          /* with what they call; a routine within itself counts once */
    int64_t most_ns;          /* the longest */
    int64_t waiting_ns;       /* in wait states */
    int64_t transfer_ns;      /* the rest of calls that start or complete a transfer */
    uint64_t sent_b, received_b;
};

/* Messages from one rank to another. */
struct as_traffic {
    int64_t from, to;
    uint64_t messages_n, size_b;
};

/*
 * The shares of M. Wagner et al., "A structured approach to performance analysis" (Tools for High
 * Performance Computing 2017; the POP methodology), of hybrid programs after its multiplicative and
 * additive models; NAN where they make no sense. Threads are all, ranks count by the thread of each
 * that was there longest, T is the elapsed time.
 */
struct as_efficiency {
    /* Multiplicative: the first of each three is the product of the others. */
    double parallel;      /* mean useful time of threads over T */
    double balance;       /* mean over most useful */
    double communication; /* most useful over T */
    double mpi_parallel;  /* mean time of ranks outside MPI over T */
    double mpi_balance, mpi_communication;
    double openmp_parallel; /* of each: hybrid over MPI */
    double openmp_balance, openmp_communication;
    /* Additive: what is lost adds up, where ranks have as many threads each. 1 - parallel is
     * (1 - mpi_parallel) + (1 - thread), and
     * 1 - mpi_parallel is (1 - process_balance) + (1 - mpi_communication). */
    double process_balance; /* 1 - (most - mean outside MPI) / T */
    /* By a simulation too: 1 - mpi_communication is (1 - mpi_startup) + (1 - process_transfer) +
     * (1 - process_serialisation). */
    double process_serialisation, process_transfer;
    double thread;        /* is 1 - (1 - openmp_region) - (1 - serial_region) */
    double openmp_region; /* 1 - mean time at barriers, ends of regions and locks over T */
    double serial_region; /* threads without a region while their rank computes */
    /* By a simulation (ideal.c); mpi_communication is the product of the three. T1 is T without
     * MPI_Init and MPI_Finalize. */
    double mpi_startup;       /* T1 over T */
    double mpi_serialisation; /* most time outside MPI over T1 on the ideal network */
    double mpi_transfer;      /* T1 on the ideal network over T1 */
    double elapsed_ns;        /* T; 0: none */
};

/* A region of first threads (phases.h): all calls of it, or an iteration. Its T is the longest time
 * of a rank in it. */
struct as_phase {
    const char *name;                /* the trace's */
    uint64_t first;                  /* iteration, from 1; 0: all calls */
    uint64_t calls_n;                /* of the rank with most; iterations from `first` on */
    int64_t begin_ns, end_ns;        /* the first rank enters, the last leaves */
    uint32_t rank_n, thread_n;       /* that were in it; processes without ranks are not ranks */
    uint32_t busiest;                /* first thread of the rank with most time outside MPI */
    double useful_ns;                /* mean of threads */
    double mpi_ns;                   /* mean of ranks: T without their time outside MPI */
    struct as_efficiency efficiency; /* without those of a simulation */
};

struct as_analysis {
    AS_VEC(struct as_phase) phase;
    struct as_span range; /* that is analysed; AS_INTEREST_ALL: the whole trace */
    struct as_span whole; /* the trace */
    AS_VEC(struct as_location) location;
    AS_VEC(struct as_site) site;
    AS_VEC(struct as_site_sum) sum;
    AS_VEC(struct as_traffic) traffic;
    struct as_wait_list waits;
    struct as_delay_cost_list blame;
    struct as_path path;
    struct as_efficiency efficiency;
    struct as_span interest; /* that efficiencies are about; AS_INTEREST_ALL: the whole run */
    struct as_messages_count messages;
    uint32_t eager_b[AS_EAGER_PATHS_N]; /* the largest send that was seen to be eager */
    uint64_t violated_n; /* messages that were received before they were sent, by the clocks */
    uint64_t unmet_n;    /* collective operations that not all members left, or recorded */
    uint64_t missed_n;   /* messages and the like while it was switched off, sides of them */
    uint64_t summed_n;   /* records of calls that are sums: these have no wait states */
    uint64_t doubtful_n; /* messages that do not fit, where it was switched off: not judged */
    uint64_t unshared_n; /* regions of libgomp in which nobody was seen to share work */
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
    /* From then until then it had no work: what it was said to compute was being idle. */
    int (*idle_until)(void *context, uint32_t location, int64_t begin_ns, int64_t end_ns);
    as_message_matched *message;
    /* A sample of it fell there: what it did, and in which outermost call (NULL: in none). */
    int (*sample)(void *context, const struct as_trace_process *process, uint32_t location,
                  enum as_activity activity, const char *routine,
                  const struct as_trace_event *event);
    const struct as_span *range; /* to analyse, of the clock of the trace; NULL: all */
    /* Nothing but what is watched is asked for: no waits, no sums of calls, and nothing that comes
     * of them. */
    bool is_all;
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
