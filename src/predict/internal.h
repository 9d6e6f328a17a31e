/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this room share: a block as a list of operations with what they wait for and
 * occupy, the edges between them, and the predictor that holds the memory for both.
 */
#ifndef AS_PREDICT_INTERNAL_H
#define AS_PREDICT_INTERNAL_H

#include <assay/predict.h>

#include "base/arena.h"
#include "base/index.h"
#include "base/vec.h"
#include "predict/x87.h"

/* Places that values are in: registers as in <assay/isa.h>, then the flags in two groups that are
 * renamed apart. */
enum {
    AS_PLACE_CARRY = ASSAY_REG_COUNT,
    AS_PLACE_FLAGS, /* all but the carry */
    AS_PLACES
};
enum { AS_READS = 10, AS_WRITES = 8, AS_USES = 12 };

enum as_read_kind { AS_READ_DATA, AS_READ_ADDRESS };

struct as_op_read {
    uint8_t place;
    uint8_t kind;  /* as_read_kind */
    float earlier; /* cycles by which this source may come later than others (pair latencies) */
};

struct as_op_write {
    uint8_t place;
    float latency;
};

/* Port-cycles of one group. */
struct as_op_use {
    uint8_t group;
    bool address; /* waits for the address alone, not for the data */
    float n;
};

/* One instruction, or two that are fused. */
struct as_op {
    uint32_t insn; /* in the block */
    uint32_t at;   /* its record in the code */
    const struct assay_timing *timing;
    uint8_t flags; /* assay_uarch_flag */
    uint8_t bypass;
    uint8_t read_n, write_n, use_n, memory_n;
    bool loads, stores, vector, move, branch, stack, jump_taken, renamed_load, locked, extends,
        updates;
    float slots;        /* renamed */
    float decoded;      /* slots that the op cache holds (unlaminated forms: fewer) */
    float decoded_more; /* in loops: for a displacement with an immediate */
    float latency, worst;
    float load_latency;
    float own;
    uint32_t offset, length; /* bytes */
    struct as_op_read read[AS_READS];
    struct as_op_write write[AS_WRITES];
    struct as_op_use use[AS_USES];
    struct assay_memory memory[2];
    uint32_t address_base; /* symbolic address of its last memory operand in a late iteration */
    int64_t address_offset;
};

/* `to` starts `weight` after `from` started, `distance` iterations later. */
struct as_edge {
    uint32_t from, to;
    float weight;
    uint16_t distance;
    bool memory, address;
};

struct as_piece_of_code {
    const struct assay_uarch *uarch;
    const struct assay_code *code;
    uint32_t without;
    enum assay_predict_mode mode;
    struct as_op *op;
    uint32_t op_n;
    uint32_t insn_n;
    uint32_t size_b;
    size_t without_load;              /* record in the code + 1 */
    const struct assay_regset *ready; /* assay_predict_options */
    bool equal_memory, worst, varies;
    bool has_branch; /* the block's own; else dec and jnz were added */
    AS_VEC(struct as_edge) edge;
    unsigned estimated_n, alike_n, forward_failed_n;
    struct as_x87 x87; /* while the block is built */
};

/* Returns where the code of `op` stands. A path may have its blocks in another order than memory; a
 * branch that was added stands behind the rest. */
static inline uint64_t as_op_address(const struct as_piece_of_code *block, const struct as_op *op)
{
    const struct as_op *first = &block->op[0];
    if (op->at != UINT32_MAX)
        return block->code->insn[op->at].address;
    return op->offset + (first->at == UINT32_MAX ? 0 : block->code->insn[first->at].address);
}

/* What the table says of a form, found once. */
struct as_known_form {
    uint32_t key; /* form and variant */
    const struct assay_timing *timing;
    uint8_t match;
};

struct as_memory_edge {
    int32_t from; /* op, below 0: none */
    uint16_t distance;
    uint8_t kind; /* as_store_forward */
};

enum as_store_forward { AS_FORWARD_NONE, AS_FORWARD_RENAMED, AS_FORWARD_WHOLE, AS_FORWARD_FAILED };

struct assay_predictor {
    const struct assay_uarch *uarch;
    struct as_arena arena; /* of the prediction at hand */
    AS_VEC(struct as_known_form) known;
    struct as_index known_index;
    struct as_piece_of_code block;
    struct as_values *values;
    struct as_simulation *simulation;
    int group_load, group_load_fp, group_store_address, group_store_data, group_alu, group_fp,
        group_branch;
};

/* Operations of a block out of its instructions (block.c, estimate.c). */
int as_block_build(struct assay_predictor *p, const struct assay_code *code, size_t first, size_t n,
                   struct assay_error *err);
