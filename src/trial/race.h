/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the next of many variants of a program to run, drops variants, and states which results
 * are certain. It knows times only: it runs nothing and reads no clock.
 *
 * Runs come in rounds: base, each remaining variant, base. A variant is compared with the base
 * before and after each of its runs (base/paired.h). All variants are tested after 4, 6, 9, 13, ...
 * rounds. Variants with a certain result and variants that cannot win are dropped. Then the slower
 * half of the others is dropped. If the time is too short for four rounds, the slowest are dropped
 * after each round. The allowed error is divided over all tests of all variants, later ones
 * included.
 */
#ifndef AS_TRIAL_RACE_H
#define AS_TRIAL_RACE_H

#include "base/paired.h"
#include "base/vec.h"
#include "trial/trial.h"

/* Probability that any claim of a campaign is wrong. */
#define AS_RACE_ALPHA 0.05
/* Maximum number of rounds. */
#define AS_RACE_ROUNDS_MOST 28
/* A variant has no gain if its difference from base is certainly below this, in per cent. */
#define AS_RACE_EQUAL_PCT 1

#define AS_RACE_BASE SIZE_MAX
#define AS_RACE_END  (SIZE_MAX - 1)

struct as_racer {
    bool is_in; /* still takes part in the race */
    /* dropped because it was slower or time was short; its result is not certain */
    bool is_dropped;
    unsigned run_n, look_n;
    unsigned judged_n; /* runs at the last test */
    double cost_s;     /* seconds of a run with all overheads, from the last runs */
    /* Time relative to base, from the last test; the interval is unbounded until there are
     * enough runs. */
    double ratio;
    struct as_interval interval;
    enum as_trial_verdict verdict;
};

struct as_race_run {
    size_t racer; /* index of the variant, or AS_RACE_BASE */
    double at, x;
};

struct as_race {
    AS_VEC(struct as_racer) racer;
    AS_VEC(struct as_race_run) run; /* compared runs in their order */
    size_t family;                  /* number of variants that share the allowed error */
    /* next step of the round: a variant; racer.n = the base that ends the round */
    size_t next;
    unsigned round; /* complete rounds since the last variant joined */
    unsigned base_n;
    double place, base_cost_s;
    bool is_round; /* the base run that starts the round is done */
};

/* `family`: max number of variants that may join. */
void as_race_init(struct as_race *race, size_t family);
void as_race_fini(struct as_race *race);

/* Adds a variant, which runs from the next round on. Returns its index or AS_ERR_NOMEM. */
int as_race_join(struct as_race *race);
/* Removes a variant that failed or equals another one. */
void as_race_leave(struct as_race *race, size_t racer);

/*
 * Returns the next variant to run, with `left_s` seconds left. Returns AS_RACE_END when all results
 * are certain or the time is over. A failed run need not be added: the next call returns the next
 * variant.
 */
size_t as_race_next(struct as_race *race, double left_s);
/* Adds the time of a run in seconds; `cost_s` includes all overheads. Errors: NOMEM. */
int as_race_add_run(struct as_race *race, size_t racer, double time_s, double cost_s);

/* Computes the final results, also of variants in an unfinished round. Errors: NOMEM. */
int as_race_judge(struct as_race *race);

/* Returns the variant with the largest certain gain, or AS_RACE_END if there is none. */
size_t as_race_best(const struct as_race *race);
/* Returns the max time of the remaining runs in seconds, without regard to the budget. */
double as_race_time_left(const struct as_race *race);

#endif
