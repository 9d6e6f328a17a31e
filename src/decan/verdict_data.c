/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges loops that are faster with data in L1: the level of their data, and whether its bandwidth
 * or its latency is the limit. Without counters two bounds give the level. Data of an instance do
 * not lie in a level that is too small for them. They are not moved faster than the level can.
 */
#include <assert.h>
#include <math.h>

#include "decan/judging.h"

/* Returns the nearest level that holds `bytes`. */
static enum as_predict_level nearest_for(const struct as_decan_measure *measure, double bytes)
{
    unsigned l = 0;
    if (isnan(bytes))
        return AS_PREDICT_L1;
    while (l < AS_PREDICT_RAM && !(bytes <= measure->level[l].size_b))
        l++;
    return (enum as_predict_level)l;
}

/*
 * Returns the nearest level that holds all bytes that instances touch. A cache that other machines
 * share does not count.
 */
static enum as_predict_level farthest_for(const struct as_decan_measure *measure)
{
    unsigned l = 0;
    while (l < AS_PREDICT_RAM &&
           !(measure->reach_b <= measure->level[l].size_b && !measure->level[l].is_claimed))
        l++;
    return (enum as_predict_level)l;
}

/* Returns the bytes that AGAIN passes twice: those of its instance, which may be a slice. */
static double gone_through_b(const struct as_decan_measure *measure)
{
    const struct as_decan_timing *again = &measure->timing[AS_VARIANT_AGAIN];
    return measure->indirect_n > 0 ? (double)NAN
                                   : (measure->read_b + measure->written_b) *
                                         as_decan_ratio_of(again->instance, again->median);
}

/*
 * Narrows the bounds of the level by AGAIN. An instance before brings its data to the nearest level
 * that holds them. If AGAIN is faster, the data were farther away. If not, they were in this level
 * already. The latter needs a level of twice the size that no other machine shares.
 */
static void narrow_by_again(const struct as_decan_measure *measure, struct as_decan_judgement *out)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    const double bytes = gone_through_b(measure), again = out->ratio.orig_again;
    const enum as_predict_level holds = nearest_for(measure, bytes);
    const struct as_decan_ceiling *level = &measure->level[holds];
    if (isnan(bytes) || isnan(again) || holds == AS_PREDICT_RAM)
        return;
    if (again >= t->returned && out->low.orig_again > t->unmoved) {
        if (out->nearest <= holds && holds < out->farthest)
            out->nearest = (enum as_predict_level)(holds + 1);
    } else if (again <= t->unmoved && holds > AS_PREDICT_L1 && !level->is_claimed &&
               2 * bytes <= level->size_b && out->nearest <= holds && holds < out->farthest) {
        out->farthest = holds;
    }
}

/* Returns the absolute logarithm of the share of the time that the level explains. */
static double log_distance(double part)
{
    return part > 0 ? fabs(log(part)) : (double)INFINITY;
}

/*
 * Returns true if moving the data from the level takes about as long as the loop. A ceiling that
 * was measured on a busy machine may give a longer time.
 */
static bool may_saturate(const struct as_decan_measure *measure,
                         const struct as_decan_judgement *of, unsigned level)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    const double sat = of->ratio.level_sat[level];
    const double most = t->impossible * (measure->level[level].is_doubtful ? t->impossible : 1);
    return sat >= t->saturated && sat <= most;
}

/*
 * Finds the levels that explain the time of a loop with streams, and the one that explains it best.
 * Returns false if there is none.
 */
static bool find_saturated(const struct as_decan_measure *measure, struct as_decan_judgement *out)
{
    const double *sat = out->ratio.level_sat;
    unsigned first = AS_PREDICT_LEVELS, last = 0, best = 0;
    for (unsigned l = out->nearest; l <= (unsigned)out->farthest; l++) {
        if (!may_saturate(measure, out, l))
            continue;
        if (first == AS_PREDICT_LEVELS)
            first = best = l;
        if (log_distance(sat[l]) < log_distance(sat[best]))
            best = l;
        last = l;
    }
    if (first == AS_PREDICT_LEVELS)
        return false;
    out->nearest = (enum as_predict_level)first;
    out->farthest = (enum as_predict_level)last;
    out->level = (enum as_predict_level)best;
    return true;
}

/* Returns true if another level explains the time as well, within the error of the ceilings. */
static bool is_ambiguous(const struct as_decan_measure *measure,
                         const struct as_decan_judgement *of)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    const double best = log_distance(of->ratio.level_sat[of->level]);
    for (unsigned l = of->nearest; l <= (unsigned)of->farthest; l++) {
        const bool is_doubtful =
            measure->level[l].is_doubtful || measure->level[of->level].is_doubtful;
        const double apart = log_distance(of->ratio.level_sat[l]) - best;
        if (l != (unsigned)of->level && may_saturate(measure, of, l) &&
            apart < (is_doubtful ? t->as_doubtful : t->as_near))
            return true;
    }
    return false;
}

/*
 * Returns the number of lines that an iteration waits for one after the other. The recurrence of
 * the model limits it by its number of loads. Several accesses may touch one line.
 */
static double waited_lines(const struct as_decan_measure *measure)
{
    const double first = measure->level[AS_PREDICT_L1].latency;
    const double chained = as_decan_ratio_of(measure->model.chain, first);
    return chained >= as_decan_thresholds.explains ? fmin(measure->indirect_n, chained)
                                                   : measure->indirect_n;
}

