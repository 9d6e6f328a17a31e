/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The race of variants; see race.h. doc/internals/compare.md describes its statistics. The order of
 * runs is successive halving (Z. Karnin, T. Koren, O. Somekh, ICML 2013). Claims rest on intervals
 * only: a dropped variant makes no claim.
 */
#include "trial/race.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/ranks.h"

/* Rounds before the first test. */
#define ROUNDS_FEWEST 4
/* Mean number of runs of a variant before the first test, if time is short. */
#define FIRST_ROUNDS 1.75
/* A gain needs no more runs if half of its interval is below this share of the gain or the time. */
#define GAIN_KNOWN 0.15
#define TIME_KNOWN 0.004

/* If a slowdown beyond this factor is possible, nothing is known yet: few runs give Student's t
 * no information. */
#define SLOWER_MOST 100

void as_race_init(struct as_race *race, size_t family)
{
    *race = (struct as_race){.family = family ? family : 1};
}

void as_race_fini(struct as_race *race)
{
    as_vec_fini(&race->racer);
    as_vec_fini(&race->run);
}

int as_race_join(struct as_race *race)
{
    const struct as_racer racer = {
        .is_in = true, .ratio = NAN, .interval = {0, INFINITY}, .cost_s = race->base_cost_s};

    if (as_vec_push(&race->racer, racer) < 0)
        return AS_ERR_NOMEM;
    race->round = 0;
    return (int)race->racer.n - 1;
}

void as_race_leave(struct as_race *race, size_t racer)
{
    assert(racer < race->racer.n);
    race->racer.at[racer].is_in = false;
}

int as_race_add_run(struct as_race *race, size_t racer, double time_s, double cost_s)
{
    const struct as_race_run run = {racer, race->place++, time_s};

    if (racer == AS_RACE_BASE) {
        race->base_n++;
        race->base_cost_s = cost_s;
    } else {
        race->racer.at[racer].run_n++;
        race->racer.at[racer].cost_s = cost_s;
    }
    return as_vec_push(&race->run, run) < 0 ? AS_ERR_NOMEM : 0;
}

static size_t still_in(const struct as_race *race)
{
    size_t n = 0;
    as_vec_foreach (&race->racer, it)
        n += it->is_in;
    return n;
}

static double round_cost(const struct as_race *race)
{
    double sum = race->base_cost_s;
    as_vec_foreach (&race->racer, it)
        sum += it->is_in ? it->cost_s : 0;
    return sum;
}

/* ---- Tests --------------------------------------------------------------------------------- */

static int compare_with_base(struct as_race *race, size_t racer, struct as_paired *out)
{
    struct as_turn *turn = as_calloc(race->run.n + 1, sizeof *turn);
    size_t n = 0;

    if (!turn)
        return AS_ERR_NOMEM;
    as_vec_foreach (&race->run, run)
        if (run->racer == racer || run->racer == AS_RACE_BASE)
            turn[n++] = (struct as_turn){run->at, run->x, run->racer == racer};
    const int rc = as_paired_of(turn, n, out);
    as_free(turn);
    return rc;
}

static bool is_near_one(double ratio)
{
    return fabs(ratio - 1) <= AS_RACE_EQUAL_PCT / 100.0;
}

static enum as_trial_verdict verdict_of(const struct as_racer *it)
{
    if (isinf(it->interval.high) || it->run_n < ROUNDS_FEWEST)
        return AS_TRIAL_OPEN;
    if (it->interval.high < 1)
        return AS_TRIAL_GAIN;
    return it->interval.low > 1 ? AS_TRIAL_HARM : AS_TRIAL_NONE;
}

/* Lists the logarithms of the runs of a variant. For base, lists the runs from the one before
 * the variant's first run to the one after its last. */
static void list_logs(const struct as_race *race, size_t racer, double *base, size_t *base_n,
                      double *own, size_t *own_n)
{
    size_t first = 0, last = 0;

    *base_n = *own_n = 0;
    for (size_t i = 0; i < race->run.n; i++) {
        if (race->run.at[i].racer != racer)
            continue;
        first = *own_n ? first : i;
        last = i;
        own[(*own_n)++] = log(race->run.at[i].x);
    }
    while (first > 0 && race->run.at[first].racer != AS_RACE_BASE)
        first--;
    while (last + 1 < race->run.n && race->run.at[last].racer != AS_RACE_BASE)
        last++;
    for (size_t i = first; i <= last; i++)
        if (race->run.at[i].racer == AS_RACE_BASE)
            base[(*base_n)++] = log(race->run.at[i].x);
}

