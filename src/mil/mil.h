/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes: a user's file selects events of a program and their measurements. Parses the language,
 * finds the addresses of the probes by code analysis, and runs the program with them
 * (doc/internals/probe.md).
 */
#ifndef AS_MIL_MIL_H
#define AS_MIL_MIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "code/code.h"
#include "experiment/experiment.h"
#include "profile/profile.h"

/* X(NAME, words, whether it has a beginning and an end) */
#define AS_PROBE_EVENT_LIST(X)                                                                     \
    X(PROGRAM, "program", true)                                                                    \
    X(PROGRAM_ENTRY, "program entry", false)                                                       \
    X(PROGRAM_EXIT, "program exit", false)                                                         \
    X(FUNCTION, "function", true)                                                                  \
    X(FUNCTION_ENTRY, "function entry", false)                                                     \
    X(FUNCTION_EXIT, "function exit", false)                                                       \
    X(CALL_BEFORE, "call before", false)                                                           \
    X(CALL_AFTER, "call after", false)                                                             \
    X(LOOP, "loop", true)                                                                          \
    X(LOOP_ENTRY, "loop entry", false)                                                             \
    X(LOOP_EXIT, "loop exit", false)                                                               \
    X(LOOP_BACK, "loop back", false)                                                               \
    X(BLOCK, "block", false)                                                                       \
    X(INSTRUCTION, "instruction", false)

enum as_probe_event {
#define AS_PROBE_EVENT_ENUM(name, words, spans) AS_PROBE_##name,
    AS_PROBE_EVENT_LIST(AS_PROBE_EVENT_ENUM)
#undef AS_PROBE_EVENT_ENUM
        AS_PROBE_EVENTS
};
const char *as_probe_event_words(enum as_probe_event event);

/* Actions of a probe. */
enum as_probe_action {
    AS_PROBE_COUNT = 1 << 0,
    AS_PROBE_TIME = 1 << 1,
    AS_PROBE_RECORD = 1 << 2,
    AS_PROBE_CALL = 1 << 3
};

struct as_probes; /* of one file */

/* `name` is for sentences ("FILE:LINE:COLUMN: ..."). Errors: USAGE, NOMEM. */
int as_probes_parse(const char *text, size_t n, const char *name, struct as_probes **out,
                    struct as_error *err);
int as_probes_read(const char *path, struct as_probes **out, struct as_error *err);
void as_probes_free(struct as_probes **probes); /* NULL inside is fine */

struct as_probe_facts {
    const char *name; /* borrowed */
    enum as_probe_event event;
    unsigned actions; /* as_probe_action bits */
    unsigned line;
    size_t records, calls; /* values that are recorded, functions that are called */
    bool asks_share;       /* a filter asks how hot something is */
};
size_t as_probes_count(const struct as_probes *probes);
void as_probes_get(const struct as_probes *probes, size_t number, struct as_probe_facts *out);
/* Returns the recorded value as its user wrote it: "argument 1". */
const char *as_probes_record_text(const struct as_probes *probes, size_t number, size_t record);
/* Returns 0 if the libraries that probes call exist and have the functions. Errors: USAGE, those
 * of as_object_open. */
int as_probes_find_libraries(const struct as_probes *probes, struct as_error *err);

/* ---- Where probes stand -------------------------------------------------------------------- */

struct as_probe_site {
    uint32_t probe;      /* its number */
    uint32_t body;       /* of the program; AS_NONE: the program itself */
    uint32_t loop;       /* of loop events, else AS_NONE */
    uint32_t block;      /* where it happens first; AS_NONE: the program itself */
    uint64_t address;    /* of the event: entry, header, call, block, instruction */
    const char *refusal; /* why it cannot be carried out here; NULL: it can. Constant */
};

struct as_probe_sites {
    struct as_probe_site *at; /* by probe, then address */
    size_t n;
};

/* Share of the run's time of a loop, or of a body if that is AS_NONE: 0 to 1; negative:
 * unknown, then no share filter matches. */
struct as_probe_heat {
    double (*share)(void *context, uint32_t body, uint32_t loop);
    void *context;
};

/*
 * Places of all probes in a program, with what can and cannot be measured there. `heat` NULL:
 * filters of shares hold everywhere. The caller frees `out`. Errors: LIMIT (too many places),
 * NOMEM.
 */
