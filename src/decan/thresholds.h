/* SPDX-License-Identifier: Apache-2.0 */
/* Thresholds of the judgement. data/decan/verdicts.txt has the meaning and reason of each. */
#ifndef AS_DECAN_THRESHOLDS_H
#define AS_DECAN_THRESHOLDS_H

struct as_decan_thresholds {
    double explains, supplies, warmed, apart, overlaps, load_cycles, far;
    double saturated, impossible, as_near, as_doubtful;
    double sparse, returned, unmoved, one_at_a_time;
    double near, possible, unstable, instances_few, instances_enough, cycles_weak, cycles_none,
        cycles_start;
};

extern const struct as_decan_thresholds as_decan_thresholds;

#endif
