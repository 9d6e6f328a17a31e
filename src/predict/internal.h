/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares what the files of this room share. A block is a list of operations with their sources
 * and port use, and of edges between them. The predictor owns the memory of both.
 */
#ifndef AS_PREDICT_INTERNAL_H
#define AS_PREDICT_INTERNAL_H

#include "base/arena.h"
#include "base/index.h"
#include "base/vec.h"
#include "predict/predict.h"
#include "predict/x87.h"

/* Places of values: registers as in isa/isa.h, then two groups of flags that are renamed
 * separately. */
enum {
    AS_VALUE_CARRY = AS_REG_COUNT,
    AS_VALUE_FLAGS, /* all flags except the carry */
    AS_VALUE_PLACES
};
enum { AS_READS = 10, AS_WRITES = 8, AS_USES = 12 };

enum as_read_kind { AS_READ_DATA, AS_READ_ADDRESS };

struct as_op_read {
    uint8_t place;
    uint8_t kind; /* as_read_kind */
    /* Cycles by which this source may be ready later than others, from pair latencies. */
    float earlier;
};

struct as_op_write {
    uint8_t place;
    float latency;
};

/* Port-cycles of one group. */
struct as_op_use {
    uint8_t group;
    bool address; /* waits for the address, not for the data */
    float n;
};

/* One instruction, or two fused ones. */
struct as_op {
    uint32_t insn; /* index in the block */
    uint32_t at;   /* index of its record in the code */
    const struct as_core_timing *timing;
    uint8_t flags; /* as_uarch_flag */
    uint8_t bypass;
    uint8_t read_n, write_n, use_n, memory_n;
    bool loads, stores, vector, move, branch, stack, jump_taken, renamed_load, locked, extends,
        updates;
    float slots;        /* slots at rename */
    float decoded;      /* slots in the op cache; fewer for unlaminated forms */
    float decoded_more; /* in loops: further slots for a displacement with an immediate */
    float latency, worst;
    float load_latency;
    float own;
    uint32_t offset, length; /* in bytes */
    struct as_op_read read[AS_READS];
    struct as_op_write write[AS_WRITES];
    struct as_op_use use[AS_USES];
    struct as_memory memory[2];
    /* Symbolic address of its last memory operand, in the last iteration of the analysis. */
    uint32_t address_base;
    int64_t address_offset;
};

/* `to` starts at least `weight` cycles after `from`, `distance` iterations later. */
struct as_dependence_edge {
    uint32_t from, to;
    float weight;
    uint16_t distance;
    bool memory, address;
};

struct as_piece_of_code {
    const struct as_uarch *uarch;
    const struct as_code *code;
    uint32_t without;
    enum as_predict_mode mode;
    struct as_op *op;
    uint32_t op_n;
    uint32_t insn_n;
    uint32_t size_b;
    size_t without_load;           /* index of the record in the code plus 1; 0 = none */
    const struct as_regset *ready; /* as in as_predict_options */
    bool equal_memory, worst, varies;
    bool has_branch; /* the block has a branch of its own; otherwise dec and jnz are added */
    AS_VEC(struct as_dependence_edge) edge;
    unsigned estimated_n, alike_n, forward_failed_n;
    struct as_x87 x87; /* state while the block is built */
};

/* Returns the code address of `op`. The blocks of a path may have another order in memory. An added
 * branch is after all other code. */
static inline uint64_t as_op_address(const struct as_piece_of_code *block, const struct as_op *op)
{
    const struct as_op *first = &block->op[0];
    if (op->at != UINT32_MAX)
        return block->code->insn[op->at].address;
    return op->offset + (first->at == UINT32_MAX ? 0 : block->code->insn[first->at].address);
}

/* Table entry of a form, looked up once. */
struct as_known_form {
    uint32_t key; /* form and variant */
    const struct as_core_timing *timing;
    uint8_t match;
};

struct as_memory_edge {
    int32_t from; /* operation; below 0 = none */
    uint16_t distance;
    uint8_t kind; /* as_store_forward */
};

enum as_store_forward { AS_FORWARD_NONE, AS_FORWARD_RENAMED, AS_FORWARD_WHOLE, AS_FORWARD_FAILED };

struct as_predictor {
    const struct as_uarch *uarch;
    struct as_arena arena; /* memory of the current prediction */
    AS_VEC(struct as_known_form) known;
    struct as_index known_index;
    struct as_piece_of_code block;
    struct as_values *values;
    struct as_simulation *simulation;
    int group_load, group_load_fp, group_store_address, group_store_data, group_alu, group_fp,
        group_branch;
};

/* Makes the operations of a block from its instructions (block.c, estimate.c). Returns 0 or an
 * error. */
int as_block_build(struct as_predictor *p, const struct as_code *code, size_t first, size_t n,
                   struct as_error *err);
/* Find the registers and flags, or the memory, that an operation reads and writes (effects.c). */
void as_op_effects(struct as_predictor *p, struct as_op *op, const struct as_insn *insn,
                   const struct as_form *form);
