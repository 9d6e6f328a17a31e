/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicts cycles of straight-line code that is executed repeatedly: the body of a loop, or a block
 * that follows itself without a branch. Data are in L1, branches are predicted.
 *
 * Computes lower bounds for each resource of a core: front end, sets of ports, units without
 * pipeline, dependence chains through registers and memory. Simulates the out-of-order core if
 * several bounds are close. doc/internals/predict.md has the method.
 */
#ifndef AS_PREDICT_PREDICT_H
#define AS_PREDICT_PREDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "isa/isa.h"
#include "machine/uarch.h"

enum as_predict_mode {
    AS_PREDICT_LOOP,    /* ends in its back edge; one without a branch gets dec and jnz */
    AS_PREDICT_UNROLLED /* copies of it one behind the other */
};

/* The limit. */
enum as_bound {
    AS_BOUND_DISPATCH, /* slots a cycle */
    AS_BOUND_DECODE,   /* legacy decode, op cache, loop buffer */
    AS_BOUND_BRANCH,   /* taken branches */
    AS_BOUND_PORTS,    /* a set of ports */
    AS_BOUND_UNIT,     /* a unit that is not pipelined */
    AS_BOUND_LATENCY,  /* a loop-carried dependence */
    AS_BOUND_WINDOW,   /* none of these alone: what the simulation adds */
    AS_BOUNDS
};
/* "dispatch", "ports", ...; borrowed. */
const char *as_bound_name(enum as_bound bound);

/* Parts of the model that can be left out, to see what each is worth (doc/internals/predict.md). */
enum as_predict_without {
    AS_WITHOUT_SIMULATION = 1 << 0,
    AS_WITHOUT_MEMORY = 1 << 1, /* dependences through memory */
    AS_WITHOUT_RENAMED_MEMORY = 1 << 2,
    AS_WITHOUT_MOVES = 1 << 3, /* elimination of moves */
    AS_WITHOUT_STACK_ENGINE = 1 << 4,
    AS_WITHOUT_BYPASS = 1 << 5,
    AS_WITHOUT_FRONT_END = 1 << 6,
    AS_WITHOUT_PORTS = 1 << 7,
    AS_WITHOUT_LATENCY = 1 << 8,
    AS_WITHOUT_DECODE = 1 << 9, /* legacy decode, op cache and loop buffer rules */
    AS_WITHOUT_FUSION = 1 << 10,
    AS_WITHOUT_SYMBOLS = 1 << 11, /* addresses by register alone */
    /* The gain of a change of the code: */
    AS_WITHOUT_DIVISION = 1 << 12, /* divisions and square roots of floating point cost as
                                         multiplications do */
    /* Lists with the address strides of other code: the offset of a load in its cache line is
     * unknown, and none crosses a line. */
    AS_WITHOUT_CROSSINGS = 1 << 13,
    /* For speed: how operations would share the ports, and the stages of the front end, are not
     * found: port_use is all 0. */
    AS_WITHOUT_SPREAD = 1 << 14
};

struct as_predict_options {
    enum as_predict_mode mode;
    uint32_t without; /* as_predict_without */
    /* Memory that the code has not written holds one value everywhere, as harnesses that measure
     * blocks alone fill it: pointers that are loaded are equal. Else they are taken to differ. */
    bool equal_memory;
    bool worst;          /* the worst values to compute with, else the best */
    bool simulate;       /* always; else only where bounds are near-tied */
    unsigned timeline_n; /* iterations with recorded times, 0: none */
    /* Number of an instruction, from 1, with its load left out: the value is available. 0: none. */
    size_t without_load;
    /* By instruction, NULL for none: registers with available values, whoever writes them. For
     * lists without some instructions: the missing results do not come from the previous
     * iteration. */
    const struct as_regset *ready;
};

/* One step of the chain that limits. */
struct as_chain_step {
    uint32_t insn;
    float cycles;       /* from the start of this one to the start of the next */
    bool memory;        /* hands its value on through memory */
    uint8_t iterations; /* to the next */
};

struct as_insn_prediction {
    const struct as_core_timing *timing; /* NULL: estimated */
    uint8_t match;                       /* as_timing_match */
    bool fused;                          /* part of the instruction before it */
    bool eliminated;                     /* costs a slot alone */
    bool estimated;
    bool chain;        /* on the chain that limits */
    bool moved, idiom; /* eliminated: a copy; an idiom that needs no operand */
    bool micro_fused;  /* an access to memory and what else it does, in one slot */
    float slots;
    float latency;
};

