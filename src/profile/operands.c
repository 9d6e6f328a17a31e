/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operands of sampled instructions tell of loops: how much memory a loop ranges over at
 * least, and how fast it moves there. The recording has it by instruction (sample/operands.c); of
 * the instructions of a loop the one that proves most counts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/attribute.h"

struct reach_of_loop {
    int64_t loop_id, n;
    double reach_b, pace_b_s;
};

static const struct assay_metric reach_metric = {
    .name = "operand_reach_b",
    .unit = "b",
    .title = "Memory touched, at least",
    .meaning =
        "What the sampled addresses of a memory operand of the loop range over at least. What "
        "is met again and again is left out.",
    .formula = "64 KiB * pairs of addresses / (most pairs in one 64 KiB that chance explains); at "
               "most from the lowest address to the highest",
    .topic = "memory",
    .better = ASSAY_BETTER_NEITHER,
    .position = 60};
static const struct assay_metric pace_metric = {
    .name = "operand_pace_b_s",
    .unit = "b/s",
    .title = "Pace through memory",
    .meaning =
        "How far the address of a memory operand of the loop moves between two samples, over "
        "the time between them.",
    .formula = "median over pairs of samples of one thread, up to three of its samples apart",
    .topic = "memory",
    .better = ASSAY_BETTER_NEITHER,
    .position = 61};

/* ---- Reading -------------------------------------------------------------------------------- */

int as_operand_read(const char *text, struct as_tally_operand *out)
{
    unsigned long long address, n;
    char end;

    *out = (struct as_tally_operand){0};
    if (sscanf(text, "%u %llu %llu %lf %lf %lf%c", &out->module, &address, &n, &out->reach_b,
               &out->far, &out->pace_b_s, &end) != 6)
        return -1;
    out->address = address;
    out->n = n;
    return out->reach_b >= 0 && out->reach_b < 0x1p62 && out->far >= 0 && out->far <= 1 &&
                   out->pace_b_s >= 0 && out->pace_b_s < 0x1p62 && n < UINT64_C(1) << 48
               ? 0
               : -1;
}

/* ---- Loops ---------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    const struct as_tally_operand *x = a, *y = b;

    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

static int compare_loops(const void *a, const void *b)
{
    const struct reach_of_loop *x = a, *y = b;

    return (x->loop_id > y->loop_id) - (x->loop_id < y->loop_id);
}

/* The location of each operand, by the nodes of its place: any of them knows it. */
static void find_locations(struct as_attribution *all)
{
    struct as_tally *t = &all->tally;

    qsort(t->operand.at, t->operand.n, sizeof *t->operand.at, compare_places);
    for (size_t i = 1; i < t->node.n; i++) {
        const struct as_tally_operand key = {.module = t->node.at[i].module,
                                             .address = t->node.at[i].address};
        struct as_tally_operand *found =
            bsearch(&key, t->operand.at, t->operand.n, sizeof key, compare_places);

        if (found)
            found->location_id = all->node[i].location_id;
    }
    /* Of several processes with one place, one was found. */
    for (size_t i = 1; i < t->operand.n; i++)
        if (compare_places(&t->operand.at[i - 1], &t->operand.at[i]) == 0 &&
            !t->operand.at[i].location_id)
            t->operand.at[i].location_id = t->operand.at[i - 1].location_id;
    for (size_t i = t->operand.n; i-- > 1;)
        if (compare_places(&t->operand.at[i - 1], &t->operand.at[i]) == 0 &&
            !t->operand.at[i - 1].location_id)
            t->operand.at[i - 1].location_id = t->operand.at[i].location_id;
}

static int loop_of(struct as_attribution *all, int64_t location_id, int64_t *loop_id,
                   struct assay_error *err)
{
    struct assay_rows *rows;
    int rc;

    *loop_id = 0;
    AS_TRY(assay_rows_open(all->experiment, "SELECT loop_id FROM location WHERE location_id = ?1",
                           &rows, err));
    assay_rows_bind_integer(rows, 1, location_id);
    rc = assay_rows_next(rows, err);
    if (rc > 0)
        *loop_id = assay_rows_integer(rows, 0);
    assay_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int store_loop(struct as_attribution *all, const int64_t metric[2],
                      const struct reach_of_loop *it, struct assay_error *err)
{
    const struct assay_subject loop = {
        .kind = ASSAY_OBJECT_LOOP, .object_id = it->loop_id, .run_id = all->run_id};

    if (it->reach_b > 0)
        AS_TRY(assay_experiment_value(all->experiment, metric[0], &loop,
                                      assay_derived(it->reach_b, it->reach_b, INFINITY, it->n),
                                      err));
    if (it->pace_b_s > 0)
        AS_TRY(assay_experiment_value(all->experiment, metric[1], &loop,
                                      assay_derived(it->pace_b_s, 0, INFINITY, it->n), err));
    return 0;
}

/* Half of the addresses and more must be far apart: else the loop touches such memory now and then.
 */
static void take_operand(struct reach_of_loop *it, const struct as_tally_operand *operand)
{
    it->n += (int64_t)operand->n;
    it->reach_b = operand->far >= 0.5 ? fmax(it->reach_b, operand->reach_b) : it->reach_b;
    it->pace_b_s = fmax(it->pace_b_s, operand->pace_b_s);
}

static int store_loops(struct as_attribution *all, struct reach_of_loop *loop, size_t n,
                       struct assay_error *err)
{
    int64_t metric[2];
    size_t last = 0;

    AS_TRY(assay_experiment_metric(all->experiment, &reach_metric, &metric[0], err));
    AS_TRY(assay_experiment_metric(all->experiment, &pace_metric, &metric[1], err));
    qsort(loop, n, sizeof *loop, compare_loops);
    for (size_t i = 1; i < n; i++) {
        if (loop[i].loop_id != loop[last].loop_id) {
            AS_TRY(store_loop(all, metric, &loop[last], err));
            last = i;
            continue;
        }
        loop[last].n += loop[i].n;
        loop[last].reach_b = fmax(loop[last].reach_b, loop[i].reach_b);
        loop[last].pace_b_s = fmax(loop[last].pace_b_s, loop[i].pace_b_s);
    }
    return store_loop(all, metric, &loop[last], err);
}

int as_attribute_operands(struct as_attribution *all, struct assay_error *err)
{
    AS_VEC(struct reach_of_loop) loop = {0};
    int rc = 0;

    find_locations(all);
    as_vec_foreach (&all->tally.operand, operand) {
        struct reach_of_loop it = {0};

        if (operand->location_id)
            rc = loop_of(all, operand->location_id, &it.loop_id, err);
        take_operand(&it, operand);
        if (rc == 0 && it.loop_id && as_vec_push(&loop, it) < 0)
            rc = as_error_nomem(err, "the operands of a run");
        if (rc < 0)
            break;
    }
    if (rc == 0 && loop.n)
        rc = store_loops(all, loop.at, loop.n, err);
    as_vec_fini(&loop);
    return rc;
}
