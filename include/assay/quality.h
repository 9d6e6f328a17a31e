/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the code of hot loops and functions says of itself, without a model of the processor: paths,
 * regularity of memory accesses, packed and scalar arithmetic, and the options of the compiler.
 * Values go into the experiment; nothing is shown and no advice is given here.
 */
#ifndef ASSAY_QUALITY_H
#define ASSAY_QUALITY_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/catalogue.h>
#include <assay/code.h>
#include <assay/error.h>
#include <assay/experiment.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Instructions and memory operands of one loop, those of inner loops left out. */
struct assay_loop_facts {
    uint64_t path_n; /* ways through one iteration, saturated */
    uint32_t insn_n;
    uint32_t steer_n;                  /* only choose between ways: see below */
    uint32_t fp_packed_n, fp_scalar_n; /* add, multiply, FMA, divide, square root */
    uint32_t fp_divide_n;              /* of them: divide, square root */
    uint32_t fp_carried_n; /* of the arithmetic: needs what it gave an iteration before; looked for
                              in innermost loops of one way with scalar arithmetic */
    uint32_t call_n;       /* calls that return */
    uint32_t stream_n[ASSAY_STRIDE_UNKNOWN + 1]; /* operands outside the frame, by assay_stride */
    uint32_t steady_n; /* of those of unknown step: the same in every iteration */
    uint32_t array_n;
    uint32_t wide_n;   /* of those without holes that move: 16 bytes and more at once */
    uint32_t moving_n; /* those without holes that move */
    /* Means of the bounds of assay_access_efficiency, 0 to 1, over operands that move; negative
     * where none does. Equal where every step is known. */
    double access_low, access_high;
};

/*
 * Facts of `loop`. An instruction steers when it is a conditional branch with both ways inside the
 * loop, or the compare before it, which only it reads: a loop of a single way would not need it.
 * Errors: NOMEM.
 */
int assay_quality_loop(const struct assay_program *program, uint32_t loop,
                       struct assay_loop_facts *out, struct assay_error *err);

/*
 * Share of the bytes of touched cache lines (64 bytes) that one operand uses before the loop has
 * moved on: 1 at a fixed address and without holes; width over step, or over the line if the step
 * is larger. Indirect accesses, and such whose step the code does not tell, use their width of a
 * line of their own, or all of it when neighbours come soon: low and high, and nothing between them
 * is known. False when there is no such operand (the frame, width 0).
 */
bool assay_access_efficiency(const struct assay_memory_stream *stream, double *low, double *high);

/*
 * How far a compiler was let go, 0 to 1, by the options that DWARF records: half for the level of
 * optimisation, half for the instruction set. Negative where no options are recorded.
 */
struct assay_options_score {
    double score, level, architecture;
    char level_word[16], architecture_word[48]; /* "-O2", "-march=x86-64"; "" = not given */
};
void assay_score_options(const char *compiler, const char *version, const char *flags,
                         struct assay_options_score *out);

struct assay_quality_options {
    struct assay_catalogue *catalogue; /* of the experiment, shared by passes; NULL: one for this */
    unsigned jobs;                     /* without one: threads, 0 = as many as processors */
    double share;                      /* of the run's time that a module must have; 0 = 0.01 */
    const struct assay_object_options *open; /* without one */
    void (*progress)(void *context, const char *stage, uint64_t done, uint64_t total);
    void *context;
    /* Runs `work`, which does not touch the experiment, while others have it; NULL: nobody waits.
     * No batch is open. Errors: those of `work`. */
    int (*aside)(void *aside_context, int (*work)(void *context, struct assay_error *err),
                 void *context, struct assay_error *err);
    void *aside_context;
};

/*
 * Reads the code of the modules that matter to a run, and sets the metrics of data/quality/ for
 * its loops and functions. A file that is gone or has changed since gives a flag and no values.
 * Loops that have values, and tables if they are hot, are not looked at again. Errors: NOMEM, those
 * of the experiment.
 */
int assay_quality_run(struct assay_experiment *experiment, int64_t run_id,
                      const struct assay_quality_options *options, struct assay_error *err);

#ifdef __cplusplus
}
#endif
#endif
