/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a loop takes as long as it does, from how long its variants took: a pure function of numbers.
 * What decides, every ratio and every threshold stand in doc/reference/decan-verdicts.md;
 * thresholds are data (data/decan/verdicts.txt). It knows neither where the numbers are from nor
 * who shows them. A number that is not known is NAN, a timing that is not there has n = 0; what
 * they leave open stays open.
 */
#ifndef AS_DECAN_VERDICT_H
#define AS_DECAN_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/predict.h>

#include "patch/variant_plan.h"

/* ---- What is known of a loop, or of a bucket of its instances ---------------------------------
 */

/* Core cycles of an iteration, what an empty instance takes left out. */
struct as_decan_timing {
    uint32_t n;       /* instances that count: not switched, faulted, endless; 0: none */
    double median;    /* cycles of an iteration */
    double least;     /* of the quickest */
    double low, high; /* interval of the median; NAN: not known */
    double instance;  /* median cycles of a whole instance */
};

/* Below 250 cycles nothing is relied on, below 500 little (the paper's colours). */
enum as_decan_reliability { AS_DECAN_NONE, AS_DECAN_WEAK, AS_DECAN_RELIABLE };
enum as_decan_reliability as_decan_reliability_of(const struct as_decan_timing *timing);
/* (median - least) / least; NAN where there is none. */
double as_decan_stability(const struct as_decan_timing *timing);

/* Of a level, for one core; NAN: not known. */
struct as_decan_ceiling {
    double size_b;    /* of the cache that this machine has of it; unbounded for RAM */
    double read_b;    /* bytes a cycle, of loads alone, */
    double write_b;   /* of stores alone, as the program sees them */
    double latency;   /* cycles from a line to the one that it names */
    double moving;    /* cycles of an iteration to move what it moves from here, and nothing else:
                         assay_predict_at(). NAN: follows from read_b and write_b */
    bool is_claimed;  /* size_b is what a hypervisor says, who gives others of it: data of that size
                         may lie beyond */
    bool is_doubtful; /* read_b is of low trust: the machine was not calm when it was measured */
};

/* Cycles of an iteration by the model of the core, data in the first level (predict.h). */
struct as_decan_model {
    double cycles;      /* the answer: of the whole */
    double fp_alone;    /* of its arithmetic alone, with its chain */
    double arithmetic;  /* ports of what is computed; NAN: those of accesses are busier */
    double divide;      /* the divider, best values */
    double load, store; /* ports of loads; of stores */
    double chain;       /* the longest chain through iterations */
    double front_end;   /* what fetching and renaming takes; NAN: not known */
    double path_n;      /* of the loop; NAN: not known */
};

struct as_decan_measure {
    struct as_decan_timing timing[AS_VARIANT_KINDS]; /* REF, FP, LS, DL1, ...; ORIG: untouched */
    uint32_t bits[AS_VARIANT_KINDS];                 /* enum as_variant_bit of each */
    double load_b, store_b; /* bytes that an iteration's instructions load and store */
    /* What lines carry for an iteration whose data are far away, each array once: of
     * assay_traffic_of(), without elements whose addresses come out of memory, which are counted
     * apart. NAN: the steps of addresses are not known. */
    double read_b, written_b;
    double indirect_n;
    double unstepped_n; /* accesses that no step leads to, and no memory: a line each, at most */
    double footprint_b; /* lines that an instance touches */
    double reach_b;     /* lines that all instances touch together, at most; NAN: not known */
    double flops, flop_peak; /* of an iteration; the most that the core does in a cycle */
    struct as_decan_model model;
    struct as_decan_ceiling level[ASSAY_PREDICT_LEVELS];
    double line_b; /* of the cache */
};

/* Everything unknown. */
void as_decan_measure_init(struct as_decan_measure *measure);

/* ---- What follows -----------------------------------------------------------------------------
 */