/* Times of one execution of one instruction, in cycles since the first of the time line. */
struct as_timeline_entry {
    uint32_t iteration, insn;
    int32_t dispatch, ready, issue, done, retire;
};

/* Buffers that dispatch waits for when they are full. */
enum as_buffer {
    AS_BUFFER_REORDER,
    AS_BUFFER_SCHEDULER,
    AS_BUFFER_LOADS,
    AS_BUFFER_STORES,
    AS_BUFFERS
};

struct as_prediction {
    double cycles;       /* per iteration: the answer */
    enum as_bound bound; /* that is nearest below it */
    double bounds[AS_BOUNDS];
    char limit[32];       /* which ports, which unit; else empty */
    double simulated;     /* below 0: not simulated */
    bool varies;          /* with the values computed with (divide, square root) */
    unsigned estimated_n; /* instructions that the table has nothing like */
    unsigned alike_n;     /* by a line that is like it */
    /* Loads that get a part of their bytes of a store that is under way, or more than it wrote;
     * loads of the same lower 12 bits as a store to another place; on cores with that erratum
     * branches at the end of 32 bytes of code. */
    unsigned forward_failed_n, page_alias_n, branch_at_end_n;
    size_t insn_n;
    const struct as_insn_prediction *insn;
    size_t chain_n;
    const struct as_chain_step *chain;
    double slots;            /* renamed, all together */
    double load_cy;          /* the ports of loads are busy, */
    double store_cy;         /* those of the data of stores, */
    double store_address_cy; /* those of their addresses, */
    double divide_cy;        /* the unit of divisions and roots with the best values, */
    double divide_worst_cy;  /* with the worst */
    /* The front end: what fetching, finding the lengths and decoding would take, and what the op
     * cache or the loop buffer takes; below 0: the core has no such stage, or (cached) the code
     * does not come from there. */
    double fetch_cy, predecode_cy, decoder_cy, cached_cy;
    /* Cycles of an iteration in which dispatch waits for room; where simulated, else below 0. */
    double full_cy[AS_BUFFERS];
    unsigned port_n;
    const double *port_use; /* cycles a port is busy, by port, the load spread best */
    /* Port-cycles of each instruction, insn * port_n + port. */
    const float *insn_port;
    size_t timeline_n;
    const struct as_timeline_entry *timeline;
};

struct as_predictor; /* memory and what is known of forms for one core; of one thread */

int as_predictor_new(const struct as_uarch *uarch, struct as_predictor **out, struct as_error *err);
void as_predictor_free(struct as_predictor **predictor);

/*
 * Predicts `n` instructions of `code` from `first` on. An instruction that does not follow the
 * previous one is the target of a taken branch. `out` points to memory of the predictor, valid
 * until the next call. Errors: NO_CODE (no instruction), NOMEM.
 */
int as_predict(struct as_predictor *predictor, const struct as_code *code, size_t first, size_t n,
               const struct as_predict_options *options, struct as_prediction *out,
               struct as_error *err);

/* ---- Beyond the first level of the cache ----------------------------------------------------- */

struct as_streams;
struct as_figures;

enum as_predict_level {
    AS_PREDICT_L1,
    AS_PREDICT_L2,
    AS_PREDICT_L3,
    AS_PREDICT_RAM,
    AS_PREDICT_LEVELS
};
/* "L1", "L2", "L3", "RAM"; borrowed. */
const char *as_predict_level_name(enum as_predict_level level);

/* Bytes moved by one iteration, once per array for any number of accesses. */
struct as_traffic {
    double read_b;     /* of arrays that are read alone */
    double written_b;  /* of arrays that are written, read or not: their lines come and go */
    double gathered_n; /* elements by addresses out of memory; `gathers` by vector instructions */
    bool gathers;
    unsigned unknown_n; /* accesses with an unknown step: not counted */
};
void as_traffic_of(const struct as_streams *streams, double line_b, struct as_traffic *out);

/*
 * Computes the cycles per iteration with data in `level`: the maximum of `cycles` (data in L1) and
 * of the time to move data. The bandwidths are measured on one core, for streams or gathers
 * (doc/internals/predict.md). `figures` may be NULL for L1. Returns false if a figure is missing,
 * with its name in `lacking` (may be NULL).
 */
bool as_predict_at(const struct as_traffic *traffic, const struct as_figures *figures,
                   enum as_predict_level level, double cycles, double *out, const char **lacking);

#endif
