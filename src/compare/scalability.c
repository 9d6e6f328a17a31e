/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes speed-up and efficiency of a program and its parts over threads and processes. Runs with
 * the same setting are repetitions of one point. One point is the reference of the others.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "compare/measure.h"
#include "compare/variant.h"

struct point {
    struct as_repeats good;
    unsigned failed_n;
    struct as_run first; /* first run of the point */
    int64_t variant;     /* number of its other settings, in order of first use */
    size_t base;         /* index of its reference point */
};

struct scaling {
    struct as_scalability result; /* first member: the caller has a pointer to it */
    struct as_arena arena;
};

struct scale_work {
    struct as_set set;
    struct as_notes notes;
    struct scaling *scaling;
    struct as_arena *arena; /* owns the result */
    struct point *point;
    size_t point_n;
    double *x; /* work space: one value for each run */
};

/* ---- Marks --------------------------------------------------------------------------------- */

static int mark_run(struct as_experiment *experiment, int64_t run_id,
                    const struct as_metric *metric, int64_t value, struct as_error *err)
{
    const struct as_subject run = {.kind = AS_OBJECT_RUN, .object_id = run_id, .run_id = run_id};
    int64_t id;
    AS_TRY(as_experiment_metric(experiment, metric, &id, err));
    return as_experiment_value(experiment, id, &run, as_value_exact((double)value, 1), err);
}

int as_compare_mark(struct as_experiment *experiment, int64_t run_id,
                    const struct as_scale_setting *setting, struct as_error *err)
{
    const struct {
        const char *name, *meaning;
        int64_t value;
    } at[] = {
        {"scale_nodes", "Nodes that the run was set to use", setting->nodes},
        {"scale_processes", "Processes that the run was set to use", setting->processes},
        {"scale_threads", "Threads of each process that the run was set to use", setting->threads},
        {"scale_weak", "1: the problem grows with the processes and threads", setting->weak},
        {"scale_reference", "1: the other runs are compared with this one", setting->is_reference},
    };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        const bool is_told = at[i].value != 0 || i >= 3; /* false flags are left out */
        const struct as_metric metric = {
            .name = at[i].name, .unit = "1", .meaning = at[i].meaning, .formula = "given"};
        if (is_told)
            AS_TRY(mark_run(experiment, run_id, &metric, at[i].value, err));
    }
    return 0;
}

/* ---- Points -------------------------------------------------------------------------------- */

static bool is_scaled(const struct as_run *run, void *unused)
{
    (void)unused;
    return strcmp(run->kind, "scale") == 0 && run->scale.processes > 0;
}

static int64_t units(const struct as_run *run)
{
    return run->scale.processes * (run->scale.threads ? run->scale.threads : 1);
}

static bool same_setting(const struct as_run *a, const struct as_run *b)
{
    return a->scale.nodes == b->scale.nodes && a->scale.processes == b->scale.processes &&
           a->scale.threads == b->scale.threads && as_variant_same(a, b);
}

static int by_units(const void *a, const void *b)
{
    const struct as_run *x = &((const struct point *)a)->first;
    const struct as_run *y = &((const struct point *)b)->first;
    const int64_t key[][2] = {
        {((const struct point *)a)->variant, ((const struct point *)b)->variant},
        {units(x), units(y)},
        {x->scale.processes, y->scale.processes},
        {x->scale.nodes, y->scale.nodes},
        {x->id, y->id}};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        if (key[i][0] != key[i][1])
            return key[i][0] < key[i][1] ? -1 : 1;
    return 0;
}

static void add_point(struct scale_work *w, const struct as_run *run)
{
    struct point *it = &w->point[w->point_n];
    it->first = *run;
    for (size_t i = 0; i < w->point_n; i++) {
        if (as_variant_same(&w->point[i].first, run)) {
            it->variant = w->point[i].variant;
            break;
        }
        it->variant = w->point[i].variant >= it->variant ? w->point[i].variant + 1 : it->variant;
    }
    w->point_n++;
}

static int add_to_point(struct scale_work *w, uint32_t run)
{
    const struct as_run *it = &w->set.run.at[run];
    size_t p = 0;
    while (p < w->point_n && !same_setting(&w->point[p].first, it))
        p++;
    if (p == w->point_n)
        add_point(w, it);
    struct point *point = &w->point[p];
    if (!it->is_over || it->is_failed) {
        point->failed_n++;
        return 0;
    }
    if (!point->good.run)
        point->good.run = as_arena_array(&w->set.arena, uint32_t, w->set.run.n);
    if (!point->good.run)
        return AS_ERR_NOMEM;
    ((uint32_t *)(uintptr_t)point->good.run)[point->good.n++] = run;
    return 0;
}

