/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of many variants of a program is faster than the program as it is: who runs next, when a
 * variant is out, and what is certain of each. Knows times only, not what was varied; makes no
 * run and reads no clock.
 *
 * Runs come in rounds: base, each variant that is still in, base. A variant is held against the
 * base before and after each of its runs (base/paired.h). After 4, 6, 9, 13, ... rounds all are
 * looked at: what is certain is out, so is what cannot win any more, and of the others the slower
 * half. Where the time is too short for four rounds of all, those that look slowest go after each
 * round. The error that is allowed is shared out over the variants, those to come too, and the
 * looks.
 */
#ifndef AS_TRIAL_RACE_H
#define AS_TRIAL_RACE_H

#include <assay/trial.h>

#include "base/paired.h"
#include "base/vec.h"

/* Error of all claims of a campaign together. */
#define AS_RACE_ALPHA 0.05
/* Rounds that nobody needs more of. */
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
    /* Against base; unbounded until there is enough. Of the last look. */
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
 * Who runs next with `left_s` to go; AS_RACE_END when the answer is there or the time is over.
 * Runs that fail are not told; who asks again gets the next.
 */
size_t as_race_next(struct as_race *race, double left_s);
/* What it took, and with all around it. Errors: NOMEM. */
int as_race_take(struct as_race *race, size_t racer, double time_s, double cost_s);

/* All that is known at the end, also of variants whose round was not finished. NOMEM. */
int as_race_judge(struct as_race *race);

/* The variant that is faster for certain, and most so; AS_RACE_END: none. */
size_t as_race_best(const struct as_race *race);
/* Seconds that what is still to be run will take at most, without `left_s`. */
double as_race_time_left(const struct as_race *race);

#endif
