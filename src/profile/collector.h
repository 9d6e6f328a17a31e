/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources of observation behind one interface, and several of them on one launch. A source is a
 * file with its functions, and one line of the table in collection.c. What it sees it hands on as
 * records, notes in the recording, or keeps until it can be told as facts.
 */
#ifndef AS_PROFILE_COLLECTOR_H
#define AS_PROFILE_COLLECTOR_H

#include <assay/launch.h>
#include <assay/profile.h>
#include <assay/sample.h>

#define AS_COLLECTORS_MOST 16

struct as_agent_session;
struct as_collection;

struct as_collector {
    const struct as_collector_kind *kind;
    void *self; /* its own; made by `prepare` or `open`, released by `close` */
    /* What the program must be started with, set by `prepare`: "NAME=VALUE" words and a library;
     * or NULL. Owned by the source. */
    const char *const *environment;
    const char *preload;
};

/*
 * What a source can do, in the order in which it is asked; NULL: nothing. All may fail, and then
 * the recording does, but for `open` of one that another stands in for. One thread.
 */
struct as_collector_kind {
    const char *name;
    /* The source that this one replaces where it is refused (PERMISSION, UNSUPPORTED); NULL: none.
     */
    const char *instead_of;
    bool (*may_replace)(const struct as_collection *all); /* NULL: it may */
    bool (*is_wanted)(const struct as_collection *all);   /* NULL: it is */
    /* Wanted or not, first of all: what such a source of a killed process has left goes. */
    void (*tidy)(const struct as_collection *all);
    /* Before the program is there. `why`: of the refused one that it replaces, or NULL. */
    int (*prepare)(struct as_collector *it, const struct as_collection *all,
                   const struct assay_error *why, struct assay_error *err);
    /* The program is there: it waits to be let go, or runs already (no plan). */
    int (*open)(struct as_collector *it, const struct as_collection *all, struct assay_error *err);
    /* It is about to be let go, and what is seen from here on counts. */
    int (*start)(struct as_collector *it, const struct as_collection *all, struct assay_error *err);
    /* Waits for something to do, as assay_sampler_wait; the first that can does it for all. */
    bool (*wait)(struct as_collector *it, int other_fd, int timeout_ms);
    /* Some times a second, and once with `last`: hands on its records by as_collection_hand. */
    int (*pump)(struct as_collector *it, struct as_collection *all, bool last,
                struct assay_error *err);
    /* A record of any source, before it is written, and after. */
    int (*meet)(struct as_collector *it, const struct as_collection *all,
                const struct assay_sample_record *record, struct assay_error *err);
    int (*follow)(struct as_collector *it, const struct as_collection *all,
                  const struct assay_sample_record *record, struct assay_error *err);
    /* Returns true if a record of another source is left out, after `meet`. */
    bool (*hides)(const struct as_collector *it, const struct assay_sample_record *record);
    /* The recording ends, and the program goes on. */
    int (*stop)(struct as_collector *it, struct assay_error *err);
    /* After the last pump: what is known of the whole, for the recording. */
    int (*finish)(struct as_collector *it, const struct as_collection *all,
                  struct assay_error *err);
    /* After the attribution: what it has seen, as facts of the run. */
    int (*facts)(struct as_collector *it, const struct as_collection *all,
                 struct assay_experiment *experiment, int64_t run_id, struct assay_error *err);
    void (*close)(struct as_collector *it); /* also of one that was not opened, or not wholly */
    /* Of those that sample. */
    const struct assay_sample_choice *(*choice)(const struct as_collector *it);
    const struct assay_sample_counts *(*counts)(const struct as_collector *it);
    /* Of one that has the agent in the program, from `prepare` on: others join it. */
    struct as_agent_session *(*session)(const struct as_collector *it);
};

struct as_collection {
    const struct assay_profile_request *request;
    const struct assay_launch_plan *plan; /* NULL: the process runs already */
    struct assay_launch *launch;          /* from `open` on */
    struct assay_recorder *recorder;      /* from `start` on; the caller's */
    const char *directory;                /* of the run; from `start` on */
    int64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; of the launch, the latter at `finish` */
    bool lossy;               /* records were lost; known at `finish` */
    assay_sample_sink *sink;  /* of records */
    void *context;
    struct as_collector at[AS_COLLECTORS_MOST];
    size_t n;
};

/* The sources of the house, ended by NULL. */
extern const struct as_collector_kind *const as_collector_kinds[];

/*
 * Starts the command of `plan` (not let go yet), or attaches to the request's process, with all
 * wanted sources of `kinds` open. Which of them the kernel permits can only be known by trying:
 * when one that has a stand-in is refused, another child is started; nothing of the program has run
 * by then. Errors: those of starting, attaching and the sources; _close is to be called all the
 * same.
 */
int as_collection_open(struct as_collection *all, const struct as_collector_kind *const *kinds,
                       const struct assay_profile_request *request,
                       const struct assay_launch_plan *plan, struct assay_error *err);
/* Ends the observing: closes all that have no facts to tell yet. */
void as_collection_release(struct as_collection *all);
/* Closes all, and the launch. An empty one is fine. */
void as_collection_close(struct as_collection *all);

/* Asks all in turn; the first failure ends it. */
int as_collection_start(struct as_collection *all, struct assay_error *err);
int as_collection_pump(struct as_collection *all, bool last, struct assay_error *err);
int as_collection_stop(struct as_collection *all, struct assay_error *err);
int as_collection_finish(struct as_collection *all, struct assay_error *err);
int as_collection_facts(struct as_collection *all, struct assay_experiment *experiment,
                        int64_t run_id, struct assay_error *err);
void as_collection_wait(struct as_collection *all, int timeout_ms);

/* An assay_sample_sink whose context is the collection: to those that meet it, the collection's
 * sink, those that follow it. */
int as_collection_hand(void *all, const struct assay_sample_record *record,
                       struct assay_error *err);

/* The agent's that is prepared already; NULL: there is none. */
struct as_agent_session *as_collection_session(const struct as_collection *all);

/* Where directories for agents are made. */
const char *as_collection_place(void);

/* Of the source that samples; NULL: there is none. */
const struct assay_sample_choice *as_collection_choice(const struct as_collection *all);
const struct assay_sample_counts *as_collection_counts(const struct as_collection *all);

#endif
