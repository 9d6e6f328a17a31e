/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of what-ifs: arithmetic on seconds of threads. Knows no experiment; what may be saved
 * and why is its caller's.
 */
#include <math.h>
#include <stdlib.h>

#include "advise/advise.h"
#include "base/alloc.h"
#include "base/error.h"

/* Half the width of a 95 % interval, in standard deviations. */
#define SIGMAS 1.96
/* A thread with less of the longest running time holds no loop worth a bound of the run. */
#define BUSY 0.05

struct rank {
    size_t object;
    double critical_s, most_s; /* saved in the longest thread; in any thread */
};

struct engine {
    const struct as_thread_time *thread;
    size_t thread_n;
    const struct as_saving *saving;
    size_t saving_n, object_n;
    double wall_s;
    double longest_s; /* of the computing threads, with their queueing */
    size_t critical;  /* which one that is */
    double spare_s;   /* of the wall time beyond the work divided by the processors */
    double processors;
    double saved_s; /* by what is applied, in all threads together */
    struct rank *rank;
    size_t *first, *at; /* savings by object: at[first[o]] to at[first[o + 1]] */
    size_t phase_n;
    const double *part; /* as in as_run_time */
    double *left;       /* seconds that each thread still computes and queues */
    double *stretch;    /* seconds that each thread computes and queues, per second of computing */
};

/* ---- Queueing ------------------------------------------------------------------------------ */

/* Seconds that a thread runs. */
static double running(const struct as_thread_time *thread)
{
    return thread->compute_s + thread->spun_s;
}

/* Seconds that a thread queued; 0 if that is not known. */
static double queued(const struct as_thread_time *thread, double wall_s)
{
    const double queued_s = fmax(0, thread->queued_s);

    return wall_s > 0 ? fmin(queued_s, fmax(0, wall_s - running(thread))) : queued_s;
}

/* Queueing of all threads together. */
struct queueing {
    double all_s;
    bool is_known; /* of each thread */
};

static struct queueing queueing_of(const struct as_thread_time *thread, size_t thread_n,
                                   double wall_s)
{
    struct queueing out = {.is_known = true};

    for (size_t i = 0; i < thread_n; i++) {
        out.all_s += queued(&thread[i], wall_s);
        out.is_known &= thread[i].queued_s >= 0;
    }
    return out;
}

/*
 * Returns the seconds of a thread that may be due to queueing. A thread that neither ran nor queued
 * may have waited for others that queued. If the queueing of a thread is not known, all waiting
 * counts.
 */
static double most_queued(const struct queueing *all, const struct as_thread_time *thread,
                          double wall_s)
{
    const double own_s = queued(thread, wall_s);
    const double rest_s =
        wall_s > 0 ? fmax(0, wall_s - running(thread) - own_s) : thread->parallel_s;

    return own_s + (all->is_known ? fmin(rest_s, fmax(0, all->all_s - own_s)) : rest_s);
}

/* A thread that has less to run queues less, in proportion. */
static double stretch_of(const struct as_thread_time *thread, double wall_s)
{
    const double running_s = running(thread);

    return running_s > 0 ? 1 + queued(thread, wall_s) / running_s : 1;
}

struct as_saving_factor as_what_if_factor(const struct as_thread_time *thread, size_t thread_n,
                                          const struct as_run_time *run)
{
    const struct queueing all = queueing_of(thread, thread_n, run->wall_s);
    struct as_saving_factor out = {1, 1};
    double longest_s = 0, busiest_s = 0;

    for (size_t i = 0; i < thread_n; i++) {
        const double stretch = stretch_of(&thread[i], run->wall_s);
        const double running_s = running(&thread[i]);

        if (thread[i].compute_s * stretch > longest_s) {
            longest_s = thread[i].compute_s * stretch;
            out.value = stretch;
        }
        busiest_s = fmax(busiest_s, running_s);
    }
    for (size_t i = 0; i < thread_n; i++) {
        const double running_s = running(&thread[i]);

        if (running_s > 0 && running_s >= BUSY * busiest_s)
            out.most = fmax(out.most, 1 + most_queued(&all, &thread[i], run->wall_s) / running_s);
    }
    return out;
}

