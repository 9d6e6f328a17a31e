/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile: runs or attaches to a program and samples it. The time is attributed to processes,
 * threads, functions, loops, blocks, lines and call paths. All results are facts of the experiment
 * (doc/reference/experiment.md); nothing is shown here.
 */
#ifndef AS_PROFILE_PROFILE_H
#define AS_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "catalogue/catalogue.h"
#include "experiment/experiment.h"
#include "object/object.h"
#include "sample/sample.h"

/* ---- Attribution -------------------------------------------------------------------------- */

/* All zero is a good choice. Borrowed during the call. */
struct as_attribute_options {
    struct as_catalogue *catalogue; /* of the experiment, shared by passes; NULL: one for this */
    unsigned jobs;                  /* threads, 0 = one per CPU */
    const char *categories; /* file of the user's rules, or NULL: doc/reference/categories.md */
    const struct as_object_options *open; /* how binaries are opened without one, or NULL */
    /* Told now and then how far it is, from one thread; or NULL. */
    void (*progress)(void *context, const char *stage, uint64_t done, uint64_t total);
    void *context;
};

/*
 * Reads the streams run-NNN/NAME.samples of a run. Adds processes, threads, modules, functions,
 * loops, blocks, locations, call paths, samples and flags to the experiment, then their sums
 * (as_experiment_summarise). Damaged streams are read as far as possible and flagged. Errors:
 * NOT_FOUND (no stream), NOMEM, those of the experiment.
 */
int as_profile_attribute(struct as_experiment *experiment, int64_t run_id,
                         const struct as_attribute_options *options, struct as_error *err);

/* ---- Recording ---------------------------------------------------------------------------- */

/* The setting of a run in a series: "size", or "env:NAME" of a variable. Borrowed. */
struct as_setting {
    const char *name, *value;
};

/* Trace groups of routines, as bits (doc/reference/trace-recording.md). */
#define AS_TRACED_GROUPS(X)                                                                        \
    X(MPI, "mpi", 1u)                                                                              \
    X(OPENMP, "openmp", 2u)                                                                        \
    X(PTHREAD, "pthread", 4u)                                                                      \
    X(IO, "io", 8u)                                                                                \
    X(MEMORY, "memory", 16u)                                                                       \
    X(FUNCTIONS, "functions", 32u)                                                                 \
    X(OPENCL, "opencl", 64u)
#define AS_TRACED_ENUM(group, name, bit) AS_TRACED_##group = bit,
enum as_traced_groups { AS_TRACED_GROUPS(AS_TRACED_ENUM) };
#undef AS_TRACED_ENUM
#define AS_TRACED_USUAL                                                                            \
    (AS_TRACED_MPI | AS_TRACED_OPENMP | AS_TRACED_PTHREAD | AS_TRACED_FUNCTIONS | AS_TRACED_OPENCL)
#define AS_TRACED_CALLERS   1u /* usual */
#define AS_TRACED_CALLERS_N 16u
/* The flag of a run with a trace of the beginning of each process only (first_s). */
#define AS_FLAG_TRACE_PARTIAL "trace_partial"
#define AS_TRACED_MEMORY_B    4096u /* usual */
/* System counters of a trace, as bits. */
#define AS_TRACED_COUNTERS(X)                                                                      \
    X(SWITCHES, "switches", 1u)                                                                    \
    X(FAULTS, "faults", 2u)                                                                        \
    X(MEMORY, "memory", 4u)                                                                        \
    X(NETWORK, "network", 8u)
