/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the three results share: quantities of chosen runs, notes, and the memory they lie in.
 */
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

/* One value of each repetition into `x`. */
void as_repeats_wall(const struct as_set *set, const struct as_repeats *repeats, double *x);
void as_repeats_cost(const struct as_object *object, const struct as_repeats *repeats,
                     enum as_cost_part part, double *x);
int64_t as_repeats_samples(const struct as_object *object, const struct as_repeats *repeats);
/* Seconds that one sample stands for, in the first repetition; 0 when there is none. */
double as_repeats_quantum(const struct as_set *set, const struct as_repeats *repeats);

/*
 * An object's time as an estimate: of the repetitions when there are several, else of the samples
 * of the one. `x` has room for a value a repetition.
 */
struct as_estimate as_repeats_estimate(const struct as_set *set, const struct as_object *object,
                                       const struct as_repeats *repeats, enum as_cost_part part,
                                       double *x);
/* The same with its interval: Student's t of repetitions, Wilson of the samples of one run. */
struct assay_quantity as_repeats_quantity(const struct as_set *set, const struct as_object *object,
                                          const struct as_repeats *repeats, enum as_cost_part part,
                                          double *x);
/* Mean wall time; unbounded from one run, unknown from none. */
struct assay_quantity as_repeats_wall_quantity(const struct as_set *set,
                                               const struct as_repeats *repeats, double *x);

/* The largest share of the running time that an object has in one of the runs of the set. */
double as_object_share(const struct as_set *set, const struct as_object *object);

/* Sentences for the user. A note that finds no memory is lost and remembered. */
struct as_notes {
    AS_VEC(const char *) text;
    bool failed;
};

void as_note(struct as_notes *notes, struct as_arena *arena, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Moves the notes into the arena; NOMEM. */
int as_notes_take(struct as_notes *notes, struct as_arena *arena, const char *const **out,
                  size_t *out_n, struct assay_error *err);

/* A result's name and place of an object, copied into `arena`. NOMEM. */
int as_compared_of(struct as_arena *arena, const struct as_object *object,
                   struct assay_compared *out, struct assay_error *err);

/* Copies `n` elements of a growing vector into an arena; NULL when out of memory (n > 0). */
void *as_keep(struct as_arena *arena, const void *at, size_t n, size_t size_b);

#endif