int as_probes_resolve(const struct as_probes *probes, const struct as_program *program,
                      const struct as_probe_heat *heat, struct as_probe_sites *out,
                      struct as_error *err);
/* Sets the refusal of sites where no clone can be that shows the event. Errors: NOMEM. */
int as_probes_check(const struct as_probes *probes, const struct as_program *program,
                    struct as_probe_sites *sites, struct as_error *err);
void as_probe_sites_fini(struct as_probe_sites *sites);

/* ---- Runs ---------------------------------------------------------------------------------- */

struct as_probe_request {
    struct as_profile_request profile; /* its command runs up to four times */
    const struct as_probes *probes;
};

enum { AS_PROBE_FREQUENT = 8, AS_PROBE_RESULT_ENDS = 8, AS_PROBE_RESULT_BUCKETS = 128 };

/* A value: a whole number, or one of type double. */
union as_probe_number {
    int64_t whole;
    double real;
};

/* Values that were recorded at a place, of all threads. */
struct as_probe_recorded {
    bool is_real;
    uint64_t n;         /* recorded */
    uint64_t missed;    /* memory that could not be read */
    uint64_t lost;      /* events in the middle of another event */
    uint64_t unordered; /* of n: not a number; in nothing of what follows */
    union as_probe_number least, largest;
    double mean; /* not a number: there are none */
    /* Most frequent values with lower bounds of their counts; 0: no more. */
    struct {
        union as_probe_number value;
        uint64_t n;
    } frequent[AS_PROBE_FREQUENT];
    uint64_t bucket[AS_PROBE_RESULT_BUCKETS]; /* as_probe_bucket */
};
/* Computes the bounds of a bucket of values, by powers of two: [low, high), for negative ones
 * (low, high]; both 0: the zeroes. */
void as_probe_bucket(unsigned bucket, bool is_real, double *low, double *high);

/* Measured values of a site; NAN: not requested or unknown. */
struct as_probe_value {
    double count;              /* of the event, all threads and processes of the program together */
    double time_s;             /* from entry to exit, threads added up */
    double cycles;             /* of that, of a busy core */
    double least_s, largest_s; /* of functions: of one instance */
    double calls;              /* of functions of libraries */
    double entries;            /* of loops */
    double rounds;             /* of loops: how often the header ran */
    uint64_t cut_n;            /* entries or exits without the other: in no number */
    uint64_t lost_n; /* events in the middle of another event: in no number but the count */
    struct as_probe_recorded *recorded; /* by record of the probe; NULL: nothing was */
};

struct as_probe_result {
    struct as_profile_result profile;           /* of the first run */
    int64_t timed_run, counted_run, probed_run; /* 0: none was needed, or nothing could be */
    bool interrupted;
    char path[4096];          /* of the program; its code: */
    struct as_object *object; /* NULL: it was not got so far */
    struct as_program *program;
    struct as_probe_sites sites;
    struct as_probe_value *value; /* by site */
};

/*
 * Functions that are recorded in a trace: `names` are names or patterns (`*`, `?`, sets) of
 * readable or linkage names, separated by commas; `file` is the library that they are of, or NULL:
 * the program of the command.
 */
struct as_traced_functions {
    const char *names, *file;
};

/*
 * Traces a command including functions, by probes at their entries and exits. Functions that cannot
 * be probed are flags of the run (`function_untraced`). Errors: USAGE (a pattern without a
 * function), LIMIT (too many), those of as_program_new and as_profile_run.
 */
int as_trace_functions_run(struct as_experiment *experiment,
                           const struct as_profile_request *request,
                           const struct as_traced_functions *functions,
                           struct as_profile_result *result, struct as_error *err);

/*
 * Profiles a program, finds the addresses of the probes, and runs it again: once for times, once
 * for counts, and once for functions and values. Writes the set `probes` of loops and a table of
 * all sites to the experiment. The caller frees the result, even after errors. Errors: those of
 * as_profile_run.
 */
int as_probe_run(struct as_experiment *experiment, const struct as_probe_request *request,
                 struct as_probe_result *result, struct as_error *err);
void as_probe_result_fini(struct as_probe_result *result);

#endif
