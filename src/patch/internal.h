/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares what the files of this room share while they make a plan: the code of one module,
 * liveness in a body, regions, and the clone under construction.
 */
#ifndef AS_PATCH_INTERNAL_H
#define AS_PATCH_INTERNAL_H

#include "base/error.h"
#include "base/vec.h"
#include "isa/form.h"
#include "patch/address_plan.h"
#include "patch/lane_count.h"
#include "patch/patch.h"

/* Bits of live sets: general registers by number, then the status flags from bit
 * AS_LIVE_FLAGS on. */
enum {
    AS_LIVE_FLAGS = 16,
    AS_LIVE_CARRY = 1 << AS_LIVE_FLAGS,
    AS_LIVE_STATUS = (AS_FLAG_C | AS_FLAG_P | AS_FLAG_A | AS_FLAG_Z | AS_FLAG_S | AS_FLAG_O)
                     << AS_LIVE_FLAGS,
    AS_LIVE_STACK = 1 << 4,
    AS_LIVE_ALL = 0xffff | AS_LIVE_STATUS
};

/* The code of one module for which loops are planned. */
struct as_patch_code {
    const struct as_program *program;
    const bool *wanted;
    /* Regions are whole bodies; no loop is measured separately. */
    bool bare;
    /* COUNT: blocks are counted, also their parts after calls. */
    bool counts;
    const struct as_patch_points *points; /* PROBE; else NULL */
    /* VARY: blocks with calls are left out of loops (cold_split.c). */
    bool varies;
    bool nests;         /* VARY: outer loops are planned before inner ones */
    uint32_t *by_start; /* blocks of the program, sorted by address */
    uint32_t live_body; /* body that `live` describes, or AS_NONE */
    uint32_t *live;     /* per block of this body: live set at its start */
    uint32_t live_end;  /* live set at its returns */
    size_t live_room;
};

static inline bool as_patch_is_wanted(const struct as_patch_code *code, uint32_t loop)
{
    return !code->wanted || code->wanted[loop];
}

/* Finds the live set at the start of each block of `body` (code->live, by block minus first_block).
 * Unknown registers and flags count as live. Returns 0 or AS_ERR_NOMEM. */
int as_live_find(struct as_patch_code *code, uint32_t body);
/* Returns the live set before instruction `insn` of the program in `block`. as_live_find was called
 * for its body. */
uint32_t as_live_before(const struct as_patch_code *code, uint32_t block, uint32_t insn);
/* Returns the live set at the start of a block. as_live_find was called for its body. */
static inline uint32_t as_live_at(const struct as_patch_code *code, uint32_t block)
{
    const struct as_program *p = code->program;
    return code->live[block - p->body[p->block[block].body].first_block];
}

/* Returns the free registers and flags of a live set, as bits of as_patch_free. */
static inline uint32_t as_live_free(uint32_t live)
{
    return (~live & 0xffff & ~(uint32_t)AS_LIVE_STACK) |
           (live & AS_LIVE_STATUS ? 0 : AS_PATCH_STATUS_FREE);
}

/* ---- Regions -------------------------------------------------------------------------------- */

enum { AS_SITES_MOST = 4096, AS_REGION_BLOCKS_MOST = 20000 };

/* An entry: an address of the original code where control enters the clone. The first is the
 * header. */
struct as_patch_place {
    uint64_t address;
    uint8_t why;  /* as_patch_refusal if space for its jump is missing */
    uint8_t ways; /* as_patch_way: how control arrives */
    int32_t hop;  /* as in as_patch_site */
};
enum as_patch_way {
    AS_PATCH_WAY_ENTERS = 1 << 0,  /* from outside */
    AS_PATCH_WAY_TABLE = 1 << 1,   /* by a jump table of the area */
    AS_PATCH_WAY_RETURNS = 1 << 2, /* from a call, or by an exception */
};

struct as_patch_area {
    struct as_patch_code *code;
    uint32_t body;
    uint32_t loop;         /* outermost loop; AS_NONE: the whole body */
    uint32_t header;       /* block at which control enters */
    const uint32_t *block; /* sorted by address */
    uint32_t blocks;
    uint32_t *own;  /* memory of `block` for bodies and cooled loops; else NULL */
    bool is_cooled; /* only some blocks of the loop; the others run as the program's code */
    AS_VEC(struct as_patch_place) place; /* the first is the header */
    bool bare;                           /* no loop is measured separately */
};

/* Decides whether `loop` can be a clone and fills `out`; the caller calls as_patch_area_fini. Sets
 * *refusal to the reason, or 0. Returns 0 or AS_ERR_NOMEM. */
