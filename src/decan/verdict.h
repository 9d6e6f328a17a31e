/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges what limits a loop from the times of its variants: a pure function of numbers.
 * doc/reference/decan-verdicts.md has the decisions, ratios and thresholds; data/decan/verdicts.txt
 * has the values. An unknown number is NAN, a missing timing has n = 0. The verdict is unknown if
 * they leave it open.
 */
#ifndef AS_DECAN_VERDICT_H
#define AS_DECAN_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decan/decan.h"
#include "patch/variant_plan.h"
#include "predict/predict.h"

/* ---- Input: measurements of a loop, or of a bucket of its instances ------------------------- */

/* Core cycles of an iteration, without those of an empty instance. */
struct as_decan_timing {
    uint32_t n;       /* undisturbed instances; 0 if the variant did not run */
    double median;    /* cycles per iteration */
    double least;     /* minimum over instances */
    double low, high; /* interval of the median; NAN if unknown */
    double instance;  /* median cycles of a whole instance */
};

/* Rates the length of instances (colours of the paper). */
enum as_decan_reliability as_decan_reliability_of(const struct as_decan_timing *timing);
/* Returns (median - least) / least, or NAN without instances. */
double as_decan_stability(const struct as_decan_timing *timing);

/* Measured limits of a cache level or of memory for one core; NAN if unknown. */
struct as_decan_ceiling {
    double size_b;    /* size of the cache; infinite for RAM */
    double read_b;    /* bytes per cycle of loads alone */
    double write_b;   /* bytes per cycle of stores alone, as the program executes them */
    double latency;   /* cycles per load in a chain of loads, each giving the next address */
    double moving;    /* cycles per iteration to move its data from this level, by
                         as_predict_at(). NAN: computed from read_b and write_b */
    bool is_claimed;  /* a hypervisor reports size_b, and may share the cache with other machines:
                         data of that size may lie in the next level */
    bool is_doubtful; /* read_b has low confidence: the machine was busy during the measurement */
};

/* Cycles per iteration by the model of the core, with data in L1 (predict.h). */
struct as_decan_model {
    double cycles;      /* the whole loop */
    double fp_alone;    /* the arithmetic with its recurrence, without accesses */
    double arithmetic;  /* ports of arithmetic; NAN if ports of accesses are busier */
    double divide;      /* the divider, for the fastest operands */
    double load, store; /* ports of loads; ports of stores */
    double chain;       /* the longest loop-carried dependence */
    double front_end;   /* fetch, decode and rename; NAN if unknown */
    double path_n;      /* number of paths of the loop; NAN if unknown */
};

struct as_decan_measure {
    struct as_decan_timing timing[AS_VARIANT_KINDS]; /* REF, FP, LS, DL1, ...; ORIG: unpatched */
    uint32_t bits[AS_VARIANT_KINDS];                 /* enum as_variant_bit of each variant */
    double load_b, store_b; /* bytes loaded and stored by the instructions of an iteration */
    /*
     * Bytes of cache lines per iteration from a far level, each array once, by as_traffic_of().
     * NAN if strides are unknown. Indirect accesses are not included; `indirect_n` is their number
     * per iteration.
     */
    double read_b, written_b;
    double indirect_n;
    double unstepped_n;      /* direct accesses without a known stride: at most a line each */
    double footprint_b;      /* bytes of lines that an instance touches */
    double reach_b;          /* maximum bytes of lines that all instances touch; NAN if unknown */
    double flops, flop_peak; /* per iteration; maximum of the core per cycle */
    struct as_decan_model model;
    struct as_decan_ceiling level[AS_PREDICT_LEVELS];
    double line_b; /* size of a cache line */
};

/* Sets every number to unknown. */
void as_decan_measure_init(struct as_decan_measure *measure);

/* ---- Output: verdict and confidence --------------------------------------------------------- */

/* X(NAME, word, title). The experiment stores the words. */
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

/* Use of a resource: capacity, use, and their ratio. */
struct as_decan_use {
    double cap, bw, sat; /* bytes per cycle (FP: operations per cycle); the same; bw / cap */
};

struct as_decan_ratios {
    double orig_dl1;   /* ORIG / DL1, or REF / DL1 without ORIG */
    double fp_ls;      /* FP / LS */
    double saturation; /* MAX(DL1, LS) / REF */
    double orig_ref;   /* ORIG / REF: effect of restoring data and of code around variants */
    double orig_again; /* ORIG / AGAIN: effect of data that an instance before brought near */
    double ref_fes, ref_nodiv, ref_nored;
    double fp_model, dl1_model; /* FP and DL1 over the modelled cycles of the same code */
    double flops_per_cycle;
    struct as_decan_use fp, read[AS_PREDICT_LEVELS], write[AS_PREDICT_LEVELS];
    double level_sat[AS_PREDICT_LEVELS]; /* share of the time for moving data from the level */
    double in_flight[AS_PREDICT_LEVELS]; /* lines in flight if all came from the level: by
                                               J. D. C. Little, Oper. Res. 9 (1961) 383 */
};

enum as_decan_confidence { AS_DECAN_LOW, AS_DECAN_MEDIUM, AS_DECAN_HIGH };

struct as_decan_judgement {
    enum as_decan_verdict verdict;
    /* Most likely level of the data, and bounds of it. Valid for verdicts on data only. */
    enum as_predict_level level, nearest, farthest;
    enum as_decan_confidence confidence;
    struct as_decan_ratios ratio;
    enum as_variant_kind base;    /* REF or ORIG: reference of the other variants */
    enum as_variant_kind decided; /* the variant with the largest weight in the verdict */
    double gain;                  /* maximum speed-up without the cause; NAN if unknown */
    const char *doubt;            /* static text: reason of a low confidence; NULL if it is high */
    /* Bounds of `ratio` and `gain` by the intervals of the medians; 0 and infinity if unknown. */
    struct as_decan_ratios low, high;
    double gain_low, gain_high;
    enum as_variant_kind without; /* variant that gives the gain, or AS_VARIANT_KINDS */
};

void as_decan_judge(const struct as_decan_measure *measure, struct as_decan_judgement *out);

/* Writes the judgement in one or two sentences with its numbers. Returns as snprintf. */
int as_decan_explain(const struct as_decan_measure *measure,
                     const struct as_decan_judgement *judgement, char *out, size_t out_b);

#endif
