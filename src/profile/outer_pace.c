/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterations a second of a loop, by the counters of the loops around it. Two samples of a thread
 * have an outer counter each. Its difference times the iterations of an entry were made between
 * them. An outer loop that begins anew between two samples, and time outside of the loop, make the
 * rate too small: it is a bound from below. No rate is known if outer loops begin anew often.
 * Entries of one length alone count.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "profile/accesses.h"

#define STEADY_LEAST  20   /* samples with a counter */
#define STEADY_SPREAD 1.15 /* most iterations that are left, of those of an entry */
#define ROUNDS_LEAST  4    /* iterations of the outer loop between two samples */
#define BACK_MOST     0.2  /* pairs in which the outer loop has begun anew, of the others */
#define PACE_PAIRS    10   /* pairs of samples */
#define PACE_GAP_MOST 3.5  /* sample periods between two samples */
#define PACE_SPREAD   0.3  /* of the median */

struct timed_draw {
    uint32_t process;
    const struct as_tally_draw *draw;
};

typedef AS_VEC(struct timed_draw) draw_list;
typedef AS_VEC(double) pace_list;

static int by_thread(const void *a, const void *b)
{
    const struct timed_draw *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->draw->tid != y->draw->tid)
        return x->draw->tid < y->draw->tid ? -1 : 1;
    return (x->draw->time_ns > y->draw->time_ns) - (x->draw->time_ns < y->draw->time_ns);
}

static int by_rate(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Iterations of an entry if all entries are of one length, at most; 0: they differ. */
static double steady_iterations(const draw_list *list, const struct assay_loop_limit *limit)
{
    double sum = 0, most = 0;
    unsigned n = 0;

    as_vec_foreach (list, it) {
        const double left = limit->step ? as_iterations_left(limit, it->draw) : -1;
        if (!(left >= 0 && left < 0x1p40))
            continue;
        sum += left;
        most = fmax(most, left);
        n++;
    }
    return n >= STEADY_LEAST && most <= STEADY_SPREAD * 2 * sum / n ? fmin(2 * sum / n, most + 1)
                                                                    : 0;
}

/* Iterations of an outer loop from one sample to the next; 0: not known. */
static double rounds_between(const struct assay_loop_limit *limit, const struct timed_draw *from,
                             const struct timed_draw *to)
{
    const uint8_t bound = assay_reg_dwarf(limit->bound_reg);

    if (bound != ASSAY_REG_NONE && from->draw->reg[bound] != to->draw->reg[bound])
        return 0;
    return as_iterations_left(limit, from->draw) - as_iterations_left(limit, to->draw);
}

/* Half of the rates and more are near the median, or none is known. */
static double median_rate(const pace_list *list)
{
    size_t near_n = 0;

    if (list->n < PACE_PAIRS)
        return 0;
    qsort(list->at, list->n, sizeof *list->at, by_rate);
    const double median = list->at[list->n / 2];
    as_vec_foreach (list, rate)
        near_n += fabs(*rate - median) <= PACE_SPREAD * median;
    return 2 * near_n >= list->n ? median : 0;
}

/* Iterations a second, where an iteration of the outer loop has `each_n`. 0 or NOMEM. */
static int pace_by(const draw_list *list, const struct assay_loop_limit *limit, double each_n,
                   double period_ns, double *per_s)
{
    pace_list paces = {0};
    size_t back_n = 0, forward_n = 0;
    int rc = 0;

    for (size_t i = 1; i < list->n && rc == 0; i++) {
        const struct timed_draw *from = &list->at[i - 1], *to = &list->at[i];
        const double time_ns = (double)(to->draw->time_ns - from->draw->time_ns);
        if (from->process != to->process || from->draw->tid != to->draw->tid || !(time_ns > 0) ||
            time_ns > PACE_GAP_MOST * period_ns)
            continue;
        const double rounds = rounds_between(limit, from, to);
        back_n += rounds < 0;
        forward_n += rounds > 0;
        if (rounds >= ROUNDS_LEAST)
            rc = as_vec_push(&paces, rounds * each_n / time_ns * 1e9);
    }
    if (rc == 0 && (double)back_n <= BACK_MOST * (double)forward_n)
        *per_s = fmax(*per_s, median_rate(&paces));
    as_vec_fini(&paces);
    return rc;
}

static int list_timed(const struct as_operand_loop *loop, draw_list *out)
{
    for (size_t i = 0; i < loop->site_n; i++) {
        const struct as_tally_held *held = loop->site[i].held;
        for (uint32_t d = 0; d < held->draws; d++)
            if (held->draw[d].time_ns)
                AS_TRY(as_vec_push(out, (struct timed_draw){held->process, &held->draw[d]}));
    }
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, by_thread);
    return 0;
}

int as_outer_pace(const struct as_operand_loop *loop, uint32_t rate_hz, double *per_s,
                  struct assay_error *err)
{
    draw_list list = {0};
    int rc = loop->outer_n ? list_timed(loop, &list) : 0;
    double each_n = rc == 0 ? steady_iterations(&list, &loop->streams.limit) : 0;

    *per_s = 0;
    for (unsigned k = 0; k < loop->outer_n && each_n > 0 && rc == 0; k++) {
        const struct assay_loop_limit *limit = &loop->outer_limit[k];
        if (limit->step)
            rc = pace_by(&list, limit, each_n, 1e9 / (rate_hz ? rate_hz : 1), per_s);
        each_n *= steady_iterations(&list, limit);
    }
    as_vec_fini(&list);
    return rc < 0 ? as_error_nomem(err, "the pace of a loop") : 0;
}
