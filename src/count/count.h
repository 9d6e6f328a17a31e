/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts what loops and functions of a running program execute, exactly: instructions by class,
 * floating-point and integer operations, bytes loaded and stored. Clones inside the program count
 * the executions of each block; these are multiplied by the instructions of the block. Masks and
 * repetitions are counted at run time (doc/manual/count.md).
 */
#ifndef AS_COUNT_COUNT_H
#define AS_COUNT_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "campaign/campaign.h"
#include "catalogue/catalogue.h"
#include "experiment/experiment.h"
#include "profile/profile.h"

/* X(NAME, word): what is counted, in the order and by the names of data/count/metrics.txt, where
 * each is explained. */
#define AS_COUNT_LIST(X)                                                                           \
    X(START, "executed_start_n")                                                                   \
    X(INSTRUCTION, "executed_instruction_n")                                                       \
    X(FLOP, "executed_flop_n")                                                                     \
    X(FLOP_F32, "executed_flop_f32_n")                                                             \
    X(FLOP_F64, "executed_flop_f64_n")                                                             \
    X(FLOP_PACKED, "executed_flop_packed_n")                                                       \
    X(INT_OP, "executed_int_op_n")                                                                 \
    X(LOAD_B, "executed_load_b")                                                                   \
    X(STORE_B, "executed_store_b")                                                                 \
    X(LOAD, "executed_load_n")                                                                     \
    X(STORE, "executed_store_n")                                                                   \
    X(FP_SCALAR_F32, "executed_fp_scalar_f32_n")                                                   \
    X(FP_SCALAR_F64, "executed_fp_scalar_f64_n")                                                   \
    X(FP_PACKED_F32, "executed_fp_packed_f32_n")                                                   \
    X(FP_PACKED_F64, "executed_fp_packed_f64_n")                                                   \
    X(FP_OTHER, "executed_fp_other_n")                                                             \
    X(FMA, "executed_fma_n")                                                                       \
    X(DIVIDE, "executed_divide_n")                                                                 \
    X(INT, "executed_int_n")                                                                       \
    X(INT_PACKED, "executed_int_packed_n")                                                         \
    X(BRANCH, "executed_branch_n")                                                                 \
    X(CALL, "executed_call_n")                                                                     \
    X(GATHER, "executed_gather_n")                                                                 \
    X(MASKED, "executed_masked_n")                                                                 \
    X(REPEAT, "executed_repeat_n")                                                                 \
    X(UNSURE, "executed_unsure_n")

enum as_executed {
#define AS_COUNT_ENUM(name, word) AS_COUNT_##name,
    AS_COUNT_LIST(AS_COUNT_ENUM)
#undef AS_COUNT_ENUM
        AS_COUNTS
};
const char *as_count_word(unsigned count);

/* X(NAME, word): traffic of levels, in the order and by the names of data/count/traffic.txt. */
#define AS_TRAFFIC_LIST(X)                                                                         \
    X(L2_L1, "bytes_l2_l1")                                                                        \
    X(L3_L2, "bytes_l3_l2")                                                                        \
    X(MEMORY, "bytes_memory")                                                                      \
    X(STREAMED, "bytes_streamed")                                                                  \
    X(L1_IN, "lines_l1_in_n")                                                                      \
    X(L2_IN, "lines_l2_in_n")                                                                      \
    X(L3_IN, "lines_l3_in_n")                                                                      \
    X(L1_OUT, "lines_l1_out_n")                                                                    \
    X(L2_OUT, "lines_l2_out_n")                                                                    \
    X(L3_OUT, "lines_l3_out_n")

enum as_traffic_value {
#define AS_TRAFFIC_ENUM(name, word) AS_TRAFFIC_##name,
    AS_TRAFFIC_LIST(AS_TRAFFIC_ENUM)
#undef AS_TRAFFIC_ENUM
        AS_TRAFFICS
};
const char *as_traffic_word(unsigned value);

enum {
    AS_COUNT_LEVELS = 3,        /* of caches, at most */
    AS_COUNT_CURVE = 16,        /* cache sizes of a curve, each twice the one before */
    AS_COUNT_CURVE_B = 16 << 10 /* the first */
};

