/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collector of regions and counts that the program reports itself. The agent in the program counts
 * them. It uses the directory of the timers if they exist, else its own directory.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inject/regions_read.h"
#include "base/alloc.h"
#include "base/error.h"
#include "profile/agent_session.h"

struct regions_collector {
    struct as_inside inside;
    struct as_region_facts facts;
};

static bool regions_are_wanted(const struct as_collection *all)
{
    return all->request->regions && all->plan;
}

/* ---- Beginning ----------------------------------------------------------------------------- */

static int prepare_regions(struct as_collector *it, const struct as_collection *all,
                           const struct as_error *why, struct as_error *err)
{
    struct regions_collector *regions;
    (void)why;
    it->self = regions = as_calloc(1, sizeof *regions);
    if (!regions)
        return as_error_nomem(err, "regions");
    AS_TRY(as_inside_join(&regions->inside, it, all, err));
    as_agent_session_part(regions->inside.session, AS_REGIONS_CLIENT);
    return 0;
}

/* ---- The end ------------------------------------------------------------------------------- */

static int read_regions(struct as_collector *it, const struct as_collection *all,
                        struct as_error *err)
{
    struct regions_collector *regions = it->self;
    const char *path = as_inside_path(&regions->inside, all);
    return path ? as_regions_read(path, &regions->facts, err) : 0;
}

static int by_thread(const void *a, const void *b)
{
    const struct as_region_fact *x = a, *y = b;
    const int name = strcmp(x->name, y->name);
    if (name || x->kind != y->kind)
        return name ? name : x->kind < y->kind ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Adds a fact to another one of the same thread, which executed several programs. */
static void add_fact(struct as_region_fact *to, const struct as_region_fact *more)
{
    to->n += more->n;
    to->ns += more->ns;
    to->unmatched += more->unmatched;
    to->open |= more->open;
    to->sum = to->kind == AS_REGION_DATUM ? more->sum : to->sum + more->sum;
    to->least = more->least < to->least ? more->least : to->least;
    to->most = more->most > to->most ? more->most : to->most;
}

static void merge_facts(struct as_region_facts *facts)
{
    size_t n = 0;
    if (facts->at.n > 1)
        qsort(facts->at.at, facts->at.n, sizeof *facts->at.at, by_thread);
    as_vec_foreach (&facts->at, it) {
        if (n && by_thread(&facts->at.at[n - 1], it) == 0)
            add_fact(&facts->at.at[n - 1], it);
        else
            facts->at.at[n++] = *it;
    }
    facts->at.n = n;
}

struct regions_writing {
    struct regions_collector *regions;
    struct as_experiment *experiment;
    int64_t run_id;
};

/* Finds the row of a thread; *id is 0 if there is none. */
static int find_thread(const struct regions_writing *to, const struct as_region_fact *fact,
                       int64_t *id, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(to->experiment,
                        "SELECT thread_id FROM thread JOIN process USING (process_id) WHERE "
                        "run_id = ?1 AND pid = ?2 AND tid = ?3 ORDER BY thread_id DESC LIMIT 1",
                        &rows, err));
    as_rows_bind_integer(rows, 1, to->run_id);
    as_rows_bind_integer(rows, 2, fact->pid);
    as_rows_bind_integer(rows, 3, fact->tid);
    const int rc = as_rows_next(rows, err);
    *id = rc > 0 ? as_rows_integer(rows, 0) : 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int store_region_fact(const struct regions_writing *to, const struct as_region_fact *fact,
                             struct as_error *err)
{
    static const char *const kinds[] = {NULL, "region", "event", "datum"};
    const bool timed = fact->kind == AS_REGION_TIMED;
    const struct as_row_region region = {.name = fact->name, .kind = kinds[fact->kind]};
    struct as_row_region_thread row = {.run_id = to->run_id,
                                       .n = (int64_t)fact->n,
                                       .time_ns = (int64_t)fact->ns,
                                       .open_n = fact->open,
                                       .unmatched_n = (int64_t)fact->unmatched,
                                       .total = timed ? (double)NAN : fact->sum,
                                       .least = timed ? (double)NAN : fact->least,
                                       .most = timed ? (double)NAN : fact->most};
    AS_TRY(as_experiment_add_region(to->experiment, &region, &row.region_id, err));
    AS_TRY(find_thread(to, fact, &row.thread_id, err));
    return as_experiment_add_region_thread(to->experiment, &row, err);
}

static int store_lost_flag(const struct regions_writing *to, const char *name, uint64_t n,
                           const char *text, struct as_error *err)
{
    const struct as_flag flag = {.run_id = to->run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = to->run_id,
                                 .name = name,
                                 .text = text,
                                 .n = (int64_t)n};
    return n ? as_experiment_flag(to->experiment, &flag, err) : 0;
}

static int store_region_facts(void *context, struct as_error *err)
{
    const struct regions_writing *to = context;
    merge_facts(&to->regions->facts);
    as_vec_foreach (&to->regions->facts.at, fact)
        AS_TRY(store_region_fact(to, fact, err));
    AS_TRY(store_lost_flag(to, "regions_lost", to->regions->facts.lost,
                           "calls of regions were dropped: a process has at most 512 names", err));
    return store_lost_flag(
        to, "regions_damaged", to->regions->facts.damaged,
        "of regions are invalid: the program overwrote the counters of the agent", err);
}

static int store_regions(struct as_collector *it, const struct as_collection *all,
                         struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    struct regions_writing to = {it->self, experiment, run_id};
    (void)all;
    return as_experiment_batch(experiment, store_region_facts, &to, err);
}

/* Returns the agent session, which other collectors can join. */
static struct as_agent_session *session_of_regions(const struct as_collector *it)
{
    const struct regions_collector *regions = it->self;
    return regions->inside.directory[0] ? regions->inside.session : NULL;
}

static void close_regions(struct as_collector *it)
{
    struct regions_collector *regions = it->self;
    if (!regions)
        return;
    if (regions->inside.directory[0]) { /* of a program that was never let go, or goes on */
        struct as_region_facts rest = {0};
        as_regions_read(regions->inside.directory, &rest, NULL);
        as_region_facts_fini(&rest);
    }
    as_inside_leave(&regions->inside);
    as_region_facts_fini(&regions->facts);
    as_free(regions);
}

extern const struct as_collector_kind as_collector_regions;
const struct as_collector_kind as_collector_regions = {.name = "regions",
                                                       .is_wanted = regions_are_wanted,
                                                       .prepare = prepare_regions,
                                                       .finish = read_regions,
                                                       .facts = store_regions,
                                                       .session = session_of_regions,
                                                       .close = close_regions};