/* Finds the level of a chain of addresses: its latency is nearest to the time of a line. */
static bool find_waiting(const struct as_decan_measure *measure, struct as_decan_judgement *out)
{
    const double share = as_decan_ratio_of(waited_lines(measure), measure->indirect_n);
    unsigned best = out->nearest;
    for (unsigned l = out->nearest; l <= (unsigned)out->farthest; l++)
        if (log_distance(share * out->ratio.in_flight[l]) <
            log_distance(share * out->ratio.in_flight[best]))
            best = l;
    const double flying = share * out->ratio.in_flight[best];
    if (!(flying <= as_decan_thresholds.one_at_a_time &&
          flying >= 1 / as_decan_thresholds.one_at_a_time))
        return false;
    out->level = out->nearest = out->farthest = (enum as_predict_level)best;
    return true;
}

static bool is_mostly_indirect(const struct as_decan_measure *measure)
{
    return measure->indirect_n * measure->line_b > measure->read_b + measure->written_b;
}

/*
 * Excludes levels that cannot move data as fast as the loop does. A ceiling of a busy machine
 * excludes nothing.
 */
static void exclude_impossible(const struct as_decan_measure *measure,
                               struct as_decan_judgement *out)
{
    while (out->farthest > out->nearest && !measure->level[out->farthest].is_doubtful &&
           out->ratio.level_sat[out->farthest] > as_decan_thresholds.impossible)
        out->farthest--;
}

static enum as_decan_verdict verdict_of(enum as_predict_level level)
{
    static const enum as_decan_verdict of[] = {AS_DECAN_L1, AS_DECAN_L2, AS_DECAN_L3, AS_DECAN_RAM};
    assert((unsigned)level < sizeof of / sizeof *of);
    return of[level];
}

/* Returns the used share of the bandwidth of the level: 0 to 1. */
static double used_share(const struct as_decan_judgement *out)
{
    const double read = out->ratio.read[out->level].sat, write = out->ratio.write[out->level].sat;
    return (isnan(read) ? 0 : read) + (isnan(write) ? 0 : write);
}

/*
 * Returns true if the loop has accesses with computed addresses and no stride, and latency limits
 * them. That is the case if even one line for each of them is within the bandwidth of the level.
 */
static bool is_scattered(const struct as_decan_measure *measure,
                         const struct as_decan_judgement *out)
{
    const double lines_b = measure->unstepped_n * measure->line_b;
    const double cycles = as_decan_cycles_of(measure, as_decan_whole_of(measure));
    const double ceiling = measure->level[out->farthest].read_b;
    return lines_b > 0 &&
           as_decan_ratio_of(lines_b, ceiling) < as_decan_thresholds.explains * cycles;
}

/*
 * Returns true if the loop uses few bytes of each line. Ceilings of streams do not apply then,
 * since prefetchers may not know the next line or page.
 */
static bool is_sparse(const struct as_decan_measure *measure)
{
    return measure->read_b + measure->written_b >=
           as_decan_thresholds.sparse * (measure->load_b + measure->store_b);
}

/*
 * Returns true if single elements reach the bandwidth of L1 or L2, which their ports limit. In L3
 * and RAM latency limits single elements: no prefetcher knows the next one, and even the streams of
 * a core are limited by its outstanding lines.
 */
static bool carries_elements(const struct as_decan_judgement *out)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    return out->level <= AS_PREDICT_L2 &&
           used_share(out) >= (out->level == AS_PREDICT_L1 ? t->saturated : t->explains);
}

void as_decan_judge_data(const struct as_decan_measure *measure, struct as_decan_judgement *out)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    const bool is_indirect = is_mostly_indirect(measure);
    out->nearest = nearest_for(measure, measure->footprint_b);
    out->farthest = farthest_for(measure);
    if (out->farthest < out->nearest)
        out->farthest = out->nearest;
    narrow_by_again(measure, out);
    out->level = out->nearest;
    if (is_indirect && find_waiting(measure, out)) {
        out->verdict = AS_DECAN_LATENCY;
        return;
    }
    if (isnan(measure->read_b + measure->written_b)) {
        if (is_scattered(measure, out)) {
            out->verdict = AS_DECAN_LATENCY;
            return;
        }
        out->verdict = out->nearest == out->farthest ? verdict_of(out->level) : AS_DECAN_BEYOND_L1;
        return;
    }
    exclude_impossible(measure, out);
    const enum as_predict_level nearest = out->nearest, farthest = out->farthest;
    const bool bounds_alone = nearest != farthest && is_sparse(measure);
    if (find_saturated(measure, out)) {
        if (!is_indirect && (is_ambiguous(measure, out) || bounds_alone)) {
            out->nearest = bounds_alone ? nearest : out->nearest;
            out->farthest = bounds_alone ? farthest : out->farthest;
            out->verdict = AS_DECAN_BEYOND_L1;
            return;
        }
        const bool is_wide = !is_indirect || carries_elements(out);
        out->verdict = is_wide ? verdict_of(out->level) : AS_DECAN_LATENCY;
        return;
    }
    if (isnan(out->ratio.level_sat[out->level])) {
        out->verdict = out->nearest == out->farthest ? verdict_of(out->level) : AS_DECAN_BEYOND_L1;
        return;
    }
    if (!(out->ratio.level_sat[out->farthest] < t->saturated)) {
        out->verdict =
            out->nearest == out->farthest ? verdict_of(out->nearest) : AS_DECAN_BEYOND_L1;
        return;
    }
    if (!is_indirect && bounds_alone) {
        out->verdict = AS_DECAN_BEYOND_L1;
        return;
    }
    /* The loop is slower than the streams of any level, and than its arithmetic. Latency limits
     * single elements. A loop with strides is slower than other streams of its level. */
    out->verdict = is_indirect ? AS_DECAN_LATENCY : verdict_of(out->farthest);
    out->level = is_indirect ? out->level : out->farthest;
    if (!is_indirect) {
        out->doubt = "streams of that level were measured to be faster";
        out->confidence = AS_DECAN_LOW;
    }
}
