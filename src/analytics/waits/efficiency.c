/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of the POP methodology, multiplicative and additive; doc/internals/analytics.md has the
 * formulas. All is time over the elapsed time: of threads what is useful, of ranks what is outside
 * MPI.
 */
#include <math.h>

#include "analytics/state/walking.h"

/* Times of threads that are judged: of the region of interest, or of a phase. */
struct pop_times {
    const struct as_location *location;
    size_t n;
    const int64_t (*phase_ns)[AS_ACTIVITIES_N]; /* NULL: those of the region of interest */
};

static const int64_t *times_of(const struct pop_times *times, size_t at)
{
    return times->phase_ns ? times->phase_ns[at] : times->location[at].interest_ns;
}

/* Time that is neither communication nor waiting of threads for each other. */
static double useful_ns(const int64_t *ns)
{
    return (double)(ns[AS_ACTIVITY_COMPUTING] + ns[AS_ACTIVITY_FILES]);
}

/* Its time in the region of interest, as far as it was recorded. */
static double lifetime_ns(const int64_t *ns)
{
    int64_t all_ns = 0;
    for (unsigned a = 0; a < AS_ACTIVITIES_N; a++)
        all_ns += ns[a];
    return (double)(all_ns - ns[AS_ACTIVITY_OFF]);
}

struct pop_sums {
    double useful, useful_most; /* of threads */
    double in_openmp;           /* of threads: at barriers, ends of regions, locks */
    double outside_of_threads;  /* of each thread the time that its rank is outside MPI */
    uint64_t thread_n;
    double outside, outside_most; /* of ranks */
    uint64_t rank_n;
    uint32_t busiest;         /* first thread of the rank that is outside MPI longest */
    double longest;           /* lifetime of a process */
    double off;               /* of threads: how long their process was not recorded */
    int64_t begin_ns, end_ns; /* of all of them */
};

/* Returns the time of a rank outside MPI. With one thread that calls MPI it is that of the thread
 * that was there longest: any thread of the rank may do the work. With several such threads
 * (MPI_THREAD_MULTIPLE) it is the useful share of their useful work and MPI together. Their waiting
 * for each other is lost to threads. */
static double outside_ns(const struct pop_times *times, size_t first, size_t next,
                         const int64_t *main)
{
    double useful = 0, in_mpi = 0;
    size_t callers_n = 0;
    for (size_t i = first; i < next; i++) {
        const int64_t *ns = times_of(times, i);
        if (ns[AS_ACTIVITY_MPI] > 0) { /* a queue has none */
            callers_n++;
            useful += useful_ns(ns);
            in_mpi += (double)ns[AS_ACTIVITY_MPI];
        }
    }
    if (callers_n < 2)
        return lifetime_ns(main) - (double)main[AS_ACTIVITY_MPI];
    return lifetime_ns(main) * useful / (useful + in_mpi);
}

static void add_pop_process(struct pop_sums *sums, const struct pop_times *times, size_t first,
                            size_t next)
{
    while (first < next && times->location[first].queue)
        first++;
    if (first == next)
        return;
    const int64_t *main = times_of(times, first);
    for (size_t i = first + 1; i < next; i++)
        if (!times->location[i].queue && lifetime_ns(times_of(times, i)) > lifetime_ns(main))
            main = times_of(times, i);
    if (times->phase_ns && lifetime_ns(main) <= 0) /* it was not there */
        return;
    const double outside = outside_ns(times, first, next, main);
    for (size_t i = first; i < next; i++) {
        const struct as_location *location = &times->location[i];
        const int64_t *ns = times_of(times, i);
        if (location->queue || (times->phase_ns && lifetime_ns(ns) <= 0))
            continue;
        sums->useful += useful_ns(ns);
        sums->useful_most = fmax(sums->useful_most, useful_ns(ns));
        sums->in_openmp += (double)(ns[AS_ACTIVITY_OPENMP] + ns[AS_ACTIVITY_THREADS]);
        sums->outside_of_threads += outside;
        sums->off += (double)main[AS_ACTIVITY_OFF];
        sums->thread_n++;
        if (location->span.begin_ns < sums->begin_ns)
            sums->begin_ns = location->span.begin_ns;
        if (location->span.end_ns > sums->end_ns)
            sums->end_ns = location->span.end_ns;
    }
    sums->longest = fmax(sums->longest, lifetime_ns(main));
    if (times->location[first].rank < 0)
        return;
    if (sums->rank_n == 0 || outside > sums->outside_most)
        sums->busiest = (uint32_t)first;
    sums->outside += outside;
    sums->outside_most = fmax(sums->outside_most, outside);
    sums->rank_n++;
}