/* ---- Order --------------------------------------------------------------------------------- */

static int compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    if (x->critical_s < y->critical_s || x->critical_s > y->critical_s)
        return x->critical_s < y->critical_s ? 1 : -1;
    if (x->most_s < y->most_s || x->most_s > y->most_s)
        return x->most_s < y->most_s ? 1 : -1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static void sort_savings(struct engine *e)
{
    for (size_t i = 0; i < e->saving_n; i++)
        e->first[e->saving[i].object + 2]++;
    for (size_t o = 2; o <= e->object_n; o++)
        e->first[o] += e->first[o - 1];
    for (size_t i = 0; i < e->saving_n; i++)
        e->at[e->first[e->saving[i].object + 1]++] = i;
}

static void rank_objects(struct engine *e)
{
    for (size_t o = 0; o < e->object_n; o++)
        e->rank[o].object = o;
    for (size_t i = 0; i < e->saving_n; i++) {
        const struct as_saving *it = &e->saving[i];
        struct rank *rank = &e->rank[it->object];

        if (it->thread == e->critical)
            rank->critical_s += it->saved_s;
        rank->most_s = fmax(rank->most_s, it->saved_s);
    }
    qsort(e->rank, e->object_n, sizeof *e->rank, compare_ranks);
}

/* ---- Gains --------------------------------------------------------------------------------- */

/* How far the wall time lies above the work divided by the processors. */
static double spare_of(const struct as_run_time *run)
{
    if (!(run->wall_s > 0) || !(run->processors > 0))
        return INFINITY;
    return fmax(0, run->wall_s - run->work_s / run->processors);
}

/* Seconds of the longest thread of each phase together. */
static double longest(const struct engine *e)
{
    double all = 0;

    for (size_t phase = 0; phase < (e->part ? e->phase_n : 1); phase++) {
        double most = 0;
        for (size_t i = 0; i < e->thread_n; i++)
            most = fmax(most, e->left[i] * (e->part ? e->part[i * e->phase_n + phase] : 1));
        all += most;
    }
    return all;
}

static void start_over(struct engine *e)
{
    for (size_t i = 0; i < e->thread_n; i++)
        e->left[i] = e->thread[i].compute_s * e->stretch[i];
    e->saved_s = 0;
}

static void save(struct engine *e, size_t thread, double saved_s)
{
    e->left[thread] -= saved_s * e->stretch[thread];
    e->saved_s += saved_s;
}

/* Takes (sign 1) or gives back (sign -1) what an object saves. */
static void apply(struct engine *e, size_t object, double sign)
{
    for (size_t k = e->first[object]; k < e->first[object + 1]; k++) {
        const struct as_saving *it = &e->saving[e->at[k]];

        save(e, it->thread, sign * it->saved_s);
    }
}

static double gain_now(const struct engine *e)
{
    const double gain_s = fmax(0, e->longest_s - longest(e));

    return fmin(gain_s, e->spare_s + fmax(0, e->saved_s) / e->processors);
}

/* Largest share of its running time that a thread saves by what is applied; `left` holds seconds
 * without queueing. */
static double largest_share(const struct engine *e)
{
    double share = 0;

    for (size_t i = 0; i < e->thread_n; i++)
        if (running(&e->thread[i]) > 0)
            share = fmax(share, (e->thread[i].compute_s - e->left[i]) / running(&e->thread[i]));
    return fmin(1, share);
}

/*
 * Returns the upper bound of the gain in seconds. The longest thread gains what it saves. The
 * queueing shrinks by the largest share that a thread saves of its running time.
 */
static double most_gained(struct engine *e, double queued_s)
{
    double longest_s, gain_s;

    for (size_t i = 0; i < e->thread_n; i++)
        e->left[i] = e->thread[i].compute_s;
    longest_s = longest(e);
    e->saved_s = 0;
    for (size_t i = 0; i < e->saving_n; i++) {
        e->left[e->saving[i].thread] -= e->saving[i].high_s;
        e->saved_s += e->saving[i].high_s;
    }
    gain_s = fmax(0, longest_s - longest(e)) + largest_share(e) * queued_s;
    return fmin(gain_s, e->spare_s + fmax(0, e->saved_s) / e->processors);
}