/* What an operation reads and writes by registers and flags, and in memory (effects.c). */
void as_op_effects(struct assay_predictor *p, struct as_op *op, const struct assay_insn *insn,
                   const struct assay_form *form);
void as_op_memory(struct assay_predictor *p, struct as_op *op, const struct assay_insn *insn,
                  const struct assay_form *form);
/* Both operands are one register. */
bool as_insn_same_registers(const struct assay_insn *insn, const struct assay_form *form);
/* A form the table has nothing of, or of which it has the form with registers alone. */
void as_estimate_op(const struct assay_predictor *p, const struct assay_form *form,
                    struct as_op *op, bool memory_alone);

/* Edges of a block: through registers, flags and memory (depend.c, values.c). */
int as_block_depend(struct assay_predictor *p, struct assay_error *err);
/* Numbers of edges by the operation they lead to: order[first[i]] up to order[first[i + 1]]. False:
 * out of memory. */
struct as_edges_to {
    uint32_t *first, *order;
};
bool as_edges_by_user(const struct as_piece_of_code *block, struct as_arena *arena,
                      struct as_edges_to *out);
/* By op and memory operand, 2 * op + operand. */
int as_values_memory(struct assay_predictor *p, struct as_memory_edge *out);
void as_values_free(struct as_values **values);

/* ---- Bounds -------------------------------------------------------------------------------- */

/* The greatest ratio of weight to distance over all cycles of edges, and the edges of one such
 * cycle in order (at most op_n); 0 without a cycle. */
double as_chain_longest(const struct as_piece_of_code *block, struct as_arena *arena,
                        uint32_t *edge, size_t *edge_n);

/* The busiest set of ports: cycles, and the set. */
double as_ports_busiest(const struct as_piece_of_code *block, uint64_t *ports);
/* Spreads the load over the ports as evenly as can be. */
void as_ports_spread(const struct as_piece_of_code *block, double *port_use, float *insn_port);
/* Adds what loads that cross lines take; addresses are known. */
void as_ports_split(struct as_piece_of_code *block);
/* Adds what stores that follow each other take of the ports of loads. */
void as_ports_runs(const struct assay_predictor *p, struct as_piece_of_code *block);
/* What the ports of loads, and of the data and the addresses of stores are busy for. */
void as_ports_of_memory(const struct as_piece_of_code *block, struct assay_prediction *out);
/* So the units that divide and take roots, by the values computed with. */
void as_units_of_division(const struct as_piece_of_code *block, double *best, double *worst);
double as_units_busiest(const struct as_piece_of_code *block, const char **name);
double as_bank_busiest(const struct as_piece_of_code *block);
/* Cycles that the bytes loaded or stored take where the core limits bytes a cycle; which of them.
 */
double as_memory_bytes(const struct as_piece_of_code *block, const char **name);
double as_memory_mixed(const struct as_piece_of_code *block);
double as_store_lines(const struct as_piece_of_code *block);
double as_front_dispatch(const struct as_piece_of_code *block);
double as_front_decode(const struct as_piece_of_code *block);
/* Stage by stage, whether the code needs them or not; below 0: there is none. */
struct as_front_stages {
    double fetch, predecode, decoders;
    double cached; /* out of the loop buffer or the op cache; below 0: decoded each time */
};
struct as_front_stages as_front_stages(const struct as_piece_of_code *block);
double as_front_branch(const struct as_piece_of_code *block);

/* Branches, with what fused to them, that cross or end at 32 bytes; and all hazards (hazards.c). */
unsigned as_branches_at_end(const struct as_piece_of_code *block);
void as_find_hazards(const struct as_piece_of_code *block, struct assay_prediction *out);

/* ---- Simulation ---------------------------------------------------------------------------- */

/* Cycles of an iteration in the steady state; times of `timeline_n` iterations into the arena. */
int as_simulate(struct assay_predictor *p, unsigned timeline_n, double *cycles,
                struct assay_timeline_entry **timeline, size_t *entries);
/* What dispatch waited for in an iteration of the last simulation, by assay_buffer. */
void as_simulated_waits(const struct as_simulation *s, double *cycles);
/* The same of a core in order (in_order.c), and cycles in which an issue takes the first pipe of
 * the two, as far as nothing else may issue first. */
int as_simulate_in_order(struct assay_predictor *p, unsigned timeline_n, double *cycles,
                         struct assay_timeline_entry **timeline, size_t *entries);
double as_in_order_pipe(const struct assay_predictor *p, uint64_t *port);
void as_simulation_free(struct as_simulation **simulation);

#endif