#define AS_TRACED_COUNTERS_MS 100u /* usual */
struct as_trace_options {
    uint32_t groups;       /* as_traced_groups */
    uint32_t callers;      /* recorded with a call of MPI, at most AS_TRACED_CALLERS_N */
    uint64_t memory_min_b; /* smaller blocks of memory are not recorded */
    uint64_t ring_b;       /* the latest events of each thread that are kept; 0 = all */
    uint64_t limit_b;      /* of all threads; then tracing ends; 0 = no limit */
    double first_s;        /* so much of each process is recorded, and no more; 0 = all */
    /* Rules of which routines are recorded, packed (trace/filter.h); NULL: all are. Borrowed. */
    const char *filter;
    size_t filter_b;
    uint32_t counters;  /* AS_TRACED_COUNTERS */
    double counters_s;  /* read at most so often */
    const char *events; /* counters of perf, read at each event; NULL: none. Borrowed. */
    /* When it is recorded; what is 0 or NULL says nothing. The program may switch, too. */
    double delay_s, duration_s; /* not before, and not after, since the program began */
    const char *while_file;     /* only while it is there */
    int toggle_signal;          /* switches off and on */
    double burst_s;             /* MPI calls closer together are summed; 0: each is recorded */
    bool start_off;             /* until the program or the signal switches it on */
    bool samples; /* with call stacks, among the events; the request's are those of TIMER */
};

struct as_profile_request {
    const char *const *command; /* ends with NULL; NULL: attach to `pid` */
    pid_t pid;
    bool regions; /* what the program says of itself (<assay/assay.h>) is counted */
    bool objects; /* call stacks of allocations give blocks of memory a site; not with `pid` */
    const struct as_trace_options *trace; /* events go to run-NNN/trace; NULL: none */
    const char *label;                    /* the user's word for the run, or NULL */
    const char *kind;                     /* of the run: NULL is "profile" */
    /* Relation of the run to another one, words of the table `run`; NULL and 0: none. */
    const char *role;
    int64_t reference_id;
    const struct as_setting *setting; /* noted as facts; to apply them is not done here */
    size_t setting_n;
    /* Its event may be TIMER; where perf events are refused it becomes that of itself. */
    struct as_sample_options sampling;
    double duration_s;  /* ends the recording (not the program) after so long; 0 = no limit */
    double limit_s;     /* the command is killed after so long, with all it started; 0 = never */
    uint64_t max_b;     /* of samples kept; 0 = no limit */
    const char *events; /* further events to count, separated by commas, or NULL */
    struct as_attribute_options attribute;
    /* Called before a campaign or a further run starts the program, with the kind of the run
     * ("profile", "vprof"); or NULL. */
    void (*begins)(void *context, const char *kind);
    void *begins_context;
};

struct as_profile_result {
    int64_t run_id;
    int exit_code;    /* of the command; -1: unknown (attached) or killed */
    int exit_signal;  /* that killed it, or 0 */
    bool stopped;     /* the user or the limit of time ended the recording before the program */
    bool too_long;    /* it was killed for `limit_s` */
    bool interrupted; /* the user asked for the end (Ctrl-C, SIGTERM), whatever the program did */
};

/*
 * Records one run into a new row of `experiment`, then attributes it. Input and output of the
 * command are unchanged. If perf events are refused, timers inside the command sample it
 * (doc/internals/agent.md), and event_reason of the run says why. A failing command is not an
 * error. Errors: those of starting (NOT_FOUND, PERMISSION, ...: no run is added), and of writing.
 */
int as_profile_run(struct as_experiment *experiment, const struct as_profile_request *request,
                   struct as_profile_result *result, struct as_error *err);

/* ---- Import ------------------------------------------------------------------------------- */

struct as_import_request {
    const char *path;  /* what `perf record` wrote */
    const char *label; /* the user's word for the run, or NULL */
    uint64_t max_b;    /* of samples kept; 0 = no limit */
    struct as_attribute_options attribute;
};

struct as_import_result {
    int64_t run_id; /* 0: none was added */
    uint64_t samples;
    char damage[512]; /* one sentence on what of the file could not be read; "" = all could */
};

/*
 * Makes a run of the file (doc/manual/import.md), then attributes it. Errors: those of
 * as_perf_data_open (no run is added), and of writing. A damaged file gives what can be read,
 * and a flag.
 */
int as_profile_import(struct as_experiment *experiment, const struct as_import_request *request,
                      struct as_import_result *result, struct as_error *err);

#endif
