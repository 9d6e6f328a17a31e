/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities of chosen runs and notes, for comparison, stability and scalability. */
#ifndef AS_COMPARE_MEASURE_H
#define AS_COMPARE_MEASURE_H

#include "base/paired.h"
#include "compare/set.h"
#include "compare/statistics.h"

/* Runs of a set that are repetitions of each other. */
struct as_repeats {
    const uint32_t *run; /* indices in the set */
    size_t n;
};

enum as_cost_part { AS_COST_TIME, AS_COST_THREAD };

/* Store one value for each repetition in `x`: seconds. */
void as_repeats_wall(const struct as_set *set, const struct as_repeats *repeats, double *x);
void as_repeats_cost(const struct as_compared_object *object, const struct as_repeats *repeats,
                     enum as_cost_part part, double *x);
int64_t as_repeats_samples(const struct as_compared_object *object,
                           const struct as_repeats *repeats);
/* Returns the seconds that one sample represents in the first repetition, or 0 without samples. */
double as_repeats_quantum(const struct as_set *set, const struct as_repeats *repeats);

/*
 * Estimates the time of an object from several repetitions, or from the samples of a single one.
 * `x` is work space for one value of each repetition.
 */
struct as_estimate as_repeats_estimate(const struct as_set *set,
                                       const struct as_compared_object *object,
                                       const struct as_repeats *repeats, enum as_cost_part part,
                                       double *x);
/*
 * Returns the estimate with its interval: Student's t for several repetitions, Wilson for the
 * samples of one run.
 */
struct as_bounded_value as_repeats_quantity(const struct as_set *set,
                                            const struct as_compared_object *object,
                                            const struct as_repeats *repeats,
                                            enum as_cost_part part, double *x);
/* Returns the mean wall time. Its interval is unbounded for one run. It is unknown without runs. */
struct as_bounded_value as_repeats_wall_quantity(const struct as_set *set,
                                                 const struct as_repeats *repeats, double *x);

/* Returns the maximum share of CPU time of an object over the runs of the set: 0 to 1. */
double as_object_share(const struct as_set *set, const struct as_compared_object *object);

/* Sentences for the user. `failed` is set if memory for a note was missing. */
struct as_notes {
    AS_VEC(const char *) text;
    bool failed;
};

void as_note(struct as_notes *notes, struct as_arena *arena, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Moves the notes into the arena. Errors: NOMEM. */
int as_notes_take(struct as_notes *notes, struct as_arena *arena, const char *const **out,
                  size_t *out_n, struct as_error *err);

/* Copies name and source place of an object into `arena`. Errors: NOMEM. */
int as_compared_of(struct as_arena *arena, const struct as_compared_object *object,
                   struct as_compared *out, struct as_error *err);

/* Copies `n` elements of a vector into an arena. Returns NULL without memory (n > 0). */
void *as_keep(struct as_arena *arena, const void *at, size_t n, size_t size_b);

#endif