int as_patch_area_make(struct as_patch_code *code, uint32_t loop, struct as_patch_area *out,
                       unsigned *refusal);
/* Does the same for all reached code of `body`. */
int as_patch_area_make_body(struct as_patch_code *code, uint32_t body, struct as_patch_area *out,
                            unsigned *refusal);
void as_patch_area_fini(struct as_patch_area *area);
/* Removes blocks with calls, and blocks that only lead to them, from the area of a loop. The area
 * does not change if no iteration is free of calls. The call precedes the search for entries.
 * Returns 0 or AS_ERR_NOMEM. */
int as_patch_area_cool(struct as_patch_area *area);
/* Returns true if the program's code of the loop can still run when the header has its jump. */
bool as_patch_area_leaves_code(const struct as_patch_area *area);
/* Sorts the entries after the first and finds the space for their jumps. Returns
 * the refusal, or 0. */
unsigned as_patch_room_find(struct as_patch_area *area);

/* Returns true if control comes from outside to the code at `address`. */
bool as_patch_area_enters(const struct as_patch_area *area, uint64_t address);
bool as_patch_area_holds(const struct as_patch_area *area, uint32_t block);
/* Returns the index in `block` of the block that starts at `address`, or AS_NONE. */
uint32_t as_patch_area_find(const struct as_patch_area *area, uint64_t address);
/* Returns the block of the program that starts at or covers `address`, or AS_NONE. */
uint32_t as_patch_block_at(const struct as_patch_code *code, uint64_t address);

/* ---- Trips ---------------------------------------------------------------------------------- */

struct as_patch_induction {
    uint8_t reg; /* or AS_PATCH_NONE */
    uint8_t width_b;
    int64_t step;
    uint32_t block;
};

/* Returns the register that shows how often the header of `loop` ran: one instruction adds a
 * constant to it per iteration. `reg` is AS_PATCH_NONE if there is none. */
struct as_patch_induction as_patch_induction_find(const struct as_program *p, uint32_t loop);
/* Returns the difference between runs of the header and steps for an exit from block `from`: 0 or
 * 1. Returns -1 if it varies. */
int as_patch_induction_add(const struct as_program *p, uint32_t loop,
                           const struct as_patch_induction *it, uint32_t from);
/* Returns true if control also enters `loop` at another block than its header. */
bool as_patch_has_entries(const struct as_program *p, uint32_t loop);
/* Sets `reg` to a register that is free in the whole `loop` and not in `taken`, or to
 * AS_PATCH_NONE. Returns 0 or AS_ERR_NOMEM. */
int as_patch_tally_find(struct as_patch_code *code, uint32_t loop, uint32_t taken, uint8_t *reg);

/* Change of a general register per iteration; `by` is 0 if nothing writes it. */
struct as_patch_step {
    bool is_known; /* `by` is known, and the register has 8 bytes */
    uint8_t width_b;
    /* If unknown: a register that the loop does not write and that is added `times`
     * per iteration. */
    uint8_t by_reg;
    uint8_t times;
    int64_t by;
    uint32_t insn; /* instruction of the change; AS_NONE: none */
};
void as_patch_steps_find(const struct as_patch_area *area, struct as_patch_step out[16]);
/* Does the same for `blocks` of a loop. `area` limits the iterations to those that it contains; it
 * may be NULL. */
void as_patch_steps_of(const struct as_patch_code *code, const struct as_patch_area *area,
                       uint32_t loop, const uint32_t *block, uint32_t blocks,
                       struct as_patch_step out[16]);
/* Returns true if every path to block `b` passes block `a`. */
bool as_patch_dominates(const struct as_program *p, uint32_t a, uint32_t b);
/* Returns true if `block` runs exactly once in each iteration of `loop` except the last. `area`
 * limits the iterations to those that it contains; it may be NULL. */
bool as_patch_in_every_iteration(const struct as_program *p, uint32_t loop,
                                 const struct as_patch_area *area, uint32_t block);
/* Returns the constant that `insn` adds to general register `reg`, and sets *width_b to the
 * register's bytes. Returns 0 for other instructions. */
int64_t as_patch_step_of(const struct as_insn *insn, unsigned reg, uint8_t *width_b);

/* Register that ends a slice: the loop is left at its header after a number of iterations. */
struct as_patch_slice {
    uint8_t reg; /* or AS_PATCH_NONE */
    uint8_t width_b;
    uint32_t insn; /* instruction that writes it once per iteration */
    int64_t step;
};
/* Finds the register. The status flags must be dead at the header. The caller has called
 * as_live_find. */
