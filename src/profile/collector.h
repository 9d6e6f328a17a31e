/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectors: sources of observation with one interface. Several collectors observe one launch. A
 * collector is a file with its functions, and an entry of the table in collection.c. It passes on
 * records, writes facts of the recording, or keeps data for facts of the run.
 */
#ifndef AS_PROFILE_COLLECTOR_H
#define AS_PROFILE_COLLECTOR_H

#include "launch/launch.h"
#include "profile/profile.h"
#include "sample/sample.h"

#define AS_COLLECTORS_MOST 16

struct as_agent_session;
struct as_collection;

struct as_collector {
    const struct as_collector_kind *kind;
    void *self; /* its state; allocated by `prepare` or `open`, freed by `close` */
    /* Environment ("NAME=VALUE") and library that the program must start with, or NULL. Set by
     * `prepare` and owned by the collector. */
    const char *const *environment;
    const char *preload;
};

/*
 * Functions of a collector, in the order of their calls; NULL if it has none. A failure ends the
 * recording, except for `open` of a collector with a replacement. Used by one thread.
 */
struct as_collector_kind {
    const char *name;
    /* Name of the collector that this one replaces if its `open` fails with PERMISSION or
     * UNSUPPORTED; NULL: none. */
    const char *instead_of;
    bool (*may_replace)(const struct as_collection *all); /* NULL: always true */
    bool (*is_wanted)(const struct as_collection *all);   /* NULL: always true */
    /* Called first, also if not wanted: removes files that a killed process has left. */
    void (*tidy)(const struct as_collection *all);
    /* Called before the program exists. `why` is the error of the collector that this one replaces,
     * or NULL. */
    int (*prepare)(struct as_collector *it, const struct as_collection *all,
                   const struct as_error *why, struct as_error *err);
    /* Called when the program exists: it waits for its start, or runs already (no plan). */
    int (*open)(struct as_collector *it, const struct as_collection *all, struct as_error *err);
    /* Called just before the program starts. Observations from here on count. */
    int (*start)(struct as_collector *it, const struct as_collection *all, struct as_error *err);
    /* Waits for work, as as_sampler_wait. Only the first collector with this function is called.
     */
    bool (*wait)(struct as_collector *it, int other_fd, int timeout_ms);
    /* Called several times a second, and once with `last`. Passes its records to
     * as_collection_hand. */
    int (*pump)(struct as_collector *it, struct as_collection *all, bool last,
                struct as_error *err);
    /* Called with each record of any collector: `meet` before it is written, `follow` after. */
    int (*meet)(struct as_collector *it, const struct as_collection *all,
                const struct as_sample_record *record, struct as_error *err);
    int (*follow)(struct as_collector *it, const struct as_collection *all,
                  const struct as_sample_record *record, struct as_error *err);
    /* Returns true if a record of another collector must be left out. Called after `meet`. */
    bool (*hides)(const struct as_collector *it, const struct as_sample_record *record);
    /* Called if the recording ends and the program continues. */
    int (*stop)(struct as_collector *it, struct as_error *err);
    /* Called after the last `pump`. Writes facts of the recording. */
    int (*finish)(struct as_collector *it, const struct as_collection *all, struct as_error *err);
    /* Called after the attribution. Writes facts of the run. */
    int (*facts)(struct as_collector *it, const struct as_collection *all,
                 struct as_experiment *experiment, int64_t run_id, struct as_error *err);
    void (*close)(struct as_collector *it); /* called also if `open` failed or was not called */
    /* Choice and counts of a collector that samples. */
    const struct as_sample_choice *(*choice)(const struct as_collector *it);
    const struct as_sample_counts *(*counts)(const struct as_collector *it);
    /* Session of a collector with an agent in the program, from `prepare` on. Others join it. */
    struct as_agent_session *(*session)(const struct as_collector *it);
};

struct as_collection {
    const struct as_profile_request *request;
    const struct as_launch_plan *plan; /* NULL: the process runs already */
    struct as_launch *launch;          /* set from `open` on */
    struct as_recorder *recorder;      /* set from `start` on; owned by the caller */
    const char *directory;             /* of the run; set from `start` on */
    int64_t begin_ns, end_ns; /* of the launch, CLOCK_MONOTONIC; the end is set at `finish` */
    bool lossy;               /* records were lost; set at `finish` */
    as_sample_sink *sink;     /* receives all records */
    void *context;
    struct as_collector at[AS_COLLECTORS_MOST];
    size_t n;
};

/* All collectors, ended by NULL. */
extern const struct as_collector_kind *const as_collector_kinds[];

/*
 * Creates the process of `plan`, stopped before its start, or attaches to the request's process.
 * Opens all wanted collectors of `kinds`. If the kernel refuses a collector with a replacement, a
 * new process is created; the program has not run by then. Errors: those of starting, attaching and
 * the collectors. The caller calls as_collection_close, also after an error.
 */
int as_collection_open(struct as_collection *all, const struct as_collector_kind *const *kinds,
                       const struct as_profile_request *request, const struct as_launch_plan *plan,
                       struct as_error *err);
/* Ends the observation: closes all collectors without `facts`. */
void as_collection_release(struct as_collection *all);
/* Closes all collectors and the launch. An empty collection is allowed. */
void as_collection_close(struct as_collection *all);

/* These call the function of this name of each collector. The first failure ends the calls. */
int as_collection_start(struct as_collection *all, struct as_error *err);
int as_collection_pump(struct as_collection *all, bool last, struct as_error *err);
int as_collection_stop(struct as_collection *all, struct as_error *err);
int as_collection_finish(struct as_collection *all, struct as_error *err);
int as_collection_facts(struct as_collection *all, struct as_experiment *experiment, int64_t run_id,
                        struct as_error *err);
void as_collection_wait(struct as_collection *all, int timeout_ms);

/* An as_sample_sink with the collection as its context. Passes a record to `meet` of all
 * collectors, to the sink of the collection, and to `follow` of all collectors. A record that
 * a collector `hides` goes to `meet` only. */
int as_collection_hand(void *all, const struct as_sample_record *record, struct as_error *err);

/* Returns the agent session that a collector has prepared; NULL if there is none. */
struct as_agent_session *as_collection_session(const struct as_collection *all);

/* Returns the directory in which directories for agents are made. */
const char *as_collection_place(void);

/* These return choice and counts of the collector that samples; NULL if there is none. */
const struct as_sample_choice *as_collection_choice(const struct as_collection *all);
const struct as_sample_counts *as_collection_counts(const struct as_collection *all);

#endif
