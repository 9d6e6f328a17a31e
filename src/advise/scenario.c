/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the experiment to the engine and back: times of threads and loops as savings, gains as rows
 * of what-ifs.
 */
#include <math.h>

#include "advise/run.h"
#include "advise/tables.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "experiment/metric_names.h"

/* Loops that gain less than this share of the whole gain are not listed one by one. */
#define LEAST_LISTED 1e-4

struct object {
    int64_t id;
    double value, low, high; /* share of its own time that may be saved */
};

struct scenario {
    const struct as_advice *advice;
    struct as_run_time run;
    AS_VEC(struct as_thread_time) thread;
    AS_VEC(struct object) object;
    AS_VEC(struct as_saving) saving;
    double *part; /* of run */
    struct as_map_u64 thread_of, object_of;
};

/* ---- Reading ------------------------------------------------------------------------------- */

static double real_or(struct as_rows *rows, int column, double otherwise)
{
    return as_rows_kind(rows, column) == AS_SQL_CELL_NULL ? otherwise : as_rows_real(rows, column);
}

static int read_run(struct scenario *s, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(
        s->advice->experiment,
        "SELECT r.wall_s, ifnull(r.usable_cpu_n, h.cpu_n), r.others_time_s + r.steal_time_s,"
        " (SELECT sum(computing_time_s) FROM v_threads t WHERE t.run_id = r.run_id),"
        " CASE WHEN EXISTS (SELECT 1 FROM phase_part p WHERE p.run_id = r.run_id) THEN "
        "ifnull((SELECT max_s - mean_s FROM v_balance b WHERE b.run_id = r.run_id"
        "  AND b.is_main), 0) END"
        " FROM v_runs r JOIN run q USING (run_id) LEFT JOIN host h USING (host_id)"
        " WHERE r.run_id = ?1",
        &rows, err));
    as_rows_bind_integer(rows, 1, s->advice->run_id);
    rc = as_rows_next(rows, err);
    if (rc > 0)
        s->run = (struct as_run_time){.wall_s = real_or(rows, 0, 0),
                                      .processors = real_or(rows, 1, 0),
                                      .others_s = real_or(rows, 2, -1),
                                      .work_s = real_or(rows, 3, 0),
                                      .has_phases = as_rows_kind(rows, 4) != AS_SQL_CELL_NULL,
                                      .uneven_s = real_or(rows, 4, 0)};
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/*
 * A thread that waits while others of its process run pays nothing for being parallel: that work is
 * done elsewhere. Unequal work is the matter of perfect load.
 *
 * Those that work; launchers and idle helpers wait whatever the program does. What one rank spends
 * in MPI, and the only thread of a process in OpenMP, is no cost of being parallel; nor is MPI's
 * starting up and shutting down, which is the same however the program works.
 */