struct as_patch_slice as_patch_slice_find(const struct as_patch_area *area);

/* ---- Counts --------------------------------------------------------------------------------- */

/* Counted blocks of an area, by their numbers in it. */
struct as_patch_counted {
    bool *is;                          /* the block has its own counter */
    AS_VEC(struct as_patch_term) term; /* derive the counts of the others */
};
/* Chooses the counted blocks. Returns 0 or AS_ERR_NOMEM; the caller calls as_patch_counted_fini
 * in both cases. */
int as_patch_counted_find(const struct as_patch_area *area, struct as_patch_counted *out);
void as_patch_counted_fini(struct as_patch_counted *counted);

/* ---- Clones --------------------------------------------------------------------------------- */

/* An exit of loop number `loop` of the plan, before the exits of each loop are grouped. */
struct as_patch_pending {
    uint32_t loop;
    struct as_patch_exit exit;
};

/* Growing tables of the plan. */
struct as_patch_maker {
    struct as_patch_wish wish;
    AS_VEC(struct as_patch_module) module;
    AS_VEC(struct as_patch_region) region;
    AS_VEC(struct as_patch_loop) loop;
    AS_VEC(struct as_patch_exit) exit;
    AS_VEC(struct as_patch_pending) pending; /* exits of the current region */
    AS_VEC(struct as_patch_edge) edge;
    AS_VEC(struct as_patch_event) event;
    AS_VEC(struct as_patch_site) site;
    AS_VEC(struct as_patch_reloc) reloc;
    AS_VEC(struct as_patch_span) span;
    AS_VEC(struct as_patch_counter) counter;
    AS_VEC(struct as_patch_term) term;
    AS_VEC(struct as_patch_variant) variant;
    AS_VEC(struct as_patch_stream) stream;
    AS_VEC(uint8_t) code;
    AS_VEC(char) text;
    struct as_address_plan addresses; /* not part of the plan file */
};

/* A measured loop of a region: its number in the program and in the plan. */
struct as_patch_inner {
    uint32_t loop, number;
    struct as_patch_induction induction;
    uint8_t tally;
    bool counts; /* counted in memory, because it has neither induction register nor tally */
};

/* Returns the registers that show the iterations of a loop; stubs read them. */
static inline uint32_t as_patch_kept(const struct as_patch_inner *it)
{
    return (it->induction.reg == AS_PATCH_NONE ? 0 : 1u << it->induction.reg) |
           (it->tally == AS_PATCH_NONE ? 0 : 1u << it->tally);
}

struct as_patch_clone {
    struct as_patch_maker *maker;
    const struct as_patch_area *area;
    const struct as_patch_inner *inner; /* outer loops before inner ones */
    uint32_t inners;
    uint32_t region;
    bool measured;
    struct as_variant *variant; /* variant to be made, or NULL */
    struct as_patch_slice slice;
};

/* Returns true if the region is one measured loop, which control enters at the region's header. */
static inline bool as_patch_enters(const struct as_patch_clone *clone)
{
    return clone->inners && clone->inner[0].loop == clone->area->loop;
}

/* Appends the clone of an area to the maker's tables. Sets `out`, and `at` to the offset of each
 * entry of the area. Sets *refusal if an instruction cannot be moved. Returns 0 or
 * AS_ERR_NOMEM. */
int as_patch_clone_make(const struct as_patch_clone *clone, struct as_patch_template *out,
                        uint32_t *at, unsigned *refusal);

/* Returns the number of the point before or after the instruction at `address`, or SIZE_MAX
 * (clone_point.c). */
size_t as_patch_point_find(const struct as_patch_points *points, uint64_t address, bool behind);

/* ---- One region ----------------------------------------------------------------------------- */

/* Lengths of the tables, to remove the additions of a refused region. */
struct as_patch_mark {
    size_t region, loop, exit, edge, event, site, reloc, span, counter, term, variant, stream, code;
    size_t address_record, address_operand, address_missed;
};
struct as_patch_mark as_patch_mark_of(const struct as_patch_maker *m);
void as_patch_go_back(struct as_patch_maker *m, const struct as_patch_mark *to);

/* Plans `loop`, or `body` if `loop` is AS_NONE, as one region. Sets the verdicts of its measured
 * loops unless `verdict` is NULL. A refused region leaves the tables unchanged and sets *refusal.
 * Returns 0 or AS_ERR_NOMEM. */
int as_patch_region_try(struct as_patch_maker *m, struct as_patch_code *code, uint32_t body,
                        uint32_t loop, struct as_patch_verdict *verdict, unsigned *refusal);

#endif
