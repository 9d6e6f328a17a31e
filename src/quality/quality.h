/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the code of loops and functions says of itself. Without a model of the processor: paths,
 * regularity of memory accesses, packed and scalar arithmetic, the options of the compiler. With
 * one: code quality analysis, every metric of a loop by path, and what it would take if its code
 * were another. Values go into the experiment; nothing is shown and no advice is given here.
 */
#ifndef AS_QUALITY_QUALITY_H
#define AS_QUALITY_QUALITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "catalogue/catalogue.h"
#include "code/code.h"
#include "experiment/experiment.h"
#include "machine/uarch.h"
#include "predict/predict.h"
#include "quality/vector.h"

/* Instructions and memory operands of one loop, those of inner loops left out. */
struct as_loop_facts {
    uint64_t path_n; /* ways through one iteration, saturated */
    uint32_t insn_n;
    uint32_t steer_n;                  /* only choose between ways: see below */
    uint32_t fp_packed_n, fp_scalar_n; /* add, multiply, FMA, divide, square root */
    uint32_t fp_divide_n;              /* of them: divide, square root */
    /* Looked for in innermost loops of one way: chains of results from iteration to iteration, with
     * floating-point arithmetic, of them those that only add up or only multiply, and others that
     * are not steps, sums, products or maxima; chains among these that the loop around begins
     * anew for each entry; branches that depend on loaded data. */
    uint32_t fp_carried_n, fp_sum_n, other_carried_n, begun_n, data_exit_n;
    uint32_t call_n;                          /* calls that return */
    uint32_t stream_n[AS_STRIDE_UNKNOWN + 1]; /* operands outside the frame, by as_stride */
    uint32_t steady_n;        /* of those of unknown step: the same in every iteration */
    uint32_t scatter_n;       /* stores by an index of an array */
    uint32_t meeting_n;       /* stores by an index into an array that the loop also loads from */
    uint32_t switch_n;        /* jumps through a register or table */
    uint32_t spin_n;          /* loads of blocks that only load the same places again */
    uint32_t resumed_n;       /* loads at an address that goes on from entry to entry */
    uint32_t merge_n;         /* branches that step one of two walks that they compare */
    uint32_t reload_n;        /* loads of what does not change, which the loop's stores may reach */
    uint32_t compared_root_n; /* square roots that are first compared with another value */
    uint32_t rewrite_n;       /* stores to an address that does not change */
    uint32_t array_n;
    uint32_t wide_n;   /* of those without holes that move: 16 bytes and more at once */
    uint32_t moving_n; /* those without holes that move */
    /* Share of the bytes used of the lines that an iteration brings, 0 to 1: all operands of an
     * array together. Negative where no operand moves. Equal where every step is known. */
    double access_low, access_high;
};

/*
 * Facts of `loop`. An instruction steers when it is a conditional branch with both ways inside the
 * loop, or the compare before it, which only it reads: a loop of a single way would not need it.
 * Errors: NOMEM.
 */
int as_quality_loop(const struct as_program *program, uint32_t loop, struct as_loop_facts *out,
                    struct as_error *err);

/*
 * Share of the bytes of touched cache lines (64 bytes) that one operand uses before the loop has
 * moved on: 1 at a fixed address and without holes; width over step, or over the line if the step
 * is larger. Indirect accesses, and such whose step the code does not tell, use their width
 * (gathers an element) of a line of their own, or all of it when neighbours come soon: low and
 * high, and nothing between them is known. False when there is no such operand (the frame, width
 * 0).
 */
bool as_access_efficiency(const struct as_program *program, const struct as_memory_stream *stream,
                          double *low, double *high);

/*
 * How far a compiler was let go, 0 to 1, by the options that DWARF records: half for the level of
 * optimisation, half for the instruction set, less what harmful options cost (quality/options.h).
 * Negative where no options are recorded.
 */
struct as_options_score {
    double score, level, architecture;
    char level_word[16], architecture_word[48]; /* "-O2", "-march=x86-64"; "" = not given */
};
void as_score_options(const char *compiler, const char *version, const char *flags,
                      struct as_options_score *out);

struct as_quality_options {
    struct as_catalogue *catalogue; /* of the experiment, shared by passes; NULL: one for this */
    unsigned jobs;                  /* without one: threads, 0 = as many as processors */
    double share;                   /* of the run's time that a module must have; 0 = 0.01 */
    const struct as_object_options *open; /* without one */
    void (*progress)(void *context, const char *stage, uint64_t done, uint64_t total);
    void *context;
    /* Runs `work`, which does not touch the experiment, while others have it; NULL: nobody waits.
     * No batch is open. Errors: those of `work`. */
    int (*aside)(void *aside_context, int (*work)(void *context, struct as_error *err),
                 void *context, struct as_error *err);
    void *aside_context;
};

