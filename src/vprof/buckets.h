/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups similar instances of one loop in buckets, by iterations or by the cost of an iteration.
 * Two groups with the same iterations and clearly different times are two buckets. Their data may
 * lie in different caches. The ONE View paper has buckets by cycles per iteration. Pure functions
 * of their arguments.
 */
#ifndef AS_VPROF_BUCKETS_H
#define AS_VPROF_BUCKETS_H

#include "vprof/instances.h"

#define AS_BUCKET_CHOSEN_N 31u

enum as_bucket_key {
    AS_BUCKET_ITERATIONS, /* powers of two */
    AS_BUCKET_COST        /* cost of an iteration: powers of the square root of two */
};

/*
 * Statistics of several values. Stability is (median - least) / least, or 0 if `least` is 0.
 * Deviation and stability of a single value are NAN.
 */
struct as_costs {
    double least, mean, median, deviation, stability;
};

struct as_bucket {
    double low, high;           /* range of the key, without `high` */
    bool is_split;              /* one of two buckets with the same iterations */
    double cost_low, cost_high; /* minimum and maximum ticks of an iteration, if `is_split` */
    size_t first, n;            /* range of instances in the sorted array */
    double share;               /* share of the ticks of all instances: 0 to 1 */
    double iterations;          /* mean iterations of an instance */
    struct as_costs instance;   /* ticks of an instance */
    struct as_costs iteration;  /* ticks of an iteration */
    /* Representative instances, at equal distances in the order of the cost of an iteration. */
    size_t chosen[AS_BUCKET_CHOSEN_N], chosen_n;
};

typedef AS_VEC(struct as_bucket) as_bucket_list;

/*
 * Subtracts the time off the CPU from instances during which the thread left it. Moves instances
 * that hardly ran to the end. Returns the number of the others.
 */
size_t as_instances_run(struct as_instance *it, size_t n, double tick_ns);
/*
 * Subtracts the overhead of timing, in ticks for each instance, and moves disturbed instances to
 * the end. In a disturbed instance the thread left the CPU or had a major page fault. If this holds
 * for all instances with the same iterations, they stay. An instance is also disturbed if it took
 * over four times the median of the others, and `limit` ticks more. Returns the number of the
 * undisturbed ones.
 */
size_t as_instances_clean(struct as_instance *it, size_t n, double overhead, double limit);

/*
 * Splits `n` costs in ascending order in two groups. Returns the size of the cheaper group, or 0 if
 * there is one group. Groups have the least variance of the logarithm (N. Otsu, IEEE Trans. Syst.
 * Man Cybern. 9 (1979) 62). Means of two groups differ by a third and by four deviations (K. Ashman
 * et al., Astron. J. 108 (1994) 2348; there D > 2). Each group has eight instances, and a twentieth
 * of all instances or of the time.
 */
size_t as_costs_split(const double *cost, size_t n);

/*
 * Sorts `n` instances by the key and by the cost of an iteration, and lists the buckets, lowest
 * first. Instances without known iterations are in no bucket, and are moved to the end.
 * Errors: NOMEM.
 */
int as_buckets_make(struct as_instance *it, size_t n, enum as_bucket_key key, as_bucket_list *out,
                    struct as_error *err);

/*
 * Makes one bucket of all instances. For instances without known iterations, `iteration` has the
 * cost of the instance.
 */
void as_bucket_all(struct as_instance *it, size_t n, struct as_bucket *out);

#endif