static int read_threads(struct scenario *s, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(
        s->advice->experiment,
        "WITH start AS MATERIALIZED (SELECT thread_id, sum(ns) AS ns, sum(run_ns) AS run_ns FROM"
        "  (SELECT y.thread_id, max(y.inclusive_ns + y.blocked_inclusive_ns) AS ns,"
        "  max(y.inclusive_ns) AS run_ns FROM start_function s"
        "  JOIN thread_time y ON y.object_id = s.function_id WHERE y.run_id = ?1"
        "  AND y.object_kind = 'function' GROUP BY y.thread_id, s.phase) GROUP BY thread_id),"
        " taking AS MATERIALIZED (SELECT p.process_id, count(*) AS workers,"
        "  (SELECT count(DISTINCT r.rank) FROM process r WHERE r.run_id = ?1) AS ranks"
        "  FROM process p JOIN thread x USING (process_id) WHERE p.run_id = ?1"
        "  AND x.role = 'worker' GROUP BY p.process_id),"
        " spent AS MATERIALIZED (SELECT y.thread_id, sum(y.exclusive_ns + y.blocked_ns) AS ns,"
        "  sum(y.exclusive_ns) AS run_ns FROM parallel_category c"
        "  JOIN thread_time y ON y.object_id = c.category_id JOIN thread x USING (thread_id)"
        "  JOIN taking n USING (process_id) WHERE y.run_id = ?1 AND y.object_kind = 'category'"
        "  AND iif(c.is_mpi, n.ranks, n.workers) > 1 GROUP BY y.thread_id),"
        " awaited AS MATERIALIZED (SELECT thread_id,"
        "  1.0 * sum(awaited_ns) / sum(waiting_ns) AS part FROM thread_phase GROUP BY thread_id "
        "HAVING sum(waiting_ns) > 0)"
        " SELECT t.thread_id, t.computing_time_s,"
        " max(0, ifnull(p.run_ns + (p.ns - p.run_ns) * iif(n.ranks > 1, 1,"
        "  1 - ifnull(a.part, 0)), 0) - iif(n.ranks > 1, ifnull(s.ns, 0), 0)) / 1e9, t.sample_n,"
        " ifnull(t.runnable_time_s, -1),"
        " max(0, ifnull(p.run_ns, 0) - iif(n.ranks > 1, ifnull(s.run_ns, 0), 0)) / 1e9"
        " FROM v_threads t JOIN taking n USING (process_id) LEFT JOIN spent p USING (thread_id)"
        " LEFT JOIN start s USING (thread_id) LEFT JOIN awaited a USING (thread_id) WHERE "
        " t.run_id = ?1 AND t.role = 'worker'"
        " AND EXISTS (SELECT 1 FROM thread_time y WHERE y.run_id = ?1) ORDER BY 1",
        &rows, err));
    as_rows_bind_integer(rows, 1, s->advice->run_id);
    while ((rc = as_rows_next(rows, err)) > 0) {
        const struct as_thread_time it = {as_rows_real(rows, 1), as_rows_real(rows, 2),
                                          as_rows_integer(rows, 3), as_rows_real(rows, 4),
                                          as_rows_real(rows, 5)};

        if (as_map_u64_put(&s->thread_of, (uint64_t)as_rows_integer(rows, 0),
                           (uint32_t)s->thread.n) < 0 ||
            as_vec_push(&s->thread, it) < 0) {
            rc = as_error_nomem(err, "the threads of a run");
            break;
        }
    }
    as_rows_close(&rows);
    return rc;
}

/* Threads without phases have all their time in phase 0, which no other thread is in. */
static int read_parts(struct scenario *s, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(s->advice->experiment,
                        "SELECT thread_id, number, part, max(number) OVER () FROM (SELECT *,"
                        " dense_rank() OVER (ORDER BY process_id, phase) AS number"
                        " FROM phase_part WHERE run_id = ?1 AND part > 0)",
                        &rows, err));
    as_rows_bind_integer(rows, 1, s->advice->run_id);
    while ((rc = as_rows_next(rows, err)) > 0) {
        const uint32_t at = as_map_u64_get(&s->thread_of, (uint64_t)as_rows_integer(rows, 0));
        const size_t phase = (size_t)as_rows_integer(rows, 1);

        if (!s->part) {
            s->run.phase_n = (size_t)as_rows_integer(rows, 3) + 1;
            s->run.part = s->part = as_calloc(s->thread.n * s->run.phase_n + 1, sizeof *s->part);
            for (size_t i = 0; s->part && i < s->thread.n; i++)
                s->part[i * s->run.phase_n] = 1;
        }
        if (!s->part) {
            rc = as_error_nomem(err, "the phases of a run");
            break;
        }
        if (at == AS_MAP_NONE)
            continue;
        s->part[at * s->run.phase_n] = 0;
        s->part[at * s->run.phase_n + phase] = as_rows_real(rows, 2);
    }
    as_rows_close(&rows);
    return rc;
}

static int read_objects(struct scenario *s, const char *sql, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    s->object.n = s->saving.n = 0;
    as_map_u64_fini(&s->object_of);
    as_map_u64_init(&s->object_of);
    AS_TRY(as_advice_open_rows(s->advice, sql, &rows, err));
    while ((rc = as_rows_next(rows, err)) > 0) {
        const struct object it = {as_rows_integer(rows, 0), as_rows_real(rows, 1),
                                  as_rows_real(rows, 2), as_rows_real(rows, 3)};

        if (as_map_u64_put(&s->object_of, (uint64_t)it.id, (uint32_t)s->object.n) < 0 ||
            as_vec_push(&s->object, it) < 0) {
            rc = as_error_nomem(err, "the loops of a run");
            break;
        }
    }
    as_rows_close(&rows);
    return rc;
}

