/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that all walks of a loop range over, and the bytes that they pass in a second.
 * Addresses of one thread in samples that follow each other give the iterations of a second: the
 * bytes between them, over the stride and the time. A sweep that begins anew between two samples
 * gives fewer: the rate is a bound from below.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/search.h"
#include "profile/accesses.h"
#include "sample/operands.h"

#define PACES_LEAST  20  /* pairs of samples, for a pace */
#define PACE_NEAR    0.3 /* of the median */
#define MOVES_LEAST  100 /* of one instruction */
#define ONE_WAY      0.6 /* of its moves, of a walk in order */
#define PERIODS_MOST 3.5 /* between two samples of one walk */
#define CHUNK_BITS   16  /* of as_operands_reach */

typedef AS_VEC(uint64_t) place_list;
typedef AS_VEC(double) number_list;

static int by_walk(const void *a, const void *b)
{
    const struct as_sampled_address *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int by_chunk(const void *a, const void *b)
{
    const struct as_sampled_address *x = a, *y = b;
    const uint64_t p = x->low >> CHUNK_BITS, q = y->low >> CHUNK_BITS;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (p != q)
        return p < q ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static int by_pace(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* ---- One walk -------------------------------------------------------------------------------- */

/* Moves forward of one operand in one process: iterations a second, by pair of samples. */
static int list_paces(const struct as_sampled_address *from, const struct as_sampled_address *to,
                      double stride_b, double period_ns, number_list *out)
{
    for (const struct as_sampled_address *at = from + 1; at < to; at++) {
        const double time_ns = (double)(at->time_ns - at[-1].time_ns);
        const double iteration_n = (double)(int64_t)(at->low - at[-1].low) / stride_b;
        if (at->tid == at[-1].tid && time_ns > 0 && time_ns <= PERIODS_MOST * period_ns &&
            iteration_n > 0)
            AS_TRY(as_vec_push(out, iteration_n / time_ns * 1e9));
    }
    return 0;
}

/*
 * Iterations a second of a walk in order; 0: not known. Such a walk moves at one pace: half of its
 * moves and more are near the median. A quarter of random moves are.
 */
static double pace_of(const number_list *list)
{
    size_t near_n = 0;

    if (list->n < PACES_LEAST)
        return 0;
    qsort(list->at, list->n, sizeof *list->at, by_pace);
    const double median = list->at[list->n / 2];
    as_vec_foreach (list, pace)
        near_n += fabs(*pace - median) <= PACE_NEAR * median;
    return 2 * near_n >= list->n ? median : 0;
}

/* A walk through records that an index names is in order only if it has a pace. */
static int is_in_order(const struct as_operand_loop *loop, uint32_t stream, double pace, bool *out,
                       struct as_error *err)
{
    const struct as_memory_stream *at = &loop->streams.at[stream];
    int64_t size_b = 0;

    if (!(pace > 0))
        AS_TRY(as_loop_record_size(loop->module->program, loop->site->loop, at, &size_b, err));
    *out = size_b <= llabs(at->stride_b);
    return 0;
}

/* Sets the weight of addresses [from, to) of one walk to 0 if they are not in order. */
static int look_at_walk(const struct as_operand_loop *loop, double period_ns,
                        struct as_sampled_address *from, struct as_sampled_address *to,
                        double *per_s, struct as_error *err)
{
    const double stride_b = (double)loop->streams.at[from->stream].stride_b;
    number_list paces = {0};
    bool in_order = true;
    double pace = 0;
    int rc = list_paces(from, to, stride_b, period_ns, &paces);

    if (rc == 0)
        pace = pace_of(&paces);
    as_vec_fini(&paces);
    if (rc < 0)
        return as_error_nomem(err, "the walks of a loop");
    rc = is_in_order(loop, from->stream, pace, &in_order, err);
    *per_s = fmax(*per_s, pace);
    for (struct as_sampled_address *at = from; at < to && !in_order; at++)
        at->weight = 0;
    return rc;
}

/* ---- One instruction ------------------------------------------------------------------------- */

/* Iterations a second of a walk in order, by samples of one instruction that follow each other. */
static double pace_at(const struct as_operand_loop *loop, const struct as_tally_operand *operand)
{
    const struct as_code *code = &loop->module->program->code;
    uint64_t address;

    if (operand->place.loop_id != loop->site->loop_id || !(operand->pace_b_s > 0) ||
        operand->forward < 0 || operand->n < MOVES_LEAST ||
        !as_catalogue_address(loop->module, operand->place.address, &address))
        return 0;
    address += (uint64_t)(int64_t)operand->later_b;
    for (size_t i = 0; i < loop->streams.n; i++) {
        const struct as_memory_stream *at = &loop->streams.at[i];
        const double forward = at->stride_b > 0 ? operand->forward : 1 - operand->forward;
        if (code->insn[at->insn].address == address && as_stream_walks(at) && forward >= ONE_WAY)
            return operand->pace_b_s / fabs((double)at->stride_b);
    }
    return 0;
}

static double pace_of_sites(const struct as_operand_loop *loop, const struct as_loop_operands *all)
{
    const int64_t loop_id = loop->site->loop_id;
    double per_s = 0;

    for (size_t i = as_first_not(k, all->n, all->at[k]->place.loop_id < loop_id);
         i < all->n && all->at[i]->place.loop_id == loop_id; i++)
        per_s = fmax(per_s, pace_at(loop, all->at[i]));
    return per_s;
}

static int by_loop_of_operand(const void *a, const void *b)
{
    const struct as_tally_operand *x = *(const struct as_tally_operand *const *)a;
    const struct as_tally_operand *y = *(const struct as_tally_operand *const *)b;

    if (x->place.loop_id != y->place.loop_id)
        return x->place.loop_id < y->place.loop_id ? -1 : 1;
    return (x > y) - (x < y);
}

int as_loop_operands_new(const struct as_tally *tally, struct as_loop_operands *out,
                         struct as_error *err)
{
    *out = (struct as_loop_operands){.n = tally->operand.n};
    out->at = as_malloc_table(out->n + 1, sizeof *out->at);
    if (!out->at)
        return as_error_nomem(err, "the operands of loops");
    for (size_t i = 0; i < out->n; i++)
        out->at[i] = &tally->operand.at[i];
    qsort(out->at, out->n, sizeof(const struct as_tally_operand *), by_loop_of_operand);
    return 0;
}

void as_loop_operands_free(struct as_loop_operands *list)
{
    as_free(list->at);
    *list = (struct as_loop_operands){0};
}

/* ---- All walks ------------------------------------------------------------------------------- */

/* Addresses [from, to) are of one process, by chunk. A chunk counts once in a sample. */
static int reach_of(const struct as_sampled_address *from, const struct as_sampled_address *to,
                    double *reach_b, struct as_error *err)
{
    const struct as_sampled_address *last = NULL;
    place_list place = {0};
    int rc = 0;

    for (const struct as_sampled_address *at = from; at < to && rc == 0; at++) {
        const bool again = last && last->low >> CHUNK_BITS == at->low >> CHUNK_BITS &&
                           last->time_ns == at->time_ns && last->tid == at->tid;
        if (again || !(at->weight > 0))
            continue;
        last = at;
        rc = as_vec_push(&place, at->low);
    }
    if (rc == 0 && place.n) {
        const struct as_operand_reach reach = as_operands_reach(place.at, place.n);
        *reach_b = reach.far >= 0.5 ? fmax(*reach_b, reach.reach_b) : *reach_b;
    }
    as_vec_fini(&place);
    return rc < 0 ? as_error_nomem(err, "the walks of a loop") : 0;
}

static int look_at_walks(const struct as_operand_loop *loop, double period_ns,
                         as_address_list *list, struct as_sweep *out, struct as_error *err)
{
    double per_s = 0;

    qsort(list->at, list->n, sizeof *list->at, by_walk);
    for (size_t from = 0, to; from < list->n; from = to) {
        for (to = from + 1; to < list->n && list->at[to].process == list->at[from].process &&
                            list->at[to].stream == list->at[from].stream;)
            to++;
        AS_TRY(look_at_walk(loop, period_ns, list->at + from, list->at + to, &per_s, err));
    }
    out->iteration_per_s = per_s;
    qsort(list->at, list->n, sizeof *list->at, by_chunk);
    for (size_t from = 0, to; from < list->n; from = to) {
        for (to = from + 1; to < list->n && list->at[to].process == list->at[from].process;)
            to++;
        AS_TRY(reach_of(list->at + from, list->at + to, &out->reach_b, err));
    }
    return 0;
}

int as_sweep_of(const struct as_operand_loop *loop, const struct as_loop_operands *operands,
                uint32_t rate_hz, const as_address_list *address, struct as_sweep *out,
                struct as_error *err)
{
    as_address_list list = {0};
    int rc = 0;

    *out = (struct as_sweep){0};
    for (size_t i = 0; i < address->n && rc == 0; i++)
        if (as_stream_walks(&loop->streams.at[address->at[i].stream]))
            rc = as_vec_push(&list, address->at[i]);
    rc = rc < 0 ? as_error_nomem(err, "the walks of a loop") : 0;
    if (rc == 0 && list.n)
        rc = look_at_walks(loop, 1e9 / (rate_hz ? rate_hz : 1), &list, out, err);
    out->iteration_per_s = fmax(out->iteration_per_s, pace_of_sites(loop, operands));
    as_vec_fini(&list);
    return rc;
}
