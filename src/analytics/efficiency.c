/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of the POP methodology, multiplicative and additive; doc/internals/analytics.md has the
 * formulas. All is time over the elapsed time: of threads what is useful, of ranks what is outside
 * MPI.
 */
#include <math.h>

#include "analytics/walking.h"

/* Time that is neither communication nor waiting of threads for each other. */
static double useful_ns(const struct as_location *location)
{
    return (double)(location->interest_ns[AS_ACTIVITY_COMPUTING] +
                    location->interest_ns[AS_ACTIVITY_FILES]);
}

/* Its time in the region of interest, as far as it was recorded. */
static double lifetime_ns(const struct as_location *location)
{
    int64_t all_ns = 0;
    for (unsigned a = 0; a < AS_ACTIVITIES_N; a++)
        all_ns += location->interest_ns[a];
    return (double)(all_ns - location->interest_ns[AS_ACTIVITY_OFF]);
}

struct pop_sums {
    double useful, useful_most; /* of threads */
    double in_openmp;           /* of threads: at barriers, ends of regions, locks */
    double outside_of_threads;  /* of each thread the time that its rank is outside MPI */
    uint64_t thread_n;
    double outside, outside_most; /* of ranks */
    uint64_t rank_n;
    double off;               /* of threads: how long their process was not recorded */
    int64_t begin_ns, end_ns; /* of all of them */
};

/* Returns the time of a rank outside MPI. With one thread that calls MPI it is that of the thread
 * that was there longest: any thread of the rank may do the work. With several such threads
 * (MPI_THREAD_MULTIPLE) it is the useful share of their useful work and MPI together. Their waiting
 * for each other is lost to threads. */
static double outside_ns(const struct as_location *first, size_t n, const struct as_location *main)
{
    double useful = 0, in_mpi = 0;
    size_t callers_n = 0;
    for (size_t i = 0; i < n; i++)
        if (first[i].interest_ns[AS_ACTIVITY_MPI] > 0) {
            callers_n++;
            useful += useful_ns(&first[i]);
            in_mpi += (double)first[i].interest_ns[AS_ACTIVITY_MPI];
        }
    if (callers_n < 2)
        return lifetime_ns(main) - (double)main->interest_ns[AS_ACTIVITY_MPI];
    return lifetime_ns(main) * useful / (useful + in_mpi);
}

static void add_pop_process(struct pop_sums *sums, const struct as_location *first, size_t n)
{
    const struct as_location *main = first;
    for (size_t i = 1; i < n; i++)
        if (lifetime_ns(&first[i]) > lifetime_ns(main))
            main = &first[i];
    const double outside = outside_ns(first, n, main);
    for (size_t i = 0; i < n; i++) {
        sums->useful += useful_ns(&first[i]);
        sums->useful_most = fmax(sums->useful_most, useful_ns(&first[i]));
        sums->in_openmp += (double)(first[i].interest_ns[AS_ACTIVITY_OPENMP] +
                                    first[i].interest_ns[AS_ACTIVITY_THREADS]);
        sums->outside_of_threads += outside;
        sums->off += (double)main->interest_ns[AS_ACTIVITY_OFF];
        if (first[i].span.begin_ns < sums->begin_ns)
            sums->begin_ns = first[i].span.begin_ns;
        if (first[i].span.end_ns > sums->end_ns)
            sums->end_ns = first[i].span.end_ns;
    }
    sums->thread_n += n;
    if (first->rank >= 0) {
        sums->outside += outside;
        sums->outside_most = fmax(sums->outside_most, outside);
        sums->rank_n++;
    }
}

/* Where there are ranks, launchers and what else was traced are not the program. */
static struct pop_sums pop_sums_of(const struct as_analysis *a)
{
    struct pop_sums sums = {.begin_ns = INT64_MAX, .end_ns = INT64_MIN};
    bool has_ranks = false;
    as_vec_foreach (&a->location, location)
        has_ranks |= location->rank >= 0;
    for (size_t i = 0, next; i < a->location.n; i = next) {
        const struct as_location *first = &a->location.at[i];
        for (next = i + 1; next < a->location.n && a->location.at[next].process == first->process;)
            next++;
        if (!has_ranks || first->rank >= 0)
            add_pop_process(&sums, first, next - i);
    }
    return sums;
}

static void put_mpi_shares(struct as_efficiency *e, const struct pop_sums *s, double elapsed)
{
    const double mean = s->outside / (double)s->rank_n;
    e->mpi_parallel = mean / elapsed;
    e->mpi_balance = mean / s->outside_most;
    e->mpi_communication = s->outside_most / elapsed;
    e->openmp_parallel = e->parallel / e->mpi_parallel;
    e->openmp_balance = e->balance / e->mpi_balance;
    e->openmp_communication = e->communication / e->mpi_communication;
    e->process_balance = 1 - (s->outside_most - mean) / elapsed;
}

void as_efficiency_of(struct as_analysis *a)
{
    const double none = (double)NAN;
    struct as_efficiency *e = &a->efficiency;
    struct pop_sums s = pop_sums_of(a);
    s.begin_ns = s.begin_ns > a->interest.begin_ns ? s.begin_ns : a->interest.begin_ns;
    s.end_ns = s.end_ns < a->interest.end_ns ? s.end_ns : a->interest.end_ns;
    /* What is not recorded is no time of the run: in the mean, where processes differ. */
    const double elapsed =
        s.thread_n ? (double)(s.end_ns - s.begin_ns) - s.off / (double)s.thread_n : 0;
    *e = (struct as_efficiency){none, none, none, none, none, none, none, none, none, none,
                                none, none, none, none, none, none, none, none, 0};
    if (!(elapsed > 0) || s.thread_n == 0)
        return;
    e->elapsed_ns = elapsed;
    const double threads = (double)s.thread_n;
    e->parallel = s.useful / (elapsed * threads);
    if (s.useful_most > 0) {
        e->balance = s.useful / (threads * s.useful_most);
        e->communication = s.useful_most / elapsed;
    }
    if (s.rank_n > 1 && s.outside_most > 0)
        put_mpi_shares(e, &s, elapsed);
    e->thread = 1 - (s.outside_of_threads - s.useful) / (threads * elapsed);
    e->openmp_region = 1 - s.in_openmp / (threads * elapsed);
    e->serial_region = e->thread - e->openmp_region + 1;
}
