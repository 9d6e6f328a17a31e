/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the meter share: the block as it was decoded, where code and data of a
 * measuring child lie, the code that is written around the block, and what the child hands back.
 */
#ifndef AS_MEASURE_INTERNAL_H
#define AS_MEASURE_INTERNAL_H

#include <assay/isa.h>
#include <assay/measure.h>

#include "measure/chain.h"
#include "measure/counter.h"

/* Fixed places, far from what the loader and the kernel choose: code and its data, the targets of
 * RIP-relative operands, and what the fs and gs bases are while a block runs. */
#define AS_METER_CODE    UINT64_C(0x7e0000000000)
#define AS_METER_CODE_B  (UINT64_C(1) << 20)
#define AS_METER_RIP     (AS_METER_CODE + UINT64_C(0x10000000))
#define AS_METER_SEGMENT UINT64_C(0x30000800)
/* Every word of the pages that blocks touch: again an address that can be mapped. */
#define AS_METER_FILL  UINT64_C(0x20000800)
#define AS_METER_PAGES 1024
#define AS_METER_INSNS 1024

struct as_meter_block {
    const uint8_t *bytes;
    size_t size_b;
    struct assay_code code; /* addresses from 0 */
    uint16_t *rip;          /* by instruction: offset of its RIP-relative displacement, 0 none */
    uint64_t *target;       /* by instruction: what it then points to */
    uint32_t general;       /* general registers that are used, a bit each */
    uint32_t lane_masks;    /* vector registers whose signs say which lanes are moved, a bit each */
    bool uses_x87, uses_segment;
    bool is_wide; /* it has operations of 64 bytes */
};

/* OK, UNDECODED or EXCLUDED; negative: NOMEM. as_block_fini in any case. */
int as_block_init(struct as_meter_block *block, const uint8_t *bytes, size_t size_b);
void as_block_fini(struct as_meter_block *block);

/* Widest registers that this processor has. */
struct as_widths {
    bool avx, avx512, fsgsbase;
};
void as_widths_read(struct as_widths *widths);

/* ---- Code (code.c) --------------------------------------------------------------------------- */

/* At AS_METER_CODE; the code refers to it by distance. */
struct as_meter_slots {
    uint64_t stack, fs, gs;
    uint64_t begin, end; /* ticks of the last run */
    uint32_t repeats, mxcsr, mxcsr_outer;
    uint8_t pad[12];
    double vector[32][8];
};

/* What is the same for all blocks, encoded once. */
struct as_meter_frame;
int as_frame_new(const struct as_widths *widths, struct as_meter_frame **out,
                 struct assay_error *err);
void as_frame_free(struct as_meter_frame **frame);

struct as_shape {
    unsigned copies;  /* of the block, one behind the other */
    unsigned repeats; /* times the whole runs between the two looks at the clock */
    uint64_t loops;   /* not 0: the copies are a loop, run so often */
    int counter;      /* its register */
};

/* Writes at `*at` (in the child's code area) and moves it behind; the function's entry, NULL when
 * it does not fit. No allocation: called in the child. */
void (*as_frame_emit(const struct as_meter_frame *frame, const struct as_meter_block *block,
                     const struct as_shape *shape, uint8_t **at))(void);

/* ---- Child (child.c) ------------------------------------------------------------------------- */

#define AS_METER_SAMPLES 1024

struct as_child {
    const struct assay_meter_work *work; /* is measured instead of a block, where it is there */
    const struct as_meter_block *block;
    const struct as_meter_frame *frame;
    enum assay_meter_mode mode;
    struct as_gate gate;
    struct as_counter *counter; /* NULL: the chains are the clock */
    unsigned samples, enough, page_n, limit_ms;
    int memory; /* file of `page_n` pages */
    int cpu;
    struct assay_cycles *result;     /* shared with the parent */
    struct as_sample_series *series; /* shared too, so that it need not be allocated */
};

/* Raw samples of one attempt; also what tests feed to the estimator. */
struct as_sample_series {
    size_t n;
    double span;        /* executions of the block by which the two lengths differ */
    int64_t refused_ns; /* of the samples that did not pass */
    double shorter[AS_METER_SAMPLES], longer[AS_METER_SAMPLES], ratio[AS_METER_SAMPLES];
    double canary[AS_METER_SAMPLES]; /* the slowest beside it: increments a cycle */
    bool clean[AS_METER_SAMPLES];
};

/* Runs in the forked process and does not return. */
_Noreturn void as_child_run(const struct as_child *child);

/* The gate after a series: higher where half of its canaries are faster than the best that was
 * known, which a neighbour slowed down when the gate was made. A few fast ones are the clock's
 * steps. */
void as_gate_learn(struct as_gate *gate, const struct as_sample_series *series);
/* Whether it is worth a look at other processors: more samples were refused than passed. */
bool as_series_is_disturbed(const struct as_sample_series *series, unsigned refused_n);
/* Fills the figures of `out` from a series: clean samples where there are at least `wanted` / 4,
 * else all of them and status NOISY. */
void as_series_estimate(const struct as_sample_series *series, unsigned wanted,
                        struct assay_cycles *out);

/* How long one block may take from now on. */
void as_meter_be_patient(struct assay_meter *meter, unsigned patience_ms);
/* Counts cycles by `counter`, which lives as long as the meter; NULL: by chains. */
void as_meter_count_by(struct assay_meter *meter, struct as_counter *counter);

#endif
