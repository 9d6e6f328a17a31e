/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differential analysis of hot loops: their time without arithmetic, without memory accesses, with
 * all data in L1, and others, measured in the running program (doc/manual/decan.md). The program is
 * profiled first to find its hot loops. Then it runs again, and some instances run as a variant
 * before they run unchanged.
 */
#ifndef AS_DECAN_DECAN_H
#define AS_DECAN_DECAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "campaign/campaign.h"
#include "experiment/experiment.h"
#include "profile/profile.h"

struct as_decan_request {
    struct as_profile_request profile; /* its command runs again */
    unsigned top;                      /* so many loops of most time; 0: 16 */
    const char *loops;    /* only these: numbers of the experiment, addresses (0x...), functions, by
                             commas; or NULL */
    const char *variants; /* names, by commas; NULL: all. `orig` and `ref` are always there */
    double max_overhead;  /* of its time that variants may add to a run; 0: 1 */
    unsigned runs;        /* at most so many, while instances are lacking; 0: 2 */
    unsigned instances;   /* of each variant, bucket and thread; 0: 31 */
    bool together;        /* threads in a loop run the same variant at once; else one at a time */
};

/* Cycles are those of a busy core, what an empty instance takes left out. */
enum as_decan_reliability {
    AS_DECAN_UNRELIABLE, /* instances below 250 cycles */
    AS_DECAN_WEAK,       /* below 500 */
    AS_DECAN_RELIABLE
};

struct as_decan_measured {
    unsigned kind;       /* the variant: as_variant_kind */
    const char *variant; /* its name, "dl1": constant */
    const char *reason;  /* why there is none of it; NULL: there is. Constant */
    uint32_t n;          /* instances that count */
    uint32_t disturbed;  /* left out: the thread left the CPU, or they took far longer */
    uint32_t ended;      /* left out: by a fault, or their time was up */
    double median, least, low, high; /* cycles of an iteration; low, high: of the median, or NAN */
    double stability;                /* (median - least) / least */
    double iterations;               /* of an instance, on average */
    double instance;                 /* median cycles of an instance */
    double instance_low, instance_high;
    double speedup; /* how many times as fast as the reference; NAN: not known */
    enum as_decan_reliability reliability;
    bool decides; /* its branches depend on memory, which it reads */
    bool chains;  /* it does without loads that addresses depend on */
};

/* Columns of a loop, in the order of data/decan/metrics.txt, where each is explained. */
#define AS_DECAN_TAKES_MOST   16
#define AS_DECAN_COLUMNS_MOST 64
#define AS_DECAN_TEXT_B       600

/* Instances with like numbers of iterations. */
struct as_decan_bucket {
    double low, high; /* iterations: at least, less than */
    double iterations;
    double share; /* of the loop's time; NAN: not known */
    struct as_decan_measured take[AS_DECAN_TAKES_MOST];
    size_t take_n;
    double column[AS_DECAN_COLUMNS_MOST]; /* NAN: not known */
    /* 95 % interval of each, by those of the medians; 0 and unbounded where that is not known. NAN:
     * it has none, being counted or a word. */
    double column_low[AS_DECAN_COLUMNS_MOST], column_high[AS_DECAN_COLUMNS_MOST];
    uint32_t column_n[AS_DECAN_COLUMNS_MOST]; /* instances: of the variant that has fewest */
    const char *verdict, *title;              /* "RAM", "RAM bound": constant */
    const char *confidence, *doubt;           /* "high"; why it is not, or NULL: constant */
    char text[AS_DECAN_TEXT_B];               /* in a sentence or two, with numbers */
};

struct as_decan_loop {
    int64_t loop_id, module_id; /* in the experiment */
    uint64_t address;
    double share;       /* of the run's time, by its samples */
    const char *reason; /* why nothing was measured; NULL: something was. Constant */
    uint32_t held, wide, faulted, endless; /* instances that could not run so */
    uint32_t threads;                      /* that ran variants */
    double gained; /* share of the loop's time that goes at most with data in L1; NAN */
    struct as_decan_bucket *bucket;
    size_t bucket_n;
    size_t main; /* the bucket with most of the loop's time */
};

struct as_decan_result {
    struct as_profile_result profile; /* of the first run */
    struct as_profile_result varied;  /* of the last one with variants; run_id 0: there is none */
    bool interrupted; /* the user asked for the end (Ctrl-C, SIGTERM) of one of the runs */
    bool differs;     /* a run with variants ended otherwise than the first */
    unsigned runs;    /* with variants */
    double spent;     /* share of their time that variants took, with what they need */
    double cycle_ns;  /* a cycle of the core's clock took so long */
    double slowdown;  /* CPU time of the first of them relative to the first run; 0: unknown */
    bool together;    /* was asked for: */
    double met;       /* share of the instances that ran while other threads ran the same */
    double team;      /* so many threads at once, on average of these; 0: none met */
    uint64_t lost;    /* records for which there was no room */
    uint64_t threads_missed, damaged;
    double refused_share; /* of the time of all loops chosen */
    unsigned wanted;      /* instances of each variant */
    struct as_decan_loop *loop;
    size_t loop_n;
};

/* Metric of a column of a bucket, by number; NULL: there are no more. Borrowed. */
const struct as_metric *as_decan_column(size_t number);
/* A variant by number, from 0: its name, in `title` what it is; NULL: there are no more. The first
 * is `orig`, the second `ref`. Constant. */
const char *as_decan_variant(unsigned number, const char **title);
/* Returns 0 if all words of a list are variants. Errors: USAGE, with the known variants. */
int as_decan_check_variants(const char *list, struct as_error *err);

/*
 * Measures the hot loops of run `run_id`, which has a profile, and writes the results to the
 * experiment. `campaign` starts the program again. A failing program ends the pass without error:
 * see the result. The caller frees the result, even after errors. Errors: those of
 * as_profile_run, USAGE (loops that are not hot, unknown variants), UNSUPPORTED (input that
 * cannot be read again).
 */
int as_decan_again(struct as_experiment *experiment, int64_t run_id, struct as_campaign *campaign,
                   const struct as_decan_request *request, struct as_decan_result *result,
                   struct as_error *err);
void as_decan_result_fini(struct as_decan_result *result);

#endif