/* Sums up the times. In a trace with ranks, launchers and other processes without a rank do not
 * count. */
static struct pop_sums pop_sums_of(const struct pop_times *times)
{
    struct pop_sums sums = {.begin_ns = INT64_MAX, .end_ns = INT64_MIN, .busiest = AS_WAIT_UNKNOWN};
    bool has_ranks = false;
    for (size_t i = 0; i < times->n; i++)
        has_ranks |= times->location[i].rank >= 0;
    for (size_t i = 0, next; i < times->n; i = next) {
        const struct as_location *first = &times->location[i];
        for (next = i + 1; next < times->n && times->location[next].process == first->process;)
            next++;
        if (!has_ranks || first->rank >= 0)
            add_pop_process(&sums, times, i, next);
    }
    return sums;
}

static void set_mpi_efficiencies(struct as_efficiency *e, const struct pop_sums *s, double elapsed)
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

/* Shares of threads that spent `elapsed` each; NANs if none did. */
static void fill_shares(struct as_efficiency *e, const struct pop_sums *s, double elapsed)
{
    const double none = (double)NAN;
    *e = (struct as_efficiency){none, none, none, none, none, none, none, none, none, none,
                                none, none, none, none, none, none, none, none, 0};
    if (!(elapsed > 0) || s->thread_n == 0)
        return;
    e->elapsed_ns = elapsed;
    const double threads = (double)s->thread_n;
    e->parallel = s->useful / (elapsed * threads);
    if (s->useful_most > 0) {
        e->balance = s->useful / (threads * s->useful_most);
        e->communication = s->useful_most / elapsed;
    }
    if (s->rank_n > 1 && s->outside_most > 0)
        set_mpi_efficiencies(e, s, elapsed);
    e->thread = 1 - (s->outside_of_threads - s->useful) / (threads * elapsed);
    e->openmp_region = 1 - s->in_openmp / (threads * elapsed);
    e->serial_region = e->thread - e->openmp_region + 1;
}

void as_efficiency_of(struct as_analysis *a)
{
    const struct pop_times times = {a->location.at, a->location.n, NULL};
    struct pop_sums s = pop_sums_of(&times);
    s.begin_ns = s.begin_ns > a->interest.begin_ns ? s.begin_ns : a->interest.begin_ns;
    s.end_ns = s.end_ns < a->interest.end_ns ? s.end_ns : a->interest.end_ns;
    /* Time without recording does not count: the mean, where processes differ. */
    const double elapsed =
        s.thread_n ? (double)(s.end_ns - s.begin_ns) - s.off / (double)s.thread_n : 0;
    fill_shares(&a->efficiency, &s, elapsed);
}

void as_efficiency_of_phase(const struct as_analysis *a, const int64_t (*ns)[AS_ACTIVITIES_N],
                            struct as_phase *phase)
{
    const struct pop_times times = {a->location.at, a->location.n, ns};
    const struct pop_sums s = pop_sums_of(&times);
    fill_shares(&phase->efficiency, &s, s.longest);
    phase->rank_n = (uint32_t)s.rank_n;
    phase->thread_n = (uint32_t)s.thread_n;
    phase->busiest = s.rank_n > 1 ? s.busiest : AS_WAIT_UNKNOWN;
    phase->useful_ns = s.thread_n ? s.useful / (double)s.thread_n : 0;
    phase->mpi_ns = s.rank_n ? s.longest - s.outside / (double)s.rank_n : 0;
}