/*
 * Bytes between levels of the memory hierarchy, both ways. Recorded addresses were replayed through
 * a model of the caches. Lines that hardware prefetchers bring in vain are not
 * included. Bytes that the model does not have are NAN.
 */
struct as_count_traffic {
    bool is_known;
    unsigned levels;
    double bytes_l2_l1, bytes_l3_l2, bytes_memory;
    double line_in_n[AS_COUNT_LEVELS];  /* lines that came into a level */
    double line_out_n[AS_COUNT_LEVELS]; /* changed lines that left it */
    double stream_b;                    /* non-temporal stores; in bytes_memory */
    /* Bytes that come in from behind a fully associative cache of AS_COUNT_CURVE_B << i. */
    double curve_b[AS_COUNT_CURVE];
    double covered; /* share of the accesses that was replayed */
    double error;   /* relative, of the bytes: half the width of the interval of 95 % */
    double replayed_n, expected_n, event_n;
};

/* Reads the sizes of a text of caches, as `--caches` takes it; 0: no such level. Errors: USAGE. */
int as_count_caches(const char *text, uint64_t size_b[AS_COUNT_LEVELS], struct as_error *err);

/* By enum as_traffic_value; NAN for what is not known. */
void as_traffic_values(const struct as_count_traffic *traffic, double out[AS_TRAFFICS]);

/* A loop with those in it, or a function with its loops; without what it calls. */
struct as_count_object {
    enum as_object_kind kind; /* LOOP or FUNCTION */
    int64_t id, module_id;    /* in the experiment */
    uint64_t address;
    uint32_t depth;     /* of a loop: 1 = not nested */
    double share;       /* of the run's time in it alone, by its samples */
    double uncounted;   /* of that not counted for this reason: of a function what is in no loop */
    const char *reason; /* why it was not counted; NULL: it was. Constant */
    double count[AS_COUNTS];
    uint64_t open; /* threads that ended in a loop of it: what they did there last is not counted */
    struct as_count_traffic traffic; /* with `levels` */
};
/* Flops per byte loaded or stored; NAN where there are no bytes. */
double as_count_intensity(const struct as_count_object *object);

struct as_count_request {
    /* Its command runs twice; a process that it attaches to is looked at twice, for its duration.
     */
    struct as_profile_request profile;
    unsigned top;          /* so many functions of most time; 0: 16 */
    const char *functions; /* only functions with a matching name (extended regular expression);
                            * NULL */
    const char *loops;     /* only loops with a matching function or address (0x...), each alone;
                            * NULL */
    bool levels;           /* traffic of the cache levels too */
    const char *caches;    /* "32K:8,1M:16,32M:16:victim": those, not this machine's; NULL */
};

struct as_count_result {
    struct as_profile_result profile; /* of the first run */
    int64_t counted_run;              /* 0: nothing could be counted */
    /* The user asked for the end of one of its runs: of a command nothing was counted, of a process
     * what it executed until then. */
    bool interrupted;
    double slowdown;      /* CPU time of that run relative to the first; 0: unknown */
    double refused_share; /* of the time of all that was chosen: could not be counted */
    uint64_t threads_missed, damaged;
    char rest[256];        /* what stays in the process that was attached to; "": nothing */
    double replayed_share; /* of the sets of the caches that stood for all at the end */
    struct as_count_object *object; /* functions, each followed by its loops; then loops alone */
    size_t object_n;
};

/*
 * Profiles, chooses, counts, and writes what was found to the experiment. Errors: those of
 * as_profile_run, USAGE (a regular expression). A program that fails ends it without error: see
 * the result. The caller frees the result, after errors too.
 */
int as_count_run(struct as_experiment *experiment, const struct as_count_request *request,
                 struct as_count_result *result, struct as_error *err);
/* The same for a run of the experiment with a profile. `campaign` starts the program once more. */
int as_count_again(struct as_experiment *experiment, int64_t run_id, struct as_campaign *campaign,
                   const struct as_count_request *request, struct as_count_result *result,
                   struct as_error *err);
void as_count_result_fini(struct as_count_result *result);

#endif