static int find_points(struct scale_work *w, struct as_error *err)
{
    w->point = as_arena_array(&w->set.arena, struct point, w->set.run.n);
    w->x = as_arena_array(&w->set.arena, double, w->set.run.n);
    if (!w->point || !w->x)
        return as_error_nomem(err, "the runs that are compared");
    for (size_t i = 0; i < w->set.run.n; i++)
        if (add_to_point(w, (uint32_t)i) < 0)
            return as_error_nomem(err, "the runs that are compared");
    qsort(w->point, w->point_n, sizeof *w->point, by_units);
    return 0;
}

/* Returns the requested point, the marked point, or the smallest point with a known time. */
static int find_reference(struct scale_work *w, const struct as_scale_setting *wanted,
                          struct as_error *err)
{
    size_t found = w->point_n;
    for (size_t i = w->point_n; i-- > 0;) {
        const struct as_run *it = &w->point[i].first;
        if (wanted
                ? it->scale.processes == wanted->processes && it->scale.threads == wanted->threads
                : it->scale.is_reference)
            found = i;
    }
    if (wanted && found == w->point_n)
        return as_error_set(err, AS_ERR_USAGE,
                            "--reference: no run has %lld processes and %lld threads; use a "
                            "combination that ran",
                            (long long)wanted->processes, (long long)wanted->threads);
    if (found < w->point_n && !w->point[found].good.n) {
        as_note(&w->notes, w->arena,
                "The reference, %s, failed; the smallest successful point replaces it.",
                w->point[found].first.label ? w->point[found].first.label : "?");
        found = w->point_n;
    }
    for (size_t i = 0; found == w->point_n && i < w->point_n; i++)
        if (w->point[i].good.n)
            found = i;
    w->scaling->result.reference = found < w->point_n ? found : 0;
    return 0;
}

/*
 * Returns the point with the size of the reference among points with the same other settings. If
 * there is none, returns the smallest of them with a known time.
 */
static void find_bases(struct scale_work *w)
{
    struct as_scalability *result = &w->scaling->result;
    const struct as_run *reference = &w->point[result->reference].first;
    result->is_flat = w->point_n > 0;
    for (size_t i = 0; i < w->point_n; i++) {
        size_t base = i;
        for (size_t k = w->point_n; k-- > 0;) {
            const struct as_run *it = &w->point[k].first;
            const bool is_like = it->scale.processes == reference->scale.processes &&
                                 it->scale.threads == reference->scale.threads &&
                                 it->scale.nodes == reference->scale.nodes;
            if (w->point[k].variant != w->point[i].variant || !w->point[k].good.n)
                continue;
            base = k;
            if (is_like)
                break;
        }
        w->point[i].base = base;
        result->is_flat &= i == 0 || w->point[i].variant != w->point[i - 1].variant;
    }
    result->is_flat &= w->point_n > 1;
}

/* ---- Ratios -------------------------------------------------------------------------------- */

/*
 * Returns the speed-up over the reference, which is exact on the reference itself. It is unknown if
 * the time there is zero.
 */
static struct as_bounded_value speedup(struct as_bounded_value reference,
                                       struct as_bounded_value it, bool is_reference)
{
    if (!(reference.value > 0))
        return (struct as_bounded_value){0};
    if (is_reference)
        return as_value_derived(1, 1, 1, it.n);
    return as_ratio(reference, it);
}

static double units_ratio(const struct scale_work *w, size_t point)
{
    return (double)units(&w->point[w->point[point].base].first) /
           (double)units(&w->point[point].first);
}

static void describe_point(struct scale_work *w, size_t i, struct as_scale_point *out)
{
    const struct point *it = &w->point[i];
    const struct as_run *run = &it->first;
    const int64_t cpus = run->cpu_n * (run->scale.nodes > 0 ? run->scale.nodes : 1);
    *out = (struct as_scale_point){.run_id = run->id,
                                   .label = as_set_text(w->arena, run->label ? run->label : ""),
                                   .nodes = run->scale.nodes,
                                   .processes = run->scale.processes,
                                   .threads = run->scale.threads,
                                   .units = units(run),
                                   .repeat_n = (unsigned)it->good.n,
                                   .failed_n = it->failed_n,
                                   .base = it->base,
                                   .oversubscribed = cpus > 0 && units(run) > cpus};
    if (w->scaling->result.varied_n)
        out->setting = as_variant_values(run, w->arena, w->scaling->result.varied,
                                         w->scaling->result.varied_n);
    out->wall_s = as_repeats_wall_quantity(&w->set, &it->good, w->x);
}

