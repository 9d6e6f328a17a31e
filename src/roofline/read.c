/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the points of a run and the ceilings of its machine from an experiment. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "experiment/metric_names.h"
#include "roofline/ceilings.h"

enum { FEW_SAMPLES = 30 };

/* X(NAME, metric): facts of an object. */
#define ROOF_FACTS(X)                                                                              \
    X(INSTRUCTIONS, AS_METRIC_executed_instruction_n)                                              \
    X(FLOPS, AS_METRIC_executed_flop_n)                                                            \
    X(FLOPS_F32, AS_METRIC_executed_flop_f32_n)                                                    \
    X(FLOPS_F64, AS_METRIC_executed_flop_f64_n)                                                    \
    X(FLOPS_PACKED, AS_METRIC_executed_flop_packed_n)                                              \
    X(INT_OPS, AS_METRIC_executed_int_op_n)                                                        \
    X(LOADED, AS_METRIC_executed_load_b)                                                           \
    X(STORED, AS_METRIC_executed_store_b)                                                          \
    X(UNSURE, AS_METRIC_executed_unsure_n)                                                         \
    X(LEVEL_L2, AS_METRIC_bytes_l2_l1)                                                             \
    X(LEVEL_L3, AS_METRIC_bytes_l3_l2)                                                             \
    X(LEVEL_MEMORY, AS_METRIC_bytes_memory)

enum roof_fact {
#define ROOF_FACT_ENUM(name, metric) FACT_##name,
    ROOF_FACTS(ROOF_FACT_ENUM)
#undef ROOF_FACT_ENUM
        FACTS_N
};

struct counted_object {
    struct as_roof_point point;
    double fact[FACTS_N];
    double inclusive_ns, thread_max_ns; /* from its row in object_time */
    bool is_cut;                        /* threads ended inside it, so counts are incomplete */
    bool is_waiting;                    /* it waits actively for other ranks or threads */
    bool is_timed;
};

struct roofline_reading {
    struct as_roofline roofline; /* must be first: callers get a pointer to this member */
    struct as_arena arena;
    struct as_experiment *experiment;
    struct as_ceilings ceilings;
    AS_VEC(struct counted_object) object;
    double running_ns, wall_ns;
};

/* ---- Statements ---------------------------------------------------------------------------- */

/* External load by the rule of the flag busy_host, which not every verb sets. */
static const char run_sql[] =
    "SELECT r.command, h.name, r.wall_ns,"
    " (SELECT sum(exclusive_ns) FROM object_time WHERE run_id = ?1 AND object_kind = 'thread'),"
    " (SELECT w.others_ns + ifnull(r.host_steal_ns, 0)"
    "  >= 0.2 * r.wall_ns * ifnull(r.usable_milli_cpu_n / 1000.0, h.cpu_n)"
    "  FROM run_waiting w WHERE w.run_id = r.run_id),"
    " (SELECT sum(exclusive_n) FROM object_time WHERE run_id = ?1 AND object_kind = 'thread'),"
    " (SELECT value FROM v_values WHERE run_id = ?1 AND object_kind = 'run'"
    "  AND metric = 'huge_pages_pct')"
    " FROM run r LEFT JOIN host h USING (host_id) WHERE r.run_id = ?1";

static const char counted_run_sql[] = "SELECT max(run_id) FROM v_values WHERE ?1 = 0"
                                      " AND metric = '" AS_METRIC_executed_flop_n "'";

#define ROOF_FACT_WORD(name, metric) ", '" metric "'"
static const char roof_facts_sql[] =
    "SELECT object_kind = 'loop', object_id, metric, value FROM v_values"
    " WHERE object_kind IN ('loop', 'function') AND run_id = ?1 AND context_id = 0"
    " AND metric IN (''" ROOF_FACTS(ROOF_FACT_WORD) ") ORDER BY object_kind, object_id";
#undef ROOF_FACT_WORD

/* A loop includes the time of its inner loops, and a function that of its loops. */
static const char roof_times_sql[] =
    "WITH RECURSIVE up (loop_id, ns, n) AS ("
    " SELECT object_id, exclusive_ns, exclusive_n FROM object_time"
    "  WHERE run_id = ?1 AND object_kind = 'loop' AND exclusive_n > 0"
    " UNION ALL SELECT l.parent_id, up.ns, up.n FROM up JOIN loop l USING (loop_id)"
    "  WHERE l.parent_id IS NOT NULL)"
    "SELECT 1, loop_id, sum(ns), sum(n) FROM up GROUP BY loop_id"
    " UNION ALL SELECT 0, object_id, exclusive_ns, exclusive_n FROM object_time"
    "  WHERE run_id = ?1 AND object_kind = 'function' AND exclusive_n > 0";

