/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The analysis of a trace: activities of threads, wait states, delay costs, the critical path and
 * efficiencies. One walk reads the events of all threads in order of time. Memory is bounded by
 * unfinished operations and wait states, not by events.
 */
#ifndef AS_ANALYTICS_ANALYSIS_H
#define AS_ANALYTICS_ANALYSIS_H

#include <stdbool.h>

#include "analytics/waits/delay_costs.h"
#include "analytics/waits/waits.h"
#include "base/error.h"
#include "trace/read.h"

/* Activities of a thread, outermost first: a mutex locked inside MPI_Send counts as MPI. Fields:
 * constant, word, title. */
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
/* Returns the activity of calls of a group of routines (as_trace_group). COMPUTING: such calls are
 * work of the program. */
enum as_activity as_activity_of_group(uint32_t group);

struct as_location {
    uint32_t process, thread; /* indices in the trace */
    int64_t rank;             /* -1: not a rank */
    uint32_t tid;
    struct as_span span;
    int64_t activity_ns[AS_ACTIVITIES_N];
    int64_t interest_ns[AS_ACTIVITIES_N]; /* the part of activity_ns in the region of interest */
    uint64_t events_n;
    const char *queue; /* name of a device queue ("queue 1"), which efficiencies leave out; NULL: a
                        * thread */
};

/* A call site of a routine: one place in the code if callers were recorded, else all places
 * together. */
struct as_site {
    const char *routine; /* text owned by the trace */
    uint32_t group;      /* as_trace_group */
    uint32_t process;    /* index of the process of `address`; AS_WAIT_UNKNOWN: all processes,
                          * without an address */
    uint64_t address;    /* return address in the caller; 0: unknown */
    bool is_function;    /* `address` is the entry of the routine itself */
    const char *module;  /* path of the file that holds `address`, owned by the trace; NULL:
                          * unknown */
    uint64_t in_file;    /* address in that file: the same in all processes, so that they share one
                          * site */
    const struct as_trace_place *place; /* code place of an imported trace, in place of `module` and
                                         * `in_file`; NULL: none */
};

struct as_site_sum {
    uint32_t location, site;
    uint64_t calls_n, open_n; /* calls that began; calls of these that never returned */
    int64_t time_ns;          /* inclusive time; a recursive call counts once */
    int64_t most_ns;          /* the longest call */
    int64_t waiting_ns;       /* time in wait states */
    int64_t transfer_ns;      /* time outside wait states of calls that start or complete a
                               * transfer */
    uint64_t sent_b, received_b;
};

/* Messages from rank `from` to rank `to`. */
struct as_message_traffic {
    int64_t from, to;
    uint64_t messages_n, size_b;
};

/*
 * The efficiencies of M. Wagner et al., "A structured approach to performance analysis" (Tools for
 * High Performance Computing 2017; the POP methodology). Hybrid programs have its multiplicative
 * and its additive model. NAN stands for an efficiency without meaning. Threads are all threads. A
 * rank counts by its thread that lived longest. T is the elapsed time.
 */
struct as_efficiency {
    /* Multiplicative model: the first of each three is the product of the other two. */
    double parallel;      /* mean useful time of threads over T */
    double balance;       /* mean over maximum of useful time */
    double communication; /* maximum useful time over T */
    double mpi_parallel;  /* mean time of ranks outside MPI over T */
    double mpi_balance, mpi_communication;
    double openmp_parallel; /* of each efficiency: hybrid over MPI */
    double openmp_balance, openmp_communication;
    /* Additive model: losses add up if ranks have equal numbers of threads. 1 - parallel is (1 -
     * mpi_parallel) + (1 - thread), and 1 - mpi_parallel is (1 - process_balance) + (1 -
     * mpi_communication). */
    double process_balance; /* 1 - (maximum - mean time outside MPI) / T */
    /* Additive model, by simulation: 1 - mpi_communication is (1 - mpi_startup) + (1 -
     * process_transfer) + (1 - process_serialisation). */
    double process_serialisation, process_transfer;
    double thread;        /* is 1 - (1 - openmp_region) - (1 - serial_region) */
    double openmp_region; /* 1 - mean time at barriers, at ends of regions and in locks over T */
    double serial_region; /* 1 - mean time of threads outside a region while their rank computes
                           * over T */
    /* By a simulation (ideal.c): mpi_communication is the product of these three. T1 is T without
     * MPI_Init and MPI_Finalize. */
    double mpi_startup;       /* T1 over T */
    double mpi_serialisation; /* maximum time outside MPI over T1 on the ideal network */
    double mpi_transfer;      /* T1 on the ideal network over T1 */
    double elapsed_ns;        /* T; 0: unknown */
};