/*
 * Reads the code of the modules that matter to a run, and sets the metrics of data/quality/ for
 * its loops and functions. A file that is gone or has changed since gives a flag and no values.
 * Loops that have values, and tables if they are hot, are not looked at again. Errors: NOMEM, those
 * of the experiment.
 */
int as_quality_run(struct as_experiment *experiment, int64_t run_id,
                   const struct as_quality_options *options, struct as_error *err);

/* ---- Code quality analysis (doc/internals/cqa.md)
 * --------------------------------------------------- */

/* X(NAME, word, words): a loop as it might be. */
#define AS_CQA_VARIANT_LIST(X)                                                                     \
    X(CLEAN, "clean", "no scalar integer instruction but loop control")                            \
    X(FP_VECTOR, "fp_vector", "arithmetic vectorised, memory one by one")                          \
    X(VECTOR, "vector", "fully vectorised")                                                        \
    X(INDEPENDENT, "independent", "no dependence between iterations")                              \
    X(NEXT_LIMIT, "next_limit", "the first limit gone")                                            \
    X(FEW_PORTS, "few_ports", "the kind gone that fills its one or two ports")                     \
    X(ONLY_FP, "only_fp", "vector and floating-point instructions alone")                          \
    X(ONLY_ARITHMETIC, "only_arithmetic", "floating-point arithmetic alone")                       \
    X(PERFECT_L1, "perfect_l1", "accesses to memory cost nothing")

enum as_cqa_variant {
#define AS_CQA_ENUM(name, word, words) AS_CQA_##name,
    AS_CQA_VARIANT_LIST(AS_CQA_ENUM)
#undef AS_CQA_ENUM
        AS_CQA_VARIANTS
};
/* "clean"; "no scalar integer ...": borrowed. */
const char *as_cqa_variant_name(enum as_cqa_variant variant);
const char *as_cqa_variant_words(enum as_cqa_variant variant);

/* Metrics of data/quality/cqa.txt, by number and by name; borrowed. NULL and below 0: none. */
size_t as_cqa_metric_count(void);
const struct as_metric *as_cqa_metric(size_t number);
int as_cqa_metric_find(const char *name);

struct as_cqa_what_if {
    bool applies;   /* there was something to change */
    bool sound;     /* the program would still compute the same (vectorised: no recurrence, no
                       call, no branch between ways) */
    double cycles;  /* for one iteration of the loop as it is */
    double speedup; /* of the loop over itself as it is: at least 1 but of vectorised ones */
    enum as_bound bound;
    char limit[32];                    /* which ports, which unit; else empty */
    uint32_t insn_n;                   /* of the list that was predicted */
    uint32_t iterations;               /* of the loop as it is that one of the list does */
    uint32_t gathered_n, replicated_n; /* memory operands: by gathers; one by one, copied */
    const char *why; /* borrowed sentence: why no faster, or why it does not apply */
};

/* One instruction of a path, for experts. */
struct as_cqa_insn {
    uint32_t insn; /* into program.code.insn */
    bool fused, eliminated, estimated, chain;
    bool packed, packable;
    float slots, latency;
    float throughput; /* cycles that it takes of its busiest set of ports or unit, alone */
};

/* Why the instructions of a path are not, or could not be, on whole vectors. */
enum as_cqa_obstacle {
    AS_CQA_OBSTACLE_CALL = 1 << 0,
    AS_CQA_OBSTACLE_WAYS = 1 << 1,       /* several paths */
    AS_CQA_OBSTACLE_RECURRENCE = 1 << 2, /* a chain that is no reduction */
    AS_CQA_OBSTACLE_REDUCTION = 1 << 3,  /* one that is: order of floating-point sums */
    AS_CQA_OBSTACLE_STRIDE = 1 << 4,     /* a step with holes */
    AS_CQA_OBSTACLE_INDIRECT = 1 << 5,
    AS_CQA_OBSTACLE_UNKNOWN_STEP = 1 << 6,
    AS_CQA_OBSTACLE_X87 = 1 << 7,
    AS_CQA_OBSTACLE_FORM = 1 << 8,  /* an instruction that has no form on vectors */
    AS_CQA_OBSTACLE_MEMORY = 1 << 9 /* a value passed through memory to a later iteration */
};