/*
 * Narrows the interval with a rank test, which outliers hardly move. If the two intervals overlap,
 * their intersection counts. Each interval has half of the allowed error.
 */
static int narrow_by_ranks(const struct as_race *race, size_t number, double alpha,
                           struct as_racer *it)
{
    const size_t n = race->run.n;
    double *base = as_calloc(2 * n + n * n / 4 + 1, sizeof *base), *own = base + n;
    struct as_interval shift;
    size_t base_n, own_n;

    if (!base)
        return AS_ERR_NOMEM;
    list_logs(race, number, base, &base_n, own, &own_n);
    if (base_n && own_n) {
        const double middle = as_ranks_shift(base, base_n, own, own_n, alpha, own + n, &shift);
        const struct as_interval both = {fmax(it->interval.low, exp(shift.low)),
                                         fmin(it->interval.high, exp(shift.high))};
        if (both.low <= both.high)
            it->interval = both;
        it->ratio = fmin(fmax(exp(middle), it->interval.low), it->interval.high);
    }
    as_free(base);
    return 0;
}

/* Tests a variant if it has new runs. Each test uses a part of the variant's allowed error. */
static int judge_racer(struct as_race *race, size_t number)
{
    struct as_racer *it = &race->racer.at[number];
    struct as_paired paired;
    double p;

    if (it->judged_n == it->run_n)
        return 0;
    if (compare_with_base(race, number, &paired) < 0)
        return AS_ERR_NOMEM;
    if (isinf(paired.variance))
        return 0;
    it->judged_n = it->run_n;
    it->ratio = exp(paired.difference);
    const double alpha = as_look_alpha(AS_RACE_ALPHA / (double)race->family, ++it->look_n);
    as_paired_interval(&paired, alpha / 2, &it->interval, &p);
    if (narrow_by_ranks(race, number, alpha / 2, it) < 0)
        return AS_ERR_NOMEM;
    if (it->interval.high > SLOWER_MOST && it->interval.low <= 1)
        it->interval = (struct as_interval){0, INFINITY};
    it->verdict = verdict_of(it);
    return 0;
}

int as_race_judge(struct as_race *race)
{
    for (size_t i = 0; i < race->racer.n; i++)
        if (race->racer.at[i].is_in && judge_racer(race, i) < 0)
            return AS_ERR_NOMEM;
    return 0;
}

size_t as_race_best(const struct as_race *race)
{
    size_t best = AS_RACE_END;
    for (size_t i = 0; i < race->racer.n; i++) {
        const struct as_racer *it = &race->racer.at[i];
        if (it->verdict == AS_TRIAL_GAIN &&
            (best == AS_RACE_END || it->ratio < race->racer.at[best].ratio))
            best = i;
    }
    return best;
}

/* ---- Dropping variants --------------------------------------------------------------------- */

static bool is_known_well(const struct as_racer *it)
{
    const double half = (it->interval.high - it->interval.low) / 2;
    return half <= TIME_KNOWN || half <= GAIN_KNOWN * fabs(1 - it->ratio);
}

/* Returns true if more runs cannot help: a harm, no effect, or a gain that is known well. */
static bool is_settled(const struct as_racer *it)
{
    if (it->verdict == AS_TRIAL_HARM)
        return true;
    if (is_near_one(it->interval.low) && is_near_one(it->interval.high))
        return true;
    return it->verdict == AS_TRIAL_GAIN && is_known_well(it);
}

/* Returns true if the variant is certainly slower than the best one. */
static bool cannot_win(const struct as_race *race, const struct as_racer *it)
{
    const size_t best = as_race_best(race);
    return best != AS_RACE_END && it != &race->racer.at[best] && it->verdict != AS_TRIAL_OPEN &&
           it->interval.low > race->racer.at[best].interval.high;
}

static int by_ratio(const void *a, const void *b, void *context)
{
    const struct as_race *race = context;
    const struct as_racer *x = &race->racer.at[*(const size_t *)a],
                          *y = &race->racer.at[*(const size_t *)b];
    const double p = isnan(x->ratio) ? 1 : x->ratio, q = isnan(y->ratio) ? 1 : y->ratio;
    return (p > q) - (p < q);
}