/* Bounds of the whole: the bounds of each saving, and the samples behind those of the critical
 * thread. */
static void bound_gain(struct engine *e, double value, struct as_bounded_value *total)
{
    const struct queueing all = queueing_of(e->thread, e->thread_n, e->wall_s);
    double low, high, spread, most, queued_s = 0;
    int64_t n = 0;

    start_over(e);
    for (size_t i = 0; i < e->saving_n; i++) {
        save(e, e->saving[i].thread, e->saving[i].low_s);
        if (e->saving[i].thread == e->critical && e->saving[i].saved_s > 0)
            n += e->saving[i].n;
    }
    low = gain_now(e);
    for (size_t i = 0; i < e->thread_n; i++)
        queued_s = fmax(queued_s, most_queued(&all, &e->thread[i], e->wall_s));
    high = most_gained(e, queued_s);
    spread = n > 0 ? SIGMAS / sqrt((double)n) : 1;
    /* Nor do its errors take a gain beyond what the processors allow. */
    most = fmin(e->longest_s + queued_s,
                e->spare_s + fmax(0, e->saved_s) * (1 + spread) / e->processors);
    *total = as_value_derived(value, fmin(value, fmax(0, low * (1 - spread))),
                              fmax(value, fmin(most, high * (1 + spread))), n);
}

static bool allocate_engine(struct engine *e)
{
    e->rank = as_calloc(e->object_n + 1, sizeof *e->rank);
    e->first = as_calloc(e->object_n + 3, sizeof *e->first);
    e->at = as_calloc(e->saving_n + 1, sizeof *e->at);
    e->left = as_calloc(e->thread_n + 1, sizeof *e->left);
    e->stretch = as_calloc(e->thread_n + 1, sizeof *e->stretch);
    return e->rank && e->first && e->at && e->left && e->stretch;
}

static void release(struct engine *e)
{
    as_free(e->rank);
    as_free(e->first);
    as_free(e->at);
    as_free(e->left);
    as_free(e->stretch);
}

int as_what_if_gains(const struct as_thread_time *thread, size_t thread_n,
                     const struct as_run_time *run, const struct as_saving *saving, size_t saving_n,
                     size_t object_n, double *alone, size_t *order, double *cumulative,
                     struct as_bounded_value *total, struct as_error *err)
{
    struct engine e = {.thread = thread,
                       .thread_n = thread_n,
                       .saving = saving,
                       .saving_n = saving_n,
                       .object_n = object_n,
                       .wall_s = run->wall_s,
                       .spare_s = spare_of(run),
                       .processors = run->processors > 0 ? run->processors : 1,
                       .phase_n = run->phase_n,
                       .part = run->part};
    double most_s = 0;

    if (!allocate_engine(&e)) {
        release(&e);
        return as_error_nomem(err, "a what-if");
    }
    for (size_t i = 0; i < thread_n; i++) {
        e.stretch[i] = stretch_of(&thread[i], run->wall_s);
        if (thread[i].compute_s * e.stretch[i] > most_s) {
            most_s = thread[i].compute_s * e.stretch[i];
            e.critical = i;
        }
    }
    sort_savings(&e);
    rank_objects(&e);
    start_over(&e);
    e.longest_s = longest(&e);
    for (size_t o = 0; o < object_n; o++) {
        apply(&e, o, 1);
        alone[o] = gain_now(&e);
        apply(&e, o, -1);
    }
    start_over(&e);
    for (size_t k = 0; k < object_n; k++) {
        order[k] = e.rank[k].object;
        apply(&e, order[k], 1);
        cumulative[k] = gain_now(&e);
    }
    bound_gain(&e, object_n ? cumulative[object_n - 1] : 0, total);
    release(&e);
    return 0;
}

/* ---- Parallel ------------------------------------------------------------------------------ */

/* What of the parallel time of `of` is no waiting for another thread that others kept from its
 * processor. */
