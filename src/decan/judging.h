/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the judgement share. */
#ifndef AS_DECAN_JUDGING_H
#define AS_DECAN_JUDGING_H

#include "decan/thresholds.h"
#include "decan/verdict.h"

/* NAN where the divisor is none. */
double as_decan_ratio_of(double a, double b);
/* NAN where it did not run. */
double as_decan_cycles_of(const struct as_decan_measure *measure, enum as_variant_kind kind);
/* Which of its times: the median, or an end of its interval. */
enum as_decan_end { AS_DECAN_AT_LOW = -1, AS_DECAN_AT_MEDIAN, AS_DECAN_AT_HIGH };
/* Times of a over times of b: at the upper end that is a's upper over b's lower one. */
double as_decan_over(const struct as_decan_measure *measure, enum as_variant_kind a,
                     enum as_variant_kind b, enum as_decan_end end);
/* What REF and ORIG stand for where they did not run: each other. So does ORIG where REF takes far
 * longer: what ran before it slowed it (copies, a pause of wide vectors), and variants that store
 * nothing have nothing before them. */
enum as_variant_kind as_decan_base_of(const struct as_decan_measure *measure);
enum as_variant_kind as_decan_whole_of(const struct as_decan_measure *measure);
void as_decan_fill_ratios(const struct as_decan_measure *measure, enum as_decan_end end,
                          struct as_decan_ratios *out);

/* Where data come from, and whether the way there is what takes long or its width. `out` has its
 * ratios already. */
void as_decan_judge_data(const struct as_decan_measure *measure, struct as_decan_judgement *out);
/* Lowers the confidence to `to`, and says why unless something else said so before. */
void as_decan_trust_at_most(struct as_decan_judgement *out, enum as_decan_confidence to,
                            const char *why);
/* How far to trust it: of what is decided. */
void as_decan_judge_trust(const struct as_decan_measure *measure, struct as_decan_judgement *out);

#endif