/* Drops all but the `keep` fastest variants; variants with a certain gain stay. */
static int drop_slowest(struct as_race *race, size_t keep)
{
    size_t *order = as_calloc(race->racer.n + 1, sizeof *order), n = 0;

    if (!order)
        return AS_ERR_NOMEM;
    for (size_t i = 0; i < race->racer.n; i++)
        if (race->racer.at[i].is_in)
            order[n++] = i;
    qsort_r(order, n, sizeof *order, by_ratio, race);
    for (size_t i = keep; i < n; i++) {
        struct as_racer *it = &race->racer.at[order[i]];
        if (it->verdict == AS_TRIAL_GAIN)
            continue;
        it->is_in = false;
        it->is_dropped = true;
    }
    as_free(order);
    return 0;
}

static int look_at_all(struct as_race *race)
{
    if (as_race_judge(race) < 0)
        return AS_ERR_NOMEM;
    const size_t before = still_in(race);
    as_vec_foreach (&race->racer, it)
        if (it->is_in && (is_settled(it) || cannot_win(race, it)))
            it->is_in = false;
    if (race->round >= AS_RACE_ROUNDS_MOST)
        return drop_slowest(race, 0);
    return still_in(race) > before / 2 ? drop_slowest(race, (before + 1) / 2) : 0;
}

/* Drops the slowest variants if the time does not suffice for four rounds. */
static int fit_in_time(struct as_race *race, double left_s)
{
    if (race->round >= ROUNDS_FEWEST || still_in(race) < 2)
        return 0;
    const double rounds = ROUNDS_FEWEST - race->round;
    const double fits = (left_s / rounds - race->base_cost_s) /
                        ((round_cost(race) - race->base_cost_s) / (double)still_in(race));
    if (fits >= (double)still_in(race))
        return 0;
    for (size_t i = 0; i < race->racer.n; i++) {
        struct as_paired paired;
        if (!race->racer.at[i].is_in || race->racer.at[i].run_n == 0)
            continue;
        if (compare_with_base(race, i, &paired) < 0)
            return AS_ERR_NOMEM;
        race->racer.at[i].ratio = exp(paired.difference);
    }
    return drop_slowest(race, fits < 1 ? 1 : (size_t)fits);
}

/*
 * Drops the last variants before the first run if the time is too short; the list is sorted by
 * promise. The variants that stay share four rounds; a quarter of them takes part in the last
 * three.
 */
static void fit_at_start(struct as_race *race, double left_s)
{
    const double base_s = (ROUNDS_FEWEST + 1) * race->base_cost_s;
    double used_s = 0;

    if (race->base_cost_s <= 0)
        return;
    as_vec_foreach (&race->racer, it) {
        used_s += it->is_in ? FIRST_ROUNDS * it->cost_s : 0;
        if (it->is_in && used_s + base_s > left_s && used_s > FIRST_ROUNDS * it->cost_s)
            it->is_in = false;
    }
}

/* Ends a round after its last base run: tests the variants, or drops those that do not fit. */
static int end_round(struct as_race *race, double left_s)
{
    bool is_look;

    race->round++;
    race->next = 0;
    (void)as_look_number(race->round, &is_look);
    if (is_look || race->round >= AS_RACE_ROUNDS_MOST)
        return look_at_all(race);
    return fit_in_time(race, left_s);
}

/* ---- Next variant -------------------------------------------------------------------------- */

size_t as_race_next(struct as_race *race, double left_s)
{
    if (!race->is_round) {
        fit_at_start(race, left_s);
        race->is_round = true;
        race->next = 0;
        return AS_RACE_BASE;
    }
    for (; race->next < race->racer.n; race->next++) {
        const struct as_racer *it = &race->racer.at[race->next];
        if (it->is_in && it->cost_s + race->base_cost_s > left_s)
            return AS_RACE_END;
        if (it->is_in)
            return race->next++;
    }
    if (race->next == race->racer.n && still_in(race)) {
        race->next++;
        return AS_RACE_BASE;
    }
    if (!still_in(race) || end_round(race, left_s) < 0 || !still_in(race))
        return AS_RACE_END;
    return as_race_next(race, left_s);
}

/* The missing rounds up to four cost full rounds. Later tests halve the field each time, so two
 * more rounds cover all of them. */
double as_race_time_left(const struct as_race *race)
{
    const double cost = round_cost(race);
    if (!still_in(race))
        return 0;
    return race->round < ROUNDS_FEWEST ? (ROUNDS_FEWEST - race->round + 2) * cost : 2 * cost;
}