static double own_parallel(const struct as_thread_time *thread, size_t thread_n,
                           const struct as_run_time *run, size_t of)
{
    double queued_s = 0;

    for (size_t i = 0; i < thread_n; i++)
        if (i != of)
            queued_s = fmax(queued_s, thread[i].queued_s);
    if (run->others_s >= 0)
        queued_s = fmin(queued_s, run->others_s);
    return fmax(0, thread[of].parallel_s - queued_s);
}

/* What a thread queued for others of the run: so much is sure. */
static double queued_for_own(const struct as_thread_time *thread, const struct as_run_time *run)
{
    return run->others_s < 0 ? 0 : fmax(0, thread->queued_s - run->others_s);
}

/* Of what all threads run, what goes with MPI, OpenMP and thread libraries. */
static double share_spun(const struct as_thread_time *thread, size_t thread_n)
{
    double spun_s = 0, all_s = 0;

    for (size_t i = 0; i < thread_n; i++) {
        spun_s += thread[i].spun_s;
        all_s += thread[i].spun_s + thread[i].compute_s;
    }
    return all_s > 0 ? spun_s / all_s : 0;
}

/* The longest thread, as it goes when nothing is spent in MPI, OpenMP and thread libraries. */
struct goes {
    double likely_s, least_s, most_s;
    int64_t n;
};

static struct goes longest_that_goes(const struct as_thread_time *thread, size_t thread_n,
                                     const struct as_run_time *run)
{
    const double share = share_spun(thread, thread_n);
    struct goes goes = {0};

    for (size_t i = 0; i < thread_n; i++) {
        const double least_s = thread[i].compute_s + own_parallel(thread, thread_n, run, i);
        const double queued_s = queued_for_own(&thread[i], run);
        /* Threads that have a processor each never queue for their own. */
        const double max_s =
            (double)thread_n > run->processors ? fmax(0, thread[i].queued_s) : queued_s;

        if (least_s + share * queued_s > goes.likely_s) {
            goes.likely_s = least_s + share * queued_s;
            goes.n = thread[i].n;
        }
        goes.least_s = fmax(goes.least_s, least_s);
        goes.most_s =
            fmax(goes.most_s, thread[i].compute_s + thread[i].parallel_s + (share > 0 ? max_s : 0));
    }
    return goes;
}

/* What a gain is made of are those of n samples that are not in computing. */
static double error_of(double gain_s, double whole_s, double n)
{
    return n > 0 && whole_s > 0 ? SIGMAS * sqrt(n * fmax(gain_s / whole_s, 1 / n)) * whole_s / n
                                : whole_s;
}

struct as_bounded_value as_what_if_parallel(const struct as_thread_time *thread, size_t thread_n,
                                            const struct as_run_time *run, bool balanced)
{
    const struct goes goes = longest_that_goes(thread, thread_n, run);
    const double spare_s = spare_of(run), n = (double)goes.n;
    double most_s = 0, sum_s = 0, end_s, gain_s, least_s, high_s;

    for (size_t i = 0; i < thread_n; i++) {
        most_s = fmax(most_s, thread[i].compute_s);
        sum_s += thread[i].compute_s;
    }
    end_s = !balanced || !thread_n ? most_s
            : run->has_phases      ? most_s - run->uneven_s
                                   : sum_s / (double)thread_n;
    gain_s = fmin(fmax(0, goes.likely_s - end_s), spare_s);
    least_s = fmin(fmax(0, goes.least_s - end_s), spare_s);
    high_s = fmax(gain_s, goes.most_s - end_s) + error_of(gain_s, goes.likely_s, n);
    high_s = fmin(fmin(goes.most_s, spare_s), high_s);
    return as_value_derived(gain_s, fmax(0, least_s - error_of(least_s, goes.least_s, n)),
                            fmax(gain_s, high_s), goes.n);
}

size_t as_what_if_reach(const double *cumulative, size_t n, double share)
{
    if (n == 0 || !(cumulative[n - 1] > 0))
        return 0;
    for (size_t k = 0; k < n; k++)
        if (cumulative[k] >= share * cumulative[n - 1])
            return k + 1;
    return n;
}
