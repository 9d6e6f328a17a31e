/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances of one loop put together that are alike: by how many iterations they had, or by what an
 * iteration took. Two groups with the same numbers of iterations and clearly different times are
 * two buckets. Their data may lie in different caches. The ONE View paper has buckets by cycles per
 * iteration. Pure functions of their arguments.
 */
#ifndef AS_VPROF_BUCKETS_H
#define AS_VPROF_BUCKETS_H

#include "vprof/instances.h"

#define AS_BUCKET_CHOSEN_N 31u

enum as_bucket_key {
    AS_BUCKET_ITERATIONS, /* powers of two */
    AS_BUCKET_COST        /* of an iteration: powers of the square root of two */
};

/* Of a number of values. Stability: (median - least) / least; 0 where the least is 0. One value is
 * no distribution: its deviation and stability are NAN. */
struct as_costs {
    double least, mean, median, deviation, stability;
};

struct as_bucket {
    double low, high;           /* of the key, the latter not within */
    bool is_split;              /* one of several of as many iterations, by cost: */
    double cost_low, cost_high; /* ticks of an iteration, the least and the most */
    size_t first, n;            /* instances, in the order that the array has afterwards */
    double share;               /* of the ticks of all */
    double iterations;          /* on average */
    struct as_costs instance;   /* ticks of an instance */
    struct as_costs iteration;  /* ticks of an iteration */
    /* Instances that stand for it, evenly from the cheapest to the dearest iteration. */
    size_t chosen[AS_BUCKET_CHOSEN_N], chosen_n;
};

typedef AS_VEC(struct as_bucket) as_bucket_list;

/* Makes ticks on the CPU of those that the thread left, and puts those that hardly ran behind the
 * others; how many did. */
size_t as_instances_run(struct as_instance *it, size_t n, double tick_ns);
/*
 * Takes away what timing itself took, `overhead` ticks an instance, and moves instances that were
 * disturbed behind the others: in which the thread left the processor or had a major fault, unless
 * that is so of all with as many iterations; and such as took more than four times the median of
 * these, and `limit` ticks more. Returns how many are left.
 */
size_t as_instances_clean(struct as_instance *it, size_t n, double overhead, double limit);

/*
 * Returns how many of `n` costs, in ascending order, are in the cheaper of two groups; 0: there is
 * one group. Groups have the least variance of the logarithm (N. Otsu, IEEE Trans. Syst. Man
 * Cybern. 9 (1979) 62). Means of two groups differ by a third and by four deviations (K. Ashman et
 * al., Astron. J. 108 (1994) 2348; there D > 2). Each group has eight instances, and a twentieth of
 * all instances or of the time.
 */
size_t as_costs_split(const double *cost, size_t n);

/* Sorts `n` instances by the key and then by the cost of an iteration, and tells of each bucket,
 * the lowest first. Instances without known iterations are in none by AS_BUCKET_ITERATIONS and
 * AS_BUCKET_COST alike; they are moved behind the others. Errors: NOMEM. */
int as_buckets_make(struct as_instance *it, size_t n, enum as_bucket_key key, as_bucket_list *out,
                    struct assay_error *err);

/* All as one bucket; of instances without known iterations `iteration` is that of the instance. */
void as_bucket_all(struct as_instance *it, size_t n, struct as_bucket *out);

#endif