static int make_points(struct scale_work *w, struct as_error *err)
{
    struct as_scalability *result = &w->scaling->result;
    struct as_scale_point *point = as_arena_array(w->arena, struct as_scale_point, w->point_n);
    if (!point)
        return as_error_nomem(err, "the points of a scaling");
    for (size_t i = 0; i < w->point_n; i++) {
        describe_point(w, i, &point[i]);
        if (!point[i].label || (result->varied_n && !point[i].setting))
            return as_error_nomem(err, "the points of a scaling");
    }
    for (size_t i = 0; i < w->point_n; i++) {
        const struct as_bounded_value faster =
            speedup(point[result->reference].wall_s, point[i].wall_s, i == result->reference);
        const size_t base = w->point[i].base;
        const struct as_bounded_value alike =
            speedup(point[base].wall_s, point[i].wall_s, i == base);
        point[i].speedup = result->weak ? (struct as_bounded_value){0} : faster;
        point[i].efficiency = result->weak ? alike : as_times(alike, units_ratio(w, i));
    }
    result->point = point;
    result->point_n = w->point_n;
    return 0;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

struct row_lists {
    struct as_bounded_value *time_s, *thread_s, *speedup, *efficiency, *cpu_efficiency;
};

static void fill_lists(struct scale_work *w, const struct as_compared_object *object,
                       const struct row_lists *to)
{
    const size_t reference = w->scaling->result.reference;
    const bool weak = w->scaling->result.weak;
    for (size_t i = 0; i < w->point_n; i++) {
        const struct as_repeats *good = &w->point[i].good;
        to->time_s[i] = as_repeats_quantity(&w->set, object, good, AS_COST_TIME, w->x);
        to->thread_s[i] = as_repeats_quantity(&w->set, object, good, AS_COST_THREAD, w->x);
    }
    for (size_t i = 0; i < w->point_n; i++) {
        const size_t base = w->point[i].base;
        const double ratio = units_ratio(w, i);
        const struct as_bounded_value faster =
            speedup(to->thread_s[reference], to->thread_s[i], i == reference);
        const struct as_bounded_value alike =
            speedup(to->thread_s[base], to->thread_s[i], i == base);
        const struct as_bounded_value less = speedup(to->time_s[base], to->time_s[i], i == base);
        to->speedup[i] = weak ? (struct as_bounded_value){0} : faster;
        to->efficiency[i] = weak ? alike : as_times(alike, ratio);
        to->cpu_efficiency[i] = weak ? as_times(less, 1 / ratio) : less;
    }
}

static int make_row(struct scale_work *w, const struct as_compared_object *object,
                    struct as_scale_row *out, struct as_error *err)
{
    struct as_bounded_value *all =
        as_arena_array(w->arena, struct as_bounded_value, 5 * w->point_n);
    if (!all)
        return as_error_nomem(err, "a row of a scaling");
    const size_t n = w->point_n;
    const struct row_lists lists = {all, all + n, all + 2 * n, all + 3 * n, all + 4 * n};
    fill_lists(w, object, &lists);
    *out = (struct as_scale_row){.time_s = lists.time_s,
                                 .thread_s = lists.thread_s,
                                 .speedup = lists.speedup,
                                 .efficiency = lists.efficiency,
                                 .cpu_efficiency = lists.cpu_efficiency};
    return as_compared_of(w->arena, object, &out->object, err);
}

static int kind_order(enum as_object_kind kind)
{
    return kind == AS_OBJECT_CATEGORY ? 0 : kind == AS_OBJECT_FUNCTION ? 1 : 2;
}

static double most_of_row(const struct as_scale_row *row, size_t n)
{
    double time_s = 0;
    for (size_t i = 0; i < n; i++)
        time_s = fmax(time_s, row->time_s[i].origin ? row->time_s[i].value : 0);
    return time_s;
}

static int by_time(const void *a, const void *b, void *context)
{
    const struct as_scale_row *x = a, *y = b;
    const size_t n = *(const size_t *)context;
    const double tx = most_of_row(x, n), ty = most_of_row(y, n);
    if (x->object.kind != y->object.kind)
        return kind_order(x->object.kind) - kind_order(y->object.kind);
    return tx != ty ? (tx < ty) - (tx > ty)
                    : (x->object.id > y->object.id) - (x->object.id < y->object.id);
}

static int make_rows(struct scale_work *w, struct as_error *err)
{
    struct as_scalability *result = &w->scaling->result;
    struct as_scale_row *row = as_arena_array(w->arena, struct as_scale_row, w->set.object.n + 1);
    if (!row)
        return as_error_nomem(err, "the rows of a scaling");
    as_vec_foreach (&w->set.object, it)
        if (as_object_share(&w->set, it) >= AS_COMPARE_LEAST_SHARE)
            AS_TRY(make_row(w, it, &row[result->row_n++], err));
    qsort_r(row, result->row_n, sizeof *row, by_time, &w->point_n);
    result->row = row;
    return 0;
}

/* ---- Notes --------------------------------------------------------------------------------- */

static void note_points(struct scale_work *w)
{
    const struct as_scalability *result = &w->scaling->result;
    unsigned failed = 0, single = 0, crowded = 0;
    for (size_t i = 0; i < result->point_n; i++) {
        failed += result->point[i].failed_n;
        single += result->point[i].repeat_n == 1;
        crowded += result->point[i].oversubscribed;
    }
    if (failed)
        as_note(&w->notes, w->arena, "%u run%s failed and %s left out.", failed,
                failed == 1 ? "" : "s", failed == 1 ? "is" : "are");
    if (crowded)
        as_note(&w->notes, w->arena,
                "%u point%s used more threads than the machine has CPUs (marked *): efficiency "
                "must fall there.",
                crowded, crowded == 1 ? "" : "s");
    if (single)
        as_note(&w->notes, w->arena,
                "%u point%s ran only once: the variation of the wall time is unknown; use "
                "--repeats 3 or more.",
                single, single == 1 ? "" : "s");
}

static void note_hosts(struct scale_work *w)
{
    for (size_t i = 1; i < w->set.run.n; i++) {
        const char *a = w->set.run.at[0].host, *b = w->set.run.at[i].host;
        if (a && b && strcmp(a, b) != 0) {
            as_note(&w->notes, w->arena, "The runs are from different hosts (%s, %s).", a, b);
            return;
        }
    }
}

/* ---- The whole ----------------------------------------------------------------------------- */

static const char method[] =
    "Points with several runs have means with Student's t interval. For a single run, times of "
    "functions and loops have Wilson's interval of their samples, and the wall time has none. "
    "Ratios use the method of variance estimates recovery on logarithms.";

static int fill_scaling(struct scale_work *w, struct as_experiment *experiment,
                        const struct as_scale_setting *reference, struct as_error *err)
{
    AS_TRY(find_points(w, err));
    w->scaling->result.weak = w->set.run.at[0].scale.weak;
    w->scaling->result.method = method;
    AS_TRY(find_reference(w, reference, err));
    find_bases(w);
    if (as_variant_names(&w->set, w->arena, &w->scaling->result.varied,
                         &w->scaling->result.varied_n) < 0)
        return as_error_nomem(err, "the settings of a scaling");
    AS_TRY(as_set_objects(&w->set, experiment, err));
    AS_TRY(make_points(w, err));
    AS_TRY(make_rows(w, err));
    note_points(w);
    note_hosts(w);
    return as_notes_take(&w->notes, w->arena, &w->scaling->result.note, &w->scaling->result.note_n,
                         err);
}

int as_compare_scalability(struct as_experiment *experiment,
                           const struct as_scale_setting *reference, struct as_scalability **out,
                           struct as_error *err)
{
    struct scale_work w = {0};
    *out = NULL;
    as_set_init(&w.set);
    int rc = as_set_runs(&w.set, experiment, err);
    if (rc == 0)
        as_set_choose(&w.set, is_scaled, NULL);
    if (rc == 0 && w.set.run.n) {
        w.scaling = as_calloc(1, sizeof *w.scaling);
        rc = w.scaling ? 0 : as_error_nomem(err, "a scaling");
    }
    if (rc == 0 && w.scaling) {
        as_arena_init(&w.scaling->arena);
        w.arena = &w.scaling->arena;
        *out = &w.scaling->result;
        rc = fill_scaling(&w, experiment, reference, err);
        if (rc < 0)
            as_scalability_free(out);
    }
    as_vec_fini(&w.notes.text);
    as_set_fini(&w.set);
    return rc;
}

void as_scalability_free(struct as_scalability **scalability)
{
    struct scaling *it = (struct scaling *)(void *)*scalability;
    if (it)
        as_arena_fini(&it->arena);
    as_free(it);
    *scalability = NULL;
}