static const char roof_threads_sql[] =
    "SELECT object_kind = 'loop', object_id, inclusive_ns, thread_max_ns FROM object_time"
    " WHERE run_id = ?1 AND object_kind IN ('loop', 'function')";

static const char roof_places_sql[] =
    "SELECT 1, l.loop_id, f.name, s.path, n.number, l.address, l.depth,"
    " ifnull(l.parent_id, 0), l.function_id FROM loop l"
    " JOIN function f USING (function_id) LEFT JOIN line n ON n.line_id = l.first_line_id"
    " LEFT JOIN source_file s USING (source_file_id) WHERE ?1"
    " UNION ALL SELECT 0, function_id, name, NULL, NULL, address, 0, 0, 0 FROM function";

static const char roof_flags_sql[] =
    "SELECT object_kind = 'loop', object_id FROM flag WHERE run_id = ?1 AND name = 'counts_cut'"
    " AND object_kind IN ('loop', 'function')";

static const char roof_curves_sql[] =
    "SELECT d.object_kind = 'loop', d.object_id, j.key, json_extract(j.value, '$[1]')"
    " FROM detail d, json_each(d.cells) j WHERE d.name = 'miss_curve' AND d.run_id = ?1"
    " AND d.object_kind IN ('loop', 'function')";

/* Barriers: their iterations depend on other threads, and do not belong to the program. */
static const char roof_waits_sql[] =
    "SELECT t.object_kind = 'loop', t.object_id FROM object_time t"
    " JOIN parallel_category USING (category_id) WHERE t.run_id = ?1"
    " AND t.object_kind IN ('loop', 'function')";

/* ---- Rows ---------------------------------------------------------------------------------- */

static int on_counted_run(void *context, struct as_rows *row, struct as_error *err)
{
    (void)err;
    ((struct roofline_reading *)context)->roofline.run_id = as_rows_integer(row, 0);
    return 0;
}

static int on_run(void *context, struct as_rows *row, struct as_error *err)
{
    struct roofline_reading *r = context;
    const char *command = as_rows_text(row, 0), *host = as_rows_text(row, 1);
    command = command ? command : "";
    r->roofline.title = as_arena_strndup(&r->arena, command, strlen(command));
    r->roofline.host = host ? as_arena_strndup(&r->arena, host, strlen(host)) : NULL;
    if (!r->roofline.title || (host && !r->roofline.host))
        return as_error_nomem(err, "a roofline");
    r->wall_ns = as_rows_real(row, 2);
    r->running_ns = as_rows_real(row, 3);
    r->roofline.is_busy = as_rows_integer(row, 4) > 0;
    r->roofline.huge_share = as_rows_real(row, 6) / 100;
    r->ceilings.has_pages = !isnan(r->roofline.huge_share);
    r->ceilings.huge_share = r->roofline.huge_share;
    const struct counted_object run = {.point = {.kind = AS_OBJECT_RUN,
                                                 .id = r->roofline.run_id,
                                                 .name = "whole program",
                                                 .share = 1,
                                                 .time_s = r->running_ns / 1e9,
                                                 .sample_n = as_rows_integer(row, 5)},
                                       .is_timed = true};
    return as_vec_push(&r->object, run) < 0 ? as_error_nomem(err, "a roofline") : 0;
}

