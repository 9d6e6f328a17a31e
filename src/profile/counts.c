/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes counted events as values of the run, and of its threads and processes if known. Counts are
 * exact, except for multiplexed counters, which are estimates.
 *
 * The kernel gives one count for all threads that inherit a counter. Its option inherit_stat is
 * not used, because it mixes the counts of several events on a CPU. The switch records of each
 * thread are complete unless records were lost.
 */
#include "profile/counts.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "profile/collector.h"

int as_counts_open(struct as_counts *counts, const struct as_profile_request *request, pid_t pid,
                   bool on_exec, struct as_error *err)
{
    struct as_error why;
    if (!request->events)
        return 0;
    const int rc = as_counting_open(pid, request->events, on_exec, request->sampling.no_children,
                                    &counts->counting, &why);
    if (rc == AS_ERR_PERMISSION && strncmp(why.text, "event ", 6) != 0)
        return as_error_set(err, rc, "events '%s': cannot be counted: %s", request->events,
                            why.text);
    if (rc < 0 && err)
        *err = why;
    return rc;
}

void as_counts_close(struct as_counts *counts)
{
    as_counting_close(&counts->counting);
}

int as_counts_read(struct as_counts *counts, struct as_error *err)
{
    return counts->counting ? as_counting_read(counts->counting, &counts->count, &counts->n, err)
                            : 0;
}

/* ---- Metrics ------------------------------------------------------------------------------- */

static bool is_time(const struct as_count *count)
{
    return strcmp(count->unit, "ns") == 0;
}

/* Writes the metric name: count_inst_retired_any_p for "INST_RETIRED:ANY_P". */
static void name_of(const struct as_count *count, char *out, size_t n)
{
    size_t at = (size_t)snprintf(out, n, "count_");
    for (const char *c = count->known; *c && at + 16 < n; c++) {
        const bool word = isalnum((unsigned char)*c);
        if (word || out[at - 1] != '_')
            out[at++] = (char)(word ? tolower((unsigned char)*c) : '_');
    }
    snprintf(out + at, n - at, "%s%s", count->user_only ? "_user" : "",
             is_time(count) ? "_ns" : "");
}

static int define(struct as_experiment *experiment, const struct as_count *count, int position,
                  int64_t *id, struct as_error *err)
{
    char name[128], title[160], meaning[512];
    name_of(count, name, sizeof name);
    snprintf(title, sizeof title, "%s%s", count->known, count->user_only ? " (user code)" : "");
    snprintf(meaning, sizeof meaning, "%s%s", count->meaning,
             count->user_only ? " Without kernel events, which were not permitted." : "");
    const struct as_metric metric = {.name = name,
                                     .unit = is_time(count) ? "ns" : "1",
                                     .meaning = meaning,
                                     .formula = "counted",
                                     .title = title,
                                     .topic = "counted",
                                     .position = position};
    return as_experiment_metric(experiment, &metric, id, err);
}

static struct as_bounded_value quantity_of(const struct as_count *count)
{
    const int64_t n = (int64_t)(count->raw ? count->raw : 1);
    if (count->value == count->raw)
        return as_value_exact((double)count->value, n);
    /* The raw count is the lower bound; there is no upper bound. */
    return as_value_derived((double)count->value, (double)count->raw, INFINITY, n);
}

/* ---- Threads and processes ------------------------------------------------------------------ */

/* Counts of each thread and process of run ?1: object, number. No rows if records were lost. */
static const struct of_each {
    const char *known;
    enum as_object_kind kind;
    const char *sql;
} of_each[] = {
    {"context-switches", AS_OBJECT_THREAD,
     "SELECT t.thread_id, t.switch_voluntary_n + t.switch_involuntary_n FROM thread t "
     "JOIN process p USING (process_id) WHERE p.run_id = ?1"},
    {"context-switches", AS_OBJECT_PROCESS,
     "SELECT p.process_id, sum(t.switch_voluntary_n + t.switch_involuntary_n) FROM thread t "
     "JOIN process p USING (process_id) WHERE p.run_id = ?1 GROUP BY p.process_id"},
    {"cpu-migrations", AS_OBJECT_THREAD,
     "SELECT t.thread_id, t.cpu_migration_n FROM thread t JOIN process p USING (process_id) "
     "WHERE p.run_id = ?1 AND t.switch_voluntary_n IS NOT NULL"},
    {"cpu-migrations", AS_OBJECT_PROCESS,
     "SELECT p.process_id, sum(t.cpu_migration_n) FROM thread t JOIN process p USING (process_id) "
     "WHERE p.run_id = ?1 AND t.switch_voluntary_n IS NOT NULL GROUP BY p.process_id"},
};