/* X(NAME, word, title). Words are what the experiment keeps. */
#define AS_DECAN_VERDICTS(X)                                                                       \
    X(UNKNOWN, "unknown", "not decided")                                                           \
    X(COMPUTE, "compute", "compute bound")                                                         \
    X(DIVIDE, "divide", "bound by divisions")                                                      \
    X(FRONT_END, "front_end", "front-end bound")                                                   \
    X(L1, "L1", "L1 bound")                                                                        \
    X(L2, "L2", "L2 bound")                                                                        \
    X(L3, "L3", "L3 bound")                                                                        \
    X(RAM, "RAM", "RAM bound")                                                                     \
    X(BEYOND_L1, "beyond_L1", "bound by data beyond L1")                                           \
    X(STORE, "store", "bound by stores")                                                           \
    X(LATENCY, "latency", "latency bound")                                                         \
    X(CHAIN, "chain", "bound by a loop-carried dependence")                                        \
    X(BALANCED_STARVED, "balanced_starved", "balanced (back-end starvation)")                      \
    X(BALANCED_FED, "balanced_fed", "balanced (fast front-end supply)")

enum as_decan_verdict {
#define AS_DECAN_ENUM(name, word, title) AS_DECAN_##name,
    AS_DECAN_VERDICTS(AS_DECAN_ENUM)
#undef AS_DECAN_ENUM
        AS_DECAN_VERDICTS_N
};
const char *as_decan_verdict_word(enum as_decan_verdict verdict);
const char *as_decan_verdict_title(enum as_decan_verdict verdict);

/* Of bytes that lines move: what there is, what is used, their ratio. */
struct as_decan_use {
    double cap, bw, sat; /* bytes a cycle, bytes a cycle, BW / CAP; of FP: operations a cycle */
};

struct as_decan_ratios {
    double orig_dl1;   /* ORIG / DL1; REF where there is no ORIG */
    double fp_ls;      /* FP / LS */
    double saturation; /* MAX(DL1, LS) / REF */
    double orig_ref;   /* what restoring and the variants' surroundings change */
    double orig_again; /* what its data, as near as they may lie, change */
    double ref_fes, ref_nodiv, ref_nored;
    double fp_model, dl1_model; /* FP, DL1 over the model's cycles of the same */
    double flops_per_cycle;
    struct as_decan_use fp, read[ASSAY_PREDICT_LEVELS], write[ASSAY_PREDICT_LEVELS];
    double level_sat[ASSAY_PREDICT_LEVELS]; /* share of the time that moving takes from there */
    double in_flight[ASSAY_PREDICT_LEVELS]; /* lines on their way at once, were all from there: by
                                               J. D. C. Little, Oper. Res. 9 (1961) 383 */
};

enum as_decan_confidence { AS_DECAN_LOW, AS_DECAN_MEDIUM, AS_DECAN_HIGH };

struct as_decan_judgement {
    enum as_decan_verdict verdict;
    /* Where data come from, most likely; bounds. Of verdicts about data, else of no meaning. */
    enum assay_predict_level level, nearest, farthest;
    enum as_decan_confidence confidence;
    struct as_decan_ratios ratio;
    enum as_variant_kind base;    /* REF or ORIG: what variants were held to */
    enum as_variant_kind decided; /* the variant that decided most */
    double gain;                  /* times faster without the cause, at most; NAN: not known */
    const char *doubt;            /* why confidence is not high; NULL: it is. Constant */
    /* Bounds of `ratio` and `gain`, by the intervals of the medians; 0 and unbounded: not known. */
    struct as_decan_ratios low, high;
    double gain_low, gain_high;
    enum as_variant_kind without; /* the gain is to this variant; AS_VARIANT_KINDS: to none */
};

void as_decan_judge(const struct as_decan_measure *measure, struct as_decan_judgement *out);

/* The judgement in one or two sentences with its numbers; as snprintf. */
int as_decan_explain(const struct as_decan_measure *measure,
                     const struct as_decan_judgement *judgement, char *out, size_t out_b);

#endif