static int read_savings(struct scenario *s, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    /* Loops of MPI, OpenMP and threads are no part of what threads compute. */
    AS_TRY(as_rows_open(
        s->advice->experiment,
        "SELECT tt.object_id, tt.thread_id, tt.exclusive_ns, tt.exclusive_n FROM thread_time tt"
        " JOIN object_time t USING (run_id, object_kind, object_id)"
        " WHERE tt.run_id = ?1 AND tt.object_kind = 'loop' AND tt.exclusive_n > 0"
        " AND ifnull(t.category_id, 0) NOT IN (SELECT category_id FROM parallel_category)",
        &rows, err));
    as_rows_bind_integer(rows, 1, s->advice->run_id);
    while ((rc = as_rows_next(rows, err)) > 0) {
        const uint32_t object = as_map_u64_get(&s->object_of, (uint64_t)as_rows_integer(rows, 0));
        const uint32_t thread = as_map_u64_get(&s->thread_of, (uint64_t)as_rows_integer(rows, 1));
        const double time_s = as_rows_real(rows, 2) / 1e9;

        if (object == AS_MAP_NONE || thread == AS_MAP_NONE)
            continue;
        const struct object *of = &s->object.at[object];
        const struct as_saving it = {object,
                                     thread,
                                     time_s * of->value,
                                     time_s * of->low,
                                     time_s * of->high,
                                     as_rows_integer(rows, 3)};
        if (as_vec_push(&s->saving, it) < 0) {
            rc = as_error_nomem(err, "the loops of a run");
            break;
        }
    }
    as_rows_close(&rows);
    return rc;
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* Samples may say a little more than the clock: a gain stays within the run. */
static struct as_bounded_value within_run(const struct as_advice *advice,
                                          struct as_bounded_value gain)
{
    const double most = 0.999 * advice->time_s;

    gain.value = fmin(gain.value, most);
    gain.low = fmin(gain.low, gain.value);
    gain.high = fmax(gain.value, fmin(gain.high, most));
    return gain;
}

static int write(const struct scenario *s, const struct as_what_if_row *row, struct as_what_if *it,
                 struct as_error *err)
{
    it->run_id = s->advice->run_id;
    it->name = row->name;
    it->title = row->title;
    it->meaning = row->meaning;
    it->position = row->position;
    it->pass = AS_ADVISE_PASS;
    it->time_s = s->advice->time_s;
    it->gain_s = within_run(s->advice, it->gain_s);
    return as_experiment_what_if(s->advice->experiment, it, err);
}

struct gains {
    double *alone, *cumulative;
    size_t *order;
    struct as_what_if_object *object;
};

static void list_objects(const struct scenario *s, const struct gains *gains, struct as_what_if *it)
{
    const double time_s = s->advice->time_s, most = 0.999 * time_s;
    const double least = LEAST_LISTED * it->gain_s.value;

    for (size_t k = 0; k < s->object.n; k++) {
        const size_t object = gains->order[k];
        const double before = k ? gains->cumulative[k - 1] : 0;

        if (gains->alone[object] <= least && gains->cumulative[k] - before <= least)
            continue;
        gains->object[it->object_n++] =
            (struct as_what_if_object){s->object.at[object].id, gains->alone[object],
                                       time_s / (time_s - fmin(gains->cumulative[k], most))};
    }
    it->object = gains->object;
    it->to_80_n = (int64_t)as_what_if_reach(gains->cumulative, s->object.n, 0.8);
}

static int mend_loops(struct scenario *s, const struct as_what_if_row *row, struct as_error *err)
{
    struct as_what_if it = {.kind = AS_OBJECT_LOOP};
    struct gains gains;
    int rc;

    AS_TRY(read_objects(s, row->sql, err));
    if (s->object.n) /* the times of each loop in each thread are many */
        AS_TRY(read_savings(s, err));
    gains.alone = as_calloc(s->object.n + 1, sizeof *gains.alone);
    gains.cumulative = as_calloc(s->object.n + 1, sizeof *gains.cumulative);
    gains.order = as_calloc(s->object.n + 1, sizeof *gains.order);
    gains.object = as_calloc(s->object.n + 1, sizeof *gains.object);
    rc = gains.alone && gains.cumulative && gains.order && gains.object
             ? as_what_if_gains(s->thread.at, s->thread.n, &s->run, s->saving.at, s->saving.n,
                                s->object.n, gains.alone, gains.order, gains.cumulative, &it.gain_s,
                                err)
             : as_error_nomem(err, "a what-if");
    if (rc == 0) {
        list_objects(s, &gains, &it);
        rc = write(s, row, &it, err);
    }
    as_free(gains.alone);
    as_free(gains.cumulative);
    as_free(gains.order);
    as_free(gains.object);
    return rc;
}

static int mend_parallel(struct scenario *s, const struct as_what_if_row *row, struct as_error *err)
{
    struct as_what_if it = {.kind = AS_OBJECT_RUN};

    it.gain_s = as_what_if_parallel(s->thread.at, s->thread.n, &s->run,
                                    row->kind == AS_WHAT_IF_PARALLEL_AND_LOAD);
    return write(s, row, &it, err);
}

/* Whether loops of the run have values of a metric, or of one that the pattern fits. */
static int has_metric(const struct as_advice *advice, const char *metric, bool *is,
                      struct as_error *err)
{
    struct as_rows *rows;

    AS_TRY(
        as_advice_open_rows(advice,
                            "SELECT EXISTS (SELECT 1 FROM v_values v WHERE v.object_kind = 'loop'"
                            " AND v.run_id IN (0, ?1) AND v.metric GLOB ?2)",
                            &rows, err));
    as_rows_bind_text(rows, 2, metric);
    const int rc = as_rows_next(rows, err);
    *is = rc > 0 && as_rows_integer(rows, 0) != 0;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static void release_scenario(struct scenario *s)
{
    as_vec_fini(&s->thread);
    as_vec_fini(&s->object);
    as_vec_fini(&s->saving);
    as_free(s->part);
    as_map_u64_fini(&s->thread_of);
    as_map_u64_fini(&s->object_of);
}

/* Reads the run and its threads. Call release_scenario() after errors, too. */
static int open_scenario(struct scenario *s, const struct as_advice *advice, struct as_error *err)
{
    *s = (struct scenario){.advice = advice};
    as_map_u64_init(&s->thread_of);
    as_map_u64_init(&s->object_of);
    AS_TRY(read_run(s, err));
    AS_TRY(read_threads(s, err));
    return read_parts(s, err);
}

int as_advise_stretch(const struct as_advice *advice, struct as_saving_factor *out,
                      struct as_error *err)
{
    struct scenario s;
    const int rc = open_scenario(&s, advice, err);

    if (rc == 0)
        *out = as_what_if_factor(s.thread.at, s.thread.n, &s.run);
    release_scenario(&s);
    return rc;
}

int as_advise_what_ifs(const struct as_advice *advice, struct as_error *err)
{
    bool analysed = false; /* else nothing is known of what code might be */
    struct scenario s;
    int rc;

    if (!(advice->time_s > 0))
        return 0;
    rc = open_scenario(&s, advice, err);
    if (rc == 0)
        rc = has_metric(advice, AS_METRIC_cqa_cycles, &analysed, err);
    for (size_t i = 0; i < as_advise_what_if_n && rc == 0 && s.thread.n; i++) {
        const struct as_what_if_row *row = &as_advise_what_if[i];
        bool measured = true;

        if (row->variant && !analysed)
            continue;
        if (row->metric)
            rc = has_metric(advice, row->metric, &measured, err);
        if (rc == 0 && measured)
            rc = row->kind == AS_WHAT_IF_LOOPS ? mend_loops(&s, row, err)
                                               : mend_parallel(&s, row, err);
    }
    release_scenario(&s);
    return rc;
}