/* Order: the run, functions, loops; each by id. */
static int by_roof_object(const void *a, const void *b)
{
    const struct as_roof_point *x = &((const struct counted_object *)a)->point,
                               *y = &((const struct counted_object *)b)->point;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static struct counted_object *object_of(struct roofline_reading *r, struct as_rows *row)
{
    const struct counted_object key = {
        .point = {.kind = as_rows_integer(row, 0) ? AS_OBJECT_LOOP : AS_OBJECT_FUNCTION,
                  .id = as_rows_integer(row, 1)}};
    return bsearch(&key, r->object.at, r->object.n, sizeof key, by_roof_object);
}

static int on_roof_fact(void *context, struct as_rows *row, struct as_error *err)
{
    static const char *const word[] = {
#define ROOF_FACT_WORD(name, metric) metric,
        ROOF_FACTS(ROOF_FACT_WORD)
#undef ROOF_FACT_WORD
    };
    struct roofline_reading *r = context;
    struct counted_object *last = &r->object.at[r->object.n - 1];
    const enum as_object_kind kind = as_rows_integer(row, 0) ? AS_OBJECT_LOOP : AS_OBJECT_FUNCTION;
    const char *metric = as_rows_text(row, 2);
    if (last->point.kind != kind || last->point.id != as_rows_integer(row, 1)) {
        struct counted_object next = {.point = {.kind = kind, .id = as_rows_integer(row, 1)}};
        for (int i = 0; i < FACTS_N; i++)
            next.fact[i] = (double)NAN;
        for (int i = 0; i < AS_ROOF_CURVE; i++)
            next.point.curve_b[i] = (double)NAN;
        if (as_vec_push(&r->object, next) < 0)
            return as_error_nomem(err, "a roofline");
        last = &r->object.at[r->object.n - 1];
    }
    for (int i = 0; i < FACTS_N; i++)
        if (strcmp(word[i], metric) == 0)
            last->fact[i] = as_rows_real(row, 3);
    return 0;
}

static int on_roof_time(void *context, struct as_rows *row, struct as_error *err)
{
    struct counted_object *object = object_of(context, row);
    (void)err;
    if (object) {
        object->point.time_s = as_rows_real(row, 2) / 1e9;
        object->point.sample_n = as_rows_integer(row, 3);
        object->is_timed = true;
    }
    return 0;
}

static int on_roof_threads(void *context, struct as_rows *row, struct as_error *err)
{
    struct counted_object *object = object_of(context, row);
    (void)err;
    if (object) {
        object->inclusive_ns = as_rows_real(row, 2);
        object->thread_max_ns = as_rows_real(row, 3);
    }
    return 0;
}

static int on_roof_place(void *context, struct as_rows *row, struct as_error *err)
{
    struct roofline_reading *r = context;
    struct counted_object *object = object_of(r, row);
    const char *path = as_rows_text(row, 3);
    struct as_str name = {0};
    if (!object)
        return 0;
    object->point.address = (uint64_t)as_rows_integer(row, 5);
    object->point.depth = (uint32_t)as_rows_integer(row, 6);
    object->point.parent_id = as_rows_integer(row, 7);
    object->point.function_id = as_rows_integer(row, 8);
    const char *function = as_rows_text(row, 2);
    as_str_appendz(&name, function ? function : "?");
    if (path)
        as_str_appendf(&name, " %s:%lld", as_path_last(path), (long long)as_rows_integer(row, 4));
    else if (object->point.kind == AS_OBJECT_LOOP) {
        as_str_appendf(&name, " 0x%llx", (unsigned long long)object->point.address);
        r->roofline.is_stripped = true;
    }
    object->point.name = as_arena_strndup(&r->arena, as_str_z(&name), name.n);
    const bool failed = name.failed || !object->point.name;
    as_str_fini(&name);
    return failed ? as_error_nomem(err, "a roofline") : 0;
}

static int on_roof_curve(void *context, struct as_rows *row, struct as_error *err)
{
    struct counted_object *object = object_of(context, row);
    const int64_t at = as_rows_integer(row, 2);
    (void)err;
    if (object && at >= 0 && at < AS_ROOF_CURVE)
        object->point.curve_b[at] = as_rows_real(row, 3);
    return 0;
}

static int on_roof_flag(void *context, struct as_rows *row, struct as_error *err)
{
    struct counted_object *object = object_of(context, row);
    (void)err;
    if (object)
        object->is_cut = true;
    return 0;
}

static int on_roof_wait(void *context, struct as_rows *row, struct as_error *err)
{
    struct counted_object *object = object_of(context, row);
    (void)err;
    if (object)
        object->is_waiting = true;
    return 0;
}

/* ---- Points -------------------------------------------------------------------------------- */

static double known(double value)
{
    return isnan(value) ? 0 : value;
}

static void set_counts(struct as_roof_point *point, const double *fact)
{
    const double f32 = known(fact[FACT_FLOPS_F32]), f64 = known(fact[FACT_FLOPS_F64]);
    point->flops = known(fact[FACT_FLOPS]);
    point->load_b = known(fact[FACT_LOADED]);
    point->store_b = known(fact[FACT_STORED]);
    point->int_ops = known(fact[FACT_INT_OPS]);
    point->single_share = f32 + f64 > 0 ? f32 / (f32 + f64) : 0;
    point->packed_share = point->flops > 0 ? known(fact[FACT_FLOPS_PACKED]) / point->flops : 0;
    point->vector = point->flops <= 0            ? AS_ROOF_NO_FLOPS
                    : point->packed_share < 0.05 ? AS_ROOF_SCALAR
                    : point->packed_share < 0.95 ? AS_ROOF_PART
                                                 : AS_ROOF_FULL;
    point->level_b[AS_ROOF_L1] = point->load_b + point->store_b;
    point->level_b[AS_ROOF_L2] = fact[FACT_LEVEL_L2];
    point->level_b[AS_ROOF_L3] = fact[FACT_LEVEL_L3];
    point->level_b[AS_ROOF_MEMORY] = fact[FACT_LEVEL_MEMORY];
    point->intensity =
        point->level_b[AS_ROOF_L1] > 0 ? point->flops / point->level_b[AS_ROOF_L1] : (double)NAN;
}

/* Returns the number of threads that were in the object at once, if all began together. It is
 * the total time over that of the longest thread. */
static double cores_of(const struct roofline_reading *r, const struct counted_object *object)
{
    const double max = r->roofline.core_n ? r->roofline.core_n : 1;
    double n = object->thread_max_ns > 0 ? object->inclusive_ns / object->thread_max_ns : 1;
    if (object->point.kind == AS_OBJECT_RUN)
        n = r->wall_ns > 0 ? r->running_ns / r->wall_ns : 1;
    n = n < 1 ? 1 : n;
    return n > max ? max : n;
}

/* Sets the rates and their 95 % interval by a Poisson count of samples. */
static void set_rates(struct as_roof_point *point)
{
    const double wall_s = point->time_s / point->core_n;
    const double part = point->sample_n > 0 ? 1.96 / sqrt((double)point->sample_n) : INFINITY;
    point->flop_s = wall_s > 0 ? point->flops / wall_s : (double)NAN;
    point->byte_s = wall_s > 0 ? point->level_b[AS_ROOF_L1] / wall_s : (double)NAN;
    point->flop_s_low = point->flop_s / (1 + part);
    point->flop_s_high = part < 1 ? point->flop_s / (1 - part) : INFINITY;
}

static void finish_point(struct roofline_reading *r, struct counted_object *object)
{
    struct as_roof_point *point = &object->point;
    set_counts(point, object->fact);
    point->core_n = cores_of(r, object);
    point->share = r->running_ns > 0 ? point->time_s * 1e9 / r->running_ns : 0;
    set_rates(point);
    point->marks |= (r->roofline.is_busy ? AS_ROOF_BUSY : 0) |
                    (point->sample_n < FEW_SAMPLES ? AS_ROOF_FEW : 0) |
                    (known(object->fact[FACT_UNSURE]) > 0 ? AS_ROOF_MOST : 0) |
                    (object->is_cut ? AS_ROOF_LEAST : 0);
    as_ceilings_judge(&r->ceilings, point);
    for (unsigned level = AS_ROOF_L2; level < AS_ROOF_LEVELS; level++)
        r->roofline.has_levels |= !isnan(point->level_b[level]);
}

/* Marks loops of waiting functions as waiting. */
static void spread_waits(struct roofline_reading *r)
{
    as_vec_foreach (&r->object, object) {
        const struct counted_object key = {
            .point = {.kind = AS_OBJECT_FUNCTION, .id = object->point.function_id}};
        const struct counted_object *function =
            bsearch(&key, r->object.at, r->object.n, sizeof key, by_roof_object);
        object->is_waiting |=
            object->point.kind == AS_OBJECT_LOOP && function && function->is_waiting;
    }
}

/* Adds up the counts of functions for the run. A level stays unknown if a function lacks it. */
static void add_up(struct roofline_reading *r)
{
    struct counted_object *run = &r->object.at[0];
    assert(r->object.n > 0 && run->point.kind == AS_OBJECT_RUN);
    memset(run->fact, 0, sizeof run->fact);
    for (size_t i = 1; i < r->object.n; i++) {
        const struct counted_object *it = &r->object.at[i];
        if (it->point.kind != AS_OBJECT_FUNCTION)
            continue;
        const double share = r->running_ns > 0 ? it->point.time_s * 1e9 / r->running_ns : 0;
        r->roofline.counted_share += share;
        r->roofline.waiting_share += it->is_waiting ? share : 0;
        for (int k = 0; k < FACTS_N && !it->is_waiting; k++)
            run->fact[k] += it->fact[k];
        run->is_cut |= it->is_cut && !it->is_waiting;
    }
    run->is_cut |= r->roofline.counted_share < 0.95;
}

static int by_kind_and_time(const void *a, const void *b)
{
    const struct as_roof_point *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->time_s < y->time_s || x->time_s > y->time_s)
        return x->time_s < y->time_s ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static int hand_over_points(struct roofline_reading *r, struct as_error *err)
{
    struct as_roofline *out = &r->roofline;
    out->point = as_arena_array(&r->arena, struct as_roof_point, r->object.n);
    if (!out->point)
        return as_error_nomem(err, "a roofline");
    as_vec_foreach (&r->object, object) {
        if (object->is_waiting)
            continue;
        if (object->point.kind != AS_OBJECT_RUN && !(known(object->fact[FACT_INSTRUCTIONS]) > 0)) {
            out->idle_n += object->point.kind == AS_OBJECT_LOOP;
            continue;
        }
        finish_point(r, object);
        out->point[out->point_n++] = object->point;
    }
    qsort(out->point, out->point_n, sizeof *out->point, by_kind_and_time);
    out->one_n = as_ceilings_roofs(&r->ceilings, 1, out->one);
    if (out->core_n > 1)
        out->all_n = as_ceilings_roofs(&r->ceilings, out->core_n, out->all);
    return 0;
}

static int refuse_uncounted(const struct roofline_reading *r, struct as_error *err)
{
    return as_error_set(err, AS_ERR_NOT_FOUND,
                        "%s: no run that was asked for has counts of flops and bytes; use 'assay "
                        "roofline -- COMMAND'",
                        as_experiment_shown_path(r->experiment));
}

static int read_points(struct roofline_reading *r, const struct as_figures *figures,
                       struct as_error *err)
{
    if (r->roofline.run_id == 0)
        AS_TRY(as_rows_each(r->experiment, counted_run_sql, 0, on_counted_run, r, err));
    const int64_t run_id = r->roofline.run_id;
    AS_TRY(as_rows_each(r->experiment, run_sql, run_id, on_run, r, err));
    if (r->object.n == 0)
        return refuse_uncounted(r, err);
    if (figures)
        as_ceilings_of_figures(figures, &r->ceilings);
    else
        AS_TRY(as_ceilings_of_run(r->experiment, run_id, &r->ceilings, err));
    r->roofline.core_n = r->ceilings.core_n;
    AS_TRY(as_rows_each(r->experiment, roof_facts_sql, run_id, on_roof_fact, r, err));
    if (r->object.n == 1)
        return refuse_uncounted(r, err);
    qsort(r->object.at, r->object.n, sizeof *r->object.at, by_roof_object);
    return 0;
}

static int read_roofline(struct roofline_reading *r, const struct as_figures *figures,
                         struct as_error *err)
{
    AS_TRY(read_points(r, figures, err));
    const int64_t run_id = r->roofline.run_id;
    AS_TRY(as_rows_each(r->experiment, roof_times_sql, run_id, on_roof_time, r, err));
    AS_TRY(as_rows_each(r->experiment, roof_threads_sql, run_id, on_roof_threads, r, err));
    AS_TRY(as_rows_each(r->experiment, roof_places_sql, 1, on_roof_place, r, err));
    AS_TRY(as_rows_each(r->experiment, roof_curves_sql, run_id, on_roof_curve, r, err));
    AS_TRY(as_rows_each(r->experiment, roof_flags_sql, run_id, on_roof_flag, r, err));
    AS_TRY(as_rows_each(r->experiment, roof_waits_sql, run_id, on_roof_wait, r, err));
    spread_waits(r);
    add_up(r);
    return hand_over_points(r, err);
}

int as_roofline_read(struct as_experiment *experiment, int64_t run_id,
                     const struct as_figures *figures, struct as_roofline **out,
                     struct as_error *err)
{
    struct roofline_reading *r = as_calloc(1, sizeof *r);
    *out = NULL;
    if (!r)
        return as_error_nomem(err, "a roofline");
    as_arena_init(&r->arena);
    r->experiment = experiment;
    r->roofline.run_id = run_id;
    const int rc = read_roofline(r, figures, err);
    as_vec_fini(&r->object);
    *out = &r->roofline;
    if (rc < 0)
        as_roofline_free(out);
    return rc;
}

void as_roofline_free(struct as_roofline **roofline)
{
    struct roofline_reading *r = (struct roofline_reading *)*roofline;
    if (!r)
        return;
    as_arena_fini(&r->arena);
    as_free(r);
    *roofline = NULL;
}

bool as_roofline_repeats(const struct as_roofline *roofline, const struct as_roof_point *point)
{
    for (size_t i = 0; i < roofline->point_n; i++) {
        const struct as_roof_point *inner = &roofline->point[i];
        if (inner->kind != AS_OBJECT_LOOP)
            continue;
        if (point->kind == AS_OBJECT_FUNCTION ? inner->function_id == point->id
            : point->kind == AS_OBJECT_LOOP   ? inner->parent_id && inner->parent_id == point->id &&
                                                  inner->time_s >= 0.9 * point->time_s
                                            : false)
            return true;
    }
    return false;
}
