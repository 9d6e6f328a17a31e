/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the next of many variants of a program, drops variants, and states what is certain of
 * each. Knows times only; runs nothing and reads no clock.
 *
 * Runs come in rounds: base, each remaining variant, base. A variant is compared with the base
 * before and after each of its runs (base/paired.h). After 4, 6, 9, 13, ... rounds all are tested.
 * Certain variants are dropped, also those that cannot win, and the slower half of the others. If
 * the time is too short for four rounds, the slowest are dropped after each round. The allowed
 * error is divided over the variants, later ones included, and the tests.
 */
#ifndef AS_TRIAL_RACE_H
#define AS_TRIAL_RACE_H

#include <assay/trial.h>

#include "base/paired.h"
#include "base/vec.h"

/* Error of all claims of a campaign together. */
#define AS_RACE_ALPHA 0.05
/* Maximum number of rounds. */
#define AS_RACE_ROUNDS_MOST 28
/* Variants that differ by less from base for certain have no gain, per cent. */
#define AS_RACE_EQUAL_PCT 1

#define AS_RACE_BASE SIZE_MAX
#define AS_RACE_END  (SIZE_MAX - 1)

struct as_racer {
    bool is_in;      /* still runs */
    bool is_dropped; /* out because it was slower than others, or time was short: nothing certain */
    unsigned run_n, look_n;
    unsigned judged_n; /* runs at the last look */
    double cost_s;     /* of a run with all around it, as the last ones took */
    /* Relative to base; unbounded until there are enough runs. From the last test. */
    double ratio;
    struct as_interval interval;
    enum assay_trial_verdict verdict;
};

struct as_race_run {
    size_t racer; /* or AS_RACE_BASE */
    double at, x;
};

struct as_race {
    AS_VEC(struct as_racer) racer;
    AS_VEC(struct as_race_run) run; /* that count, in their order */
    size_t family;                  /* variants that the error is shared by */
    size_t next;                    /* of the round; 0 is base, then racers */
    unsigned round;                 /* complete ones since the last variant joined */
    unsigned base_n;
    double place, base_cost_s;
    bool is_round; /* base at its beginning has run */
};

/* `family`: variants that may ever join. */
void as_race_init(struct as_race *race, size_t family);
void as_race_fini(struct as_race *race);

/* A further variant, that runs from the next round on. Its number, or NOMEM. */
int as_race_join(struct as_race *race);
/* It runs no more: it failed, or is the same as another. */
void as_race_leave(struct as_race *race, size_t racer);

/*
 * Returns the next variant to run, with `left_s` to go; AS_RACE_END when the answer is certain or
 * the time is over. A failed run is not reported; the next call returns another one.
 */
size_t as_race_next(struct as_race *race, double left_s);
/* Adds the time of a run, and the time with all overheads. Errors: NOMEM. */
int as_race_add_run(struct as_race *race, size_t racer, double time_s, double cost_s);

/* Computes the final results, also of variants in an unfinished round. NOMEM. */
int as_race_judge(struct as_race *race);

/* The variant that is faster for certain, and most so; AS_RACE_END: none. */
size_t as_race_best(const struct as_race *race);
/* Seconds that what is still to be run will take at most, without `left_s`. */
double as_race_time_left(const struct as_race *race);

#endif
