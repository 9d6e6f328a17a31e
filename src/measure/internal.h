/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared parts of the meter: the decoded block, the address layout of the child, the code around
 * the block, and the results.
 */
#ifndef AS_MEASURE_INTERNAL_H
#define AS_MEASURE_INTERNAL_H

#include "isa/isa.h"
#include "measure/chain.h"
#include "measure/counter.h"
#include "measure/measure.h"

/* Fixed addresses, far from those of the loader and the kernel: code and its data, the targets of
 * RIP-relative operands, and the fs and gs bases while a block runs. */
#define AS_METER_CODE    UINT64_C(0x7e0000000000)
#define AS_METER_CODE_B  (UINT64_C(1) << 20)
#define AS_METER_RIP     (AS_METER_CODE + UINT64_C(0x10000000))
#define AS_METER_SEGMENT UINT64_C(0x30000800)
/* Value of each word of the pages that blocks touch: an address that can be mapped itself. */
#define AS_METER_FILL      UINT64_C(0x20000800)
#define AS_METER_PAGES_MAX 1024
#define AS_METER_INSNS     1024

struct as_metered_block {
    const uint8_t *bytes;
    size_t size_b;
    struct as_code code; /* addresses from 0 */
    uint16_t *rip;       /* by instruction: offset of its RIP-relative displacement; 0: none */
    uint64_t *target;    /* by instruction: the RIP-relative target */
    uint32_t general;    /* bit set of the general registers in use */
    uint32_t lane_masks; /* bit set of the vector registers with lane masks in their sign bits */
    bool uses_x87, uses_segment;
    bool is_wide; /* it has operations of 64 bytes */
};

/* Decodes a block. Returns OK, UNDECODED or EXCLUDED, or NOMEM. Always call as_block_fini. */
int as_block_init(struct as_metered_block *block, const uint8_t *bytes, size_t size_b);
void as_block_fini(struct as_metered_block *block);

/* Extensions of this CPU that decide the register width. */
struct as_widths {
    bool avx, avx512, fsgsbase;
};
void as_widths_read(struct as_widths *widths);

/* ---- Code (code.c) --------------------------------------------------------------------------- */

/* Data at AS_METER_CODE; the code addresses it by distance. */
struct as_meter_slots {
    uint64_t stack, fs, gs;
    uint64_t begin, end; /* ticks of the last run */
    uint32_t repeats, mxcsr, mxcsr_outer;
    uint8_t pad[12];
    double vector[32][8];
};

/* Encoded code that is the same for all blocks. */
struct as_meter_frame;
int as_frame_new(const struct as_widths *widths, struct as_meter_frame **out, struct as_error *err);
void as_frame_free(struct as_meter_frame **frame);

struct as_shape {
    unsigned copies;  /* consecutive copies of the block */
    unsigned repeats; /* repetitions of all copies between the two clock reads */
    uint64_t loops;   /* not 0: the copies are the body of a loop with this many iterations */
    int counter;      /* register of the loop counter */
};

/* Writes a function at `*at` in the code area of the child and moves `*at` behind it. Returns the
 * function, or NULL if it does not fit. It runs in the child, so it does not allocate. */
void (*as_frame_emit(const struct as_meter_frame *frame, const struct as_metered_block *block,
                     const struct as_shape *shape, uint8_t **at))(void);

/* ---- Child (child.c) ------------------------------------------------------------------------- */

#define AS_METER_SAMPLES 1024

struct as_child {
    const struct as_meter_work *work; /* measured instead of a block unless NULL */
    const struct as_metered_block *block;
    const struct as_meter_frame *frame;
    enum as_meter_mode mode;
    struct as_gate gate;
    struct as_counter *counter; /* NULL: chains are the clock */
    unsigned samples, enough, page_n, limit_ms;
    int memory; /* file with `page_n` pages */
    int cpu;
    struct as_cycles *result;        /* shared with the parent */
    struct as_sample_series *series; /* shared with the parent, so the child need not allocate */
};

/* Raw samples of one attempt. Tests feed them to the estimator. */
struct as_sample_series {
    size_t n;
    double span;        /* number of block executions by which the two lengths differ */
    int64_t refused_ns; /* time in refused samples */
    double shorter[AS_METER_SAMPLES], longer[AS_METER_SAMPLES], ratio[AS_METER_SAMPLES];
    double canary[AS_METER_SAMPLES]; /* slowest canary of each sample in increments per cycle */
    bool clean[AS_METER_SAMPLES];
};

/* Runs in the forked process and does not return. */
_Noreturn void as_child_run(const struct as_child *child);

/* Raises `best` of the gate if half of the canaries of a series are faster. The other hardware
 * thread was then busy during calibration. A few fast canaries are only clock resolution. */
void as_gate_learn(struct as_gate *gate, const struct as_sample_series *series);
/* Returns true if more samples were refused than passed. Another CPU may be better then. */
bool as_series_is_disturbed(const struct as_sample_series *series, unsigned refused_n);
/* Computes the figures of `out` from a series. Uses the clean samples if there are at least
 * `wanted` / 4; otherwise uses all samples and sets status NOISY. */
void as_series_estimate(const struct as_sample_series *series, unsigned wanted,
                        struct as_cycles *out);

/* Sets the max time of one block in ms. */
void as_meter_be_patient(struct as_meter *meter, unsigned patience_ms);
/* Sets the cycle counter, which must outlive the meter; NULL: chains are the clock. */
void as_meter_count_by(struct as_meter *meter, struct as_counter *counter);

#endif