void as_op_memory(struct as_predictor *p, struct as_op *op, const struct as_insn *insn,
                  const struct as_form *form);
/* Returns true if both operands are the same register. */
bool as_insn_same_registers(const struct as_insn *insn, const struct as_form *form);
/* Estimates a form without a table entry. With `memory_alone` the table has the form with
 * registers, and only the memory access is estimated. */
void as_estimate_op(const struct as_predictor *p, const struct as_form *form, struct as_op *op,
                    bool memory_alone);

/* Makes the edges of a block through registers, flags and memory (depend.c, values.c). Returns 0 or
 * an error. */
int as_block_depend(struct as_predictor *p, struct as_error *err);
/* Edges by their target operation i: order[first[i]] up to order[first[i + 1]]. as_edges_by_user
 * returns false if memory is short. */
struct as_edges_to {
    uint32_t *first, *order;
};
bool as_edges_by_user(const struct as_piece_of_code *block, struct as_arena *arena,
                      struct as_edges_to *out);
/* Finds the stores that feed loads. `out` has two elements per operation: index 2 * op + operand.
 * Returns 0 or AS_ERR_NOMEM. */
int as_values_memory(struct as_predictor *p, struct as_memory_edge *out);
void as_values_free(struct as_values **values);

/* ---- Bounds -------------------------------------------------------------------------------- */

/* Returns the highest ratio of weight to distance over all cycles of edges, in cycles per
 * iteration. Sets `edge` to the edges of one such cycle in order (at most op_n). Returns 0 without
 * a cycle and -1 if memory is short. */
double as_chain_longest(const struct as_piece_of_code *block, struct as_arena *arena,
                        uint32_t *edge, size_t *edge_n);

/* Returns the cycles of the busiest set of ports and sets `ports` to the set. */
double as_ports_busiest(const struct as_piece_of_code *block, uint64_t *ports);
/* Spreads the load over the ports as evenly as possible. */
void as_ports_spread(const struct as_piece_of_code *block, double *port_use, float *insn_port);
/* Adds the port use of loads that cross cache lines. The addresses are known by then. */
void as_ports_split(struct as_piece_of_code *block);
/* Adds the use of load ports by consecutive stores. */
void as_ports_runs(const struct as_predictor *p, struct as_piece_of_code *block);
/* Sets the cycles per iteration of the load, store-data and store-address ports. */
void as_ports_of_memory(const struct as_piece_of_code *block, struct as_prediction *out);
/* Sets the cycles of the dividers for the best and the worst values of operands. */
void as_units_of_division(const struct as_piece_of_code *block, double *best, double *worst);
double as_units_busiest(const struct as_piece_of_code *block, const char **name);
double as_bank_busiest(const struct as_piece_of_code *block);
/* Returns the cycles for the loaded or stored bytes if the core limits bytes per cycle. Sets `name`
 * to the limiting kind. */
double as_memory_bytes(const struct as_piece_of_code *block, const char **name);
double as_memory_mixed(const struct as_piece_of_code *block);
double as_store_lines(const struct as_piece_of_code *block);
double as_front_dispatch(const struct as_piece_of_code *block);
double as_front_decode(const struct as_piece_of_code *block);
/* Returns true if the microcode store supplies an operation that begins a group of slots. */
bool as_front_begins_group(const struct as_piece_of_code *block, const struct as_op *op);

/* Cycles of each front-end stage, also of unused ones; below 0: the core does not have it. */
struct as_front_stages {
    double fetch, predecode, decoders;
    double cached; /* loop buffer or op cache; below 0: the code is decoded each time */
};
struct as_front_stages as_front_stages(const struct as_piece_of_code *block);
double as_front_branch(const struct as_piece_of_code *block);

/* as_branches_at_end counts branches, with instructions fused to them, that cross or end at 32
 * bytes. as_find_hazards sets all hazards (hazards.c). */
unsigned as_branches_at_end(const struct as_piece_of_code *block);
void as_find_hazards(const struct as_piece_of_code *block, struct as_prediction *out);

/* ---- Simulation ---------------------------------------------------------------------------- */

/* Simulates the block. Sets `cycles` to the cycles per iteration in the steady state. The arena
 * owns the times of `timeline_n` iterations. Returns 0 or AS_ERR_NOMEM. */
int as_simulate(struct as_predictor *p, unsigned timeline_n, double *cycles,
                struct as_timeline_entry **timeline, size_t *entries);
/* Sets `cycles` to the cycles per iteration of the last simulation that dispatch waited for each
 * as_buffer. */
void as_simulated_waits(const struct as_simulation *s, double *cycles);
/* Do the same for an in-order core (in_order.c). as_in_order_pipe returns the cycles of issues that
 * only the first pipe can take. It sets `port` to this pipe. */
int as_simulate_in_order(struct as_predictor *p, unsigned timeline_n, double *cycles,
                         struct as_timeline_entry **timeline, size_t *entries);
double as_in_order_pipe(const struct as_predictor *p, uint64_t *port);
void as_simulation_free(struct as_simulation **simulation);

#endif
