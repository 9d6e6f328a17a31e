/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analytics/walking.h"

/* Time that is neither communication nor waiting of threads for each other. */
static double useful_ns(const struct as_location *location)
{
    return (double)(location->activity_ns[AS_ACTIVITY_COMPUTING] +
                    location->activity_ns[AS_ACTIVITY_FILES]);
}

struct main_threads {
    double sum, most; /* time outside MPI */
    uint64_t n;
};

/* The thread of each rank that was there longest: its time outside MPI is the rank's work, whoever
 * of its threads does it. */
static struct main_threads main_threads_of(const struct as_analysis *a)
{
    struct main_threads m = {0, 0, 0};
    for (size_t i = 0; i < a->location.n;) {
        const struct as_location *l = &a->location.at[i], *longest = l;
        size_t next = i;
        for (; next < a->location.n && a->location.at[next].process == l->process; next++) {
            const struct as_location *other = &a->location.at[next];
            if (other->span.end_ns - other->span.begin_ns >
                longest->span.end_ns - longest->span.begin_ns)
                longest = other;
        }
        if (l->rank >= 0) {
            double outside = (double)(longest->span.end_ns - longest->span.begin_ns -
                                      longest->activity_ns[AS_ACTIVITY_MPI]);
            m.sum += outside;
            m.most = fmax(m.most, outside);
            m.n++;
        }
        i = next;
    }
    return m;
}

void as_efficiency_of(struct as_analysis *a)
{
    const double none = (double)NAN, elapsed = (double)(a->end_ns - a->begin_ns);
    double useful = 0;
    as_vec_foreach (&a->location, location)
        useful += useful_ns(location);
    a->efficiency = (struct as_efficiency){none, none, none, none, none};
    if (!(elapsed > 0) || a->location.n == 0)
        return;
    struct as_efficiency *e = &a->efficiency;
    e->parallel = useful / (elapsed * (double)a->location.n);
    const struct main_threads m = main_threads_of(a);
    if (m.n > 1 && m.most > 0) {
        e->mpi_parallel = m.sum / ((double)m.n * elapsed);
        e->mpi_balance = m.sum / ((double)m.n * m.most);
        e->mpi_communication = m.most / elapsed;
        e->openmp_parallel = e->parallel / e->mpi_parallel;
    }
}