struct as_cqa_path {
    uint32_t number;    /* from 1, in the order of as_loop_paths; 0: the merged view, or the mean */
    double weight;      /* share of the iterations that go this way */
    uint32_t obstacles; /* as_cqa_obstacle bits */
    double *value;      /* by metric; not a number: does not apply */
    enum as_bound bound;
    char limit[32];
    double *port_use; /* by port of the table, cycles */
    struct as_cqa_what_if what_if[AS_CQA_VARIANTS];
    size_t insn_n; /* with options->experts, else 0; not of the mean */
    struct as_cqa_insn *insn;
    size_t chain_n; /* instructions of the longest chain, into program.code.insn */
    uint32_t *chain;
};

struct as_cqa {
    const struct as_program *program;
    uint32_t loop; /* AS_NONE: of a function body */
    uint32_t body;
    uint64_t path_count; /* ways there are, saturated */
    bool merged;         /* more than the limit: one entry, every block that stands on some way */
    bool outsize;        /* too large a nest to be looked into: no path at all */
    /* Extensions that the code needs and the core lacks, bits by as_extension. Not 0: the core
     * cannot run the loop, and there is no path. */
    uint64_t lacks;
    const struct as_vector_verdict *verdict; /* what stands against vectors; NULL: no loop */
    size_t path_n;
    struct as_cqa_path *path;
    bool weighed; /* by options->weight; else by probabilities that the code tells */
    /* Mean over paths by weight: counts and cycles are means, what is derived is derived of them.
     * `bound` is that of the heaviest path. */
    struct as_cqa_path mean;
};

struct as_cqa_options {
    unsigned path_limit;  /* 0 = AS_PATH_LIMIT, UINT_MAX = any number */
    const double *weight; /* by path, of all that there are; NULL = as likely as the code tells */
    size_t weight_n;
    bool experts;  /* instructions one by one */
    bool simulate; /* variants where bounds are near each other; paths as they are always */
    bool without_what_ifs;
    /* Only what as_cqa_promise asks for: cycles, trips, obstacles and the variants that may be
     * the best. A promise below `least` may be given as 0. */
    bool promise_only;
    double least;
    bool bounds_only; /* with it: by bounds alone, several times as fast */
};

/* The sound variant with the greatest speed-up beyond 5 %, of those that a program could be; below
 * 0: none. */
int as_cqa_best(const struct as_cqa_path *path);

/* For the order of loops where no run tells their time: cycles that the best variant would save
 * each time the function runs, if every loop (of those around it two) goes round 10 times where
 * constants of the code do not tell how often, and left-over iterations, and loops that call, are
 * gone through once. 0: no variant is 5 % faster. */
double as_cqa_promise(const struct as_cqa *cqa);

struct as_cqa_engine; /* memory and one core's table; of one thread */

int as_cqa_engine_new(const struct as_uarch *uarch, struct as_cqa_engine **out,
                      struct as_error *err);
void as_cqa_engine_free(struct as_cqa_engine **engine);
/* What was measured of the machine, for cycles of data beyond the first level; borrowed, NULL: none
 * (they are no numbers then). */
struct as_figures;
void as_cqa_engine_figures(struct as_cqa_engine *engine, const struct as_figures *figures);

/*
 * All metrics and variants of a loop, path by path, inner loops gone through once. `out` belongs to
 * the engine and is overwritten by its next call. Errors: NOMEM.
 */
int as_cqa_loop(struct as_cqa_engine *engine, const struct as_program *program, uint32_t loop,
                const struct as_cqa_options *options, struct as_cqa *out, struct as_error *err);
/* The same of the blocks of a function that stand in no loop, one behind the other. */
int as_cqa_function_body(struct as_cqa_engine *engine, const struct as_program *program,
                         uint32_t body, const struct as_cqa_options *options, struct as_cqa *out,
                         struct as_error *err);

/* Loops of a module that were analysed, as facts of an experiment that knows no run of them. */
struct as_quality_code {
    struct as_catalogue_module *module;
    const struct as_cqa *cqa;     /* without loop: nothing is written of it */
    size_t n;                     /* 0: tables of metrics are made, no row */
    size_t page_n;                /* the first of them have the tables of a page too */
    const struct as_uarch *uarch; /* for those tables */
};

/*
 * Adds rows of the loops, the values that as_quality_run and code quality analysis give those of
 * a run, and what the options of their units are. `id` receives their rows, 0 where nothing was
 * written. Within a batch. Errors: NOMEM, those of the experiment.
 */
int as_quality_code(struct as_experiment *experiment, const struct as_quality_code *code,
                    int64_t *id, struct as_error *err);

#endif