/* A region that is a phase (phases.h): all its calls, or one range of iterations. T of a phase is
 * the longest time that a rank spends in it. */
struct as_phase {
    const char *name;                /* text owned by the trace */
    uint64_t first;                  /* first iteration, from 1; 0: all calls */
    uint64_t calls_n;                /* calls of the rank with the most; iterations from `first`
                                      * on */
    int64_t begin_ns, end_ns;        /* first enter and last leave of all ranks */
    uint32_t rank_n, thread_n;       /* ranks and threads in the phase; processes without a rank do
                                      * not count */
    uint32_t busiest;                /* first thread of the rank with the most time outside MPI */
    double useful_ns;                /* mean of threads */
    double mpi_ns;                   /* mean over ranks of T minus time outside MPI */
    struct as_efficiency efficiency; /* without the efficiencies of a simulation */
};

struct as_analysis {
    AS_VEC(struct as_phase) phase;
    struct as_span range; /* the analysed part; AS_INTEREST_ALL: the whole trace */
    struct as_span whole; /* the whole trace */
    AS_VEC(struct as_location) location;
    AS_VEC(struct as_site) site;
    AS_VEC(struct as_site_sum) sum;
    AS_VEC(struct as_message_traffic) traffic;
    struct as_wait_list waits;
    struct as_delay_cost_list blame;
    struct as_critical_path path;
    struct as_efficiency efficiency;
    struct as_span interest; /* the part that efficiencies describe; AS_INTEREST_ALL: the whole
                              * run */
    struct as_messages_count messages;
    uint32_t eager_b[AS_EAGER_PATHS_N]; /* the largest send that proved to be eager */
    uint64_t violated_n;                /* messages with a receive before the send, by the clocks */
    uint64_t unmet_n;    /* collectives that some member did not leave, or did not record */
    uint64_t missed_n;   /* sends, receives and members of collectives while tracing was off */
    uint64_t summed_n;   /* records that sum up calls, which have no wait states */
    uint64_t doubtful_n; /* messages without a match because tracing was off: not judged */
    uint64_t unshared_n; /* regions of libgomp without any recorded work sharing */
    uint64_t events_n;
    uint64_t broken_n; /* records that contradict the records before them */
    int64_t begin_ns, end_ns;
};

/*
 * Callbacks that receive the events and results of a walk. Each may be NULL. Each returns 0, or an
 * error that ends the walk. `location` is an index in `location` of the analysis, which is complete
 * before the first call.
 */
struct as_analysis_watch {
    void *context;
    int (*event)(void *context, uint32_t location, const struct as_trace_event *event);
    /* The thread had this activity from `begin_ns` to `end_ns`. `routine` and `group`
     * (as_trace_group) describe the outermost call; NULL: no call. */
    int (*stretch)(void *context, uint32_t location, enum as_activity activity, const char *routine,
                   uint32_t group, int64_t begin_ns, int64_t end_ns);
    /* The thread had no work from `begin_ns` to `end_ns`: time reported as computing was idle. */
    int (*idle_until)(void *context, uint32_t location, int64_t begin_ns, int64_t end_ns);
    as_message_matched *message;
    /* A sample fell on this thread during `activity`. `routine` is the outermost call; NULL: no
     * call. */
    int (*sample)(void *context, const struct as_trace_process *process, uint32_t location,
                  enum as_activity activity, const char *routine,
                  const struct as_trace_event *event);
    const struct as_span *range; /* part to analyse, by the clock of the trace; NULL: all */
    /* Only the callbacks are wanted: the walk skips wait states, sums of calls and all results that
     * depend on them. */
    bool is_all;
};

/* Returns whether `routine` is the MPI routine of an operation ("reduce"). A prefix (MPI_, or I of
 * a nonblocking routine) and a suffix (v, w, _init, _c and others) are ignored. */
bool as_mpi_is(const char *routine, const char *operation);

/* Returns 0, AS_ERR_NOMEM, or an error of reading or of a callback. `watch` may be NULL. The
 * caller keeps `trace` open while it uses `out`. */
int as_analyse_trace(const struct as_trace *trace, const struct as_analysis_watch *watch,
                     struct as_analysis *out, struct as_error *err);
void as_analysis_fini(struct as_analysis *analysis);

#endif