static int store_each(struct as_experiment *experiment, int64_t run_id, int64_t metric_id,
                      const struct of_each *each, struct as_error *err)
{
    struct as_rows *rows;
    int rc;
    AS_TRY(as_rows_open(experiment, each->sql, &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    while ((rc = as_rows_next(rows, err)) > 0) {
        const int64_t n = as_rows_integer(rows, 1);
        if (as_rows_kind(rows, 1) == AS_SQL_CELL_NULL)
            continue;
        const struct as_subject subject = {
            .kind = each->kind, .object_id = as_rows_integer(rows, 0), .run_id = run_id};
        rc = as_experiment_value(experiment, metric_id, &subject,
                                 as_value_exact((double)n, n ? n : 1), err);
        if (rc < 0)
            break;
    }
    as_rows_close(&rows);
    return rc;
}

/* ---- All ----------------------------------------------------------------------------------- */

static int store(const struct as_counts *counts, struct as_experiment *experiment, int64_t run_id,
                 bool lossy, struct as_error *err)
{
    const struct as_subject run = {.kind = AS_OBJECT_RUN, .object_id = run_id, .run_id = run_id};

    for (size_t i = 0; i < counts->n; i++) {
        const struct as_count *count = &counts->count[i];
        int64_t id;
        AS_TRY(define(experiment, count, (int)i, &id, err));
        AS_TRY(as_experiment_value(experiment, id, &run, quantity_of(count), err));
        for (size_t k = 0; k < sizeof of_each / sizeof *of_each && !lossy; k++)
            if (strcmp(count->known, of_each[k].known) == 0)
                AS_TRY(store_each(experiment, run_id, id, &of_each[k], err));
    }
    return 0;
}

int as_counts_store(const struct as_counts *counts, struct as_experiment *experiment,
                    int64_t run_id, bool lossy, struct as_error *err)
{
    if (!counts->n)
        return 0;
    AS_TRY(as_experiment_begin(experiment, err));
    int rc = store(counts, experiment, run_id, lossy, err);
    if (rc == 0)
        rc = as_experiment_commit(experiment, err);
    if (rc < 0)
        as_experiment_rollback(experiment);
    return rc;
}

/* ---- As a source --------------------------------------------------------------------------- */

static bool counts_are_wanted(const struct as_collection *all)
{
    return all->request->events != NULL;
}

static int open_counts(struct as_collector *it, const struct as_collection *all,
                       struct as_error *err)
{
    it->self = as_calloc(1, sizeof(struct as_counts));
    if (!it->self)
        return as_error_nomem(err, "counters");
    return as_counts_open(it->self, all->request, as_launch_pid(all->launch), all->plan != NULL,
                          err);
}

static int finish_counts(struct as_collector *it, const struct as_collection *all,
                         struct as_error *err)
{
    (void)all;
    return as_counts_read(it->self, err);
}

static int store_event_counts(struct as_collector *it, const struct as_collection *all,
                              struct as_experiment *experiment, int64_t run_id,
                              struct as_error *err)
{
    return as_counts_store(it->self, experiment, run_id, all->lossy, err);
}

static void close_counts(struct as_collector *it)
{
    if (it->self)
        as_counts_close(it->self);
    as_free(it->self);
}

extern const struct as_collector_kind as_collector_counts;
const struct as_collector_kind as_collector_counts = {.name = "counts",
                                                      .is_wanted = counts_are_wanted,
                                                      .open = open_counts,
                                                      .finish = finish_counts,
                                                      .facts = store_event_counts,
                                                      .close = close_counts};
