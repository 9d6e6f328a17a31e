/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of a loop that is faster with its data in the first level: which level they come from, and
 * whether its bandwidth or its latency is what takes long. Without counters that follows from what
 * an instance touches, which lies in no nearer level than in the one that holds it, and from how
 * fast it is moved, which is no faster than the level can.
 */
#include <math.h>

#include "decan/judging.h"

/* The nearest that holds so many bytes, where they are that many. */
static enum assay_predict_level nearest_for(const struct as_decan_measure *measure, double bytes)
{
    unsigned l = 0;
    if (isnan(bytes))
        return ASSAY_PREDICT_L1;
    while (l < ASSAY_PREDICT_RAM && !(bytes <= measure->level[l].size_b))
        l++;
    return (enum assay_predict_level)l;
}

/* The nearest that holds all that is ever touched. A cache of which others have their part need not
 * do so. */
static enum assay_predict_level farthest_for(const struct as_decan_measure *measure)
{
    unsigned l = 0;
    while (l < ASSAY_PREDICT_RAM &&
           !(measure->reach_b <= measure->level[l].size_b && !measure->level[l].is_claimed))
        l++;
    return (enum assay_predict_level)l;
}

/* What AGAIN went through twice: an instance of its own, which may be a slice of others. */
static double gone_through_b(const struct as_decan_measure *measure)
{
    const struct as_decan_timing *again = &measure->timing[AS_VARIANT_AGAIN];
    return measure->indirect_n > 0 ? (double)NAN
                                   : (measure->read_b + measure->written_b) *
                                         as_decan_ratio_of(again->instance, again->median);
}

/* Data that were gone through once lie in the nearest level that holds them: who is faster there
 * had them farther away. Who is not had them there, where the level holds them with ease and is
 * nobody else's. Bounds become nearer to each other; no ceiling is needed for that. */
static void narrow_by_again(const struct as_decan_measure *measure, struct as_decan_judgement *out)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    const double bytes = gone_through_b(measure), again = out->ratio.orig_again;
    const enum assay_predict_level holds = nearest_for(measure, bytes);
    const struct as_decan_ceiling *level = &measure->level[holds];
    if (isnan(bytes) || isnan(again) || holds == ASSAY_PREDICT_RAM)
        return;
    if (again >= t->returned && out->low.orig_again > t->unmoved) {
        if (out->nearest <= holds && holds < out->farthest)
            out->nearest = (enum assay_predict_level)(holds + 1);
    } else if (again <= t->unmoved && holds > ASSAY_PREDICT_L1 && !level->is_claimed &&
               2 * bytes <= level->size_b && out->nearest <= holds && holds < out->farthest) {
        out->farthest = holds;
    }
}

/* How far the time is from what the level explains; logarithm. */
static double log_distance(double part)
{
    return part > 0 ? fabs(log(part)) : (double)INFINITY;
}

/* Whether moving from there takes about as long as the loop; longer, where a busy machine said so.
 */
static bool may_saturate(const struct as_decan_measure *measure,
                         const struct as_decan_judgement *of, unsigned level)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    const double sat = of->ratio.level_sat[level];
    const double most = t->impossible * (measure->level[level].is_doubtful ? t->impossible : 1);
    return sat >= t->saturated && sat <= most;
}

/* Of streams: levels from which moving takes about as long as the loop, and the one that is nearest
 * to that. False: none is. */
static bool find_saturated(const struct as_decan_measure *measure, struct as_decan_judgement *out)
{
    const double *sat = out->ratio.level_sat;
    unsigned first = ASSAY_PREDICT_LEVELS, last = 0, best = 0;
    for (unsigned l = out->nearest; l <= (unsigned)out->farthest; l++) {
        if (!may_saturate(measure, out, l))
            continue;
        if (first == ASSAY_PREDICT_LEVELS)
            first = best = l;
        if (log_distance(sat[l]) < log_distance(sat[best]))
            best = l;
        last = l;
    }
    if (first == ASSAY_PREDICT_LEVELS)
        return false;
    out->nearest = (enum assay_predict_level)first;
    out->farthest = (enum assay_predict_level)last;
    out->level = (enum assay_predict_level)best;
    return true;
}

/* Whether another level explains the time as well, by as much as ceilings are known. */
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

/* Lines of which an iteration waits for one after the other: of those that it moves no more than
 * the model's chain has loads of the first level. Several accesses may be to one line. */
static double waited_lines(const struct as_decan_measure *measure)
{
    const double first = measure->level[ASSAY_PREDICT_L1].latency;
    const double chained = as_decan_ratio_of(measure->model.chain, first);
    return chained >= as_decan_thresholds.explains ? fmin(measure->indirect_n, chained)
                                                   : measure->indirect_n;
}

/* Of one address after another: the level whose latency is nearest to what a line takes. */
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
    out->level = out->nearest = out->farthest = (enum assay_predict_level)best;
    return true;
}

static bool is_mostly_indirect(const struct as_decan_measure *measure)
{
    return measure->indirect_n * measure->line_b > measure->read_b + measure->written_b;
}

/* Of levels that move faster than was seen, the nearest that is not excluded by that. What was seen
 * on a busy machine excludes nothing. */
static void exclude_impossible(const struct as_decan_measure *measure,
                               struct as_decan_judgement *out)
{
    while (out->farthest > out->nearest && !measure->level[out->farthest].is_doubtful &&
           out->ratio.level_sat[out->farthest] > as_decan_thresholds.impossible)
        out->farthest--;
}

static enum as_decan_verdict verdict_of(enum assay_predict_level level)
{
    static const enum as_decan_verdict of[] = {AS_DECAN_L1, AS_DECAN_L2, AS_DECAN_L3, AS_DECAN_RAM};
    return of[level];
}

/* Share of what the level can move in whole lines, wherever they lie. */
static double used_share(const struct as_decan_judgement *out)
{
    const double read = out->ratio.read[out->level].sat, write = out->ratio.write[out->level].sat;
    return (isnan(read) ? 0 : read) + (isnan(write) ? 0 : write);
}

/* Accesses that no step leads to, by addresses that are computed: each is a line at most. Where
 * even so many lines are no more than the level's bandwidth carries, what they wait for is the way.
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

/* Of lines hardly anything is used: what was measured of streams, which use all, says little of how
 * fast they come (neither the next line nor the next page need be known before). */
static bool is_sparse(const struct as_decan_measure *measure)
{
    return measure->read_b + measure->written_b >=
           as_decan_thresholds.sparse * (measure->load_b + measure->store_b);
}

/* Elements here and there are waited for, however many at once: no prefetcher knows the next, and
 * what one core's streams move from L3 and memory is no more than the lines that it may wait for
 * give. The nearer levels are as wide as their ports. */
static bool carries_elements(const struct as_decan_judgement *out)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    return out->level <= ASSAY_PREDICT_L2 &&
           used_share(out) >= (out->level == ASSAY_PREDICT_L1 ? t->saturated : t->explains);
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
    const enum assay_predict_level nearest = out->nearest, farthest = out->farthest;
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
    /* Slower than any level's streams, and more than arithmetic explains. Elements here and there
     * are waited for; what goes by steps is fetched ahead, and slower than others of its level. */
    out->verdict = is_indirect ? AS_DECAN_LATENCY : verdict_of(out->farthest);
    out->level = is_indirect ? out->level : out->farthest;
    if (!is_indirect) {
        out->doubt = "streams of that level were measured to be faster";
        out->confidence = AS_DECAN_LOW;
    }
}
