/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this room share while a plan is made: the code of one region (an outermost loop
 * of those asked for), liveness in its body, and the clone under construction.
 */
#ifndef AS_PATCH_INTERNAL_H
#define AS_PATCH_INTERNAL_H

#include "base/error.h"
#include "base/vec.h"
#include "isa/form.h"
#include "patch/address_plan.h"
#include "patch/lane_count.h"
#include "patch/patch.h"

/* General registers by their number, then the status flags from bit AS_LIVE_FLAGS on. */
enum {
    AS_LIVE_FLAGS = 16,
    AS_LIVE_CARRY = 1 << AS_LIVE_FLAGS,
    AS_LIVE_STATUS =
        (ASSAY_FLAG_C | ASSAY_FLAG_P | ASSAY_FLAG_A | ASSAY_FLAG_Z | ASSAY_FLAG_S | ASSAY_FLAG_O)
        << AS_LIVE_FLAGS,
    AS_LIVE_STACK = 1 << 4,
    AS_LIVE_ALL = 0xffff | AS_LIVE_STATUS
};

/* What one module's loops are planned with. */
struct as_patch_code {
    const struct assay_program *program;
    const bool *wanted;
    bool bare;                            /* whole bodies, with no loop measured by itself */
    bool counts;                          /* how often blocks run, parts of them behind calls too */
    const struct as_patch_points *points; /* PROBE; else NULL */
    bool varies;                          /* what makes calls is left out of loops: cold_split.c */
    bool nests;                           /* so: loops before those in them */
    uint32_t *by_start;                   /* blocks of the program by address */
    uint32_t live_body;                   /* body that `live` is of, or ASSAY_NONE */
    uint32_t *live;                       /* per block of that body: what is live at its start */
    uint32_t live_end;                    /* and at its returns */
    size_t live_room;
};

static inline bool as_patch_is_wanted(const struct as_patch_code *code, uint32_t loop)
{
    return !code->wanted || code->wanted[loop];
}

/* What is live at the start of each block of `body` (code->live, by block less first_block). What
 * is not known is live. 0 or ASSAY_ERR_NOMEM. */
int as_live_find(struct as_patch_code *code, uint32_t body);
/* What is live before instruction `insn` (of the program) of `block`, of that body. */
uint32_t as_live_before(const struct as_patch_code *code, uint32_t block, uint32_t insn);
/* Of a block of that body. */
static inline uint32_t as_live_at(const struct as_patch_code *code, uint32_t block)
{
    const struct assay_program *p = code->program;
    return code->live[block - p->body[p->block[block].body].first_block];
}

/* What is free where `live` is live, as the plan says it. */
static inline uint32_t as_live_free(uint32_t live)
{
    return (~live & 0xffff & ~(uint32_t)AS_LIVE_STACK) |
           (live & AS_LIVE_STATUS ? 0 : AS_PATCH_STATUS_FREE);
}

/* ---- Regions -------------------------------------------------------------------------------- */

enum { AS_SITES_MOST = 4096, AS_REGION_BLOCKS_MOST = 20000 };

/* A place of the original code that leads into the clone: the header, and where control arrives
 * from elsewhere. */
struct as_patch_place {
    uint64_t address;
    uint8_t why;  /* as_patch_refusal that says what it is when there is no room for it */
    uint8_t ways; /* as_patch_way: how control comes there */
    int32_t hop;  /* as of a site of the plan */
};
enum as_patch_way {
    AS_PATCH_WAY_ENTERS = 1 << 0,  /* from outside */
    AS_PATCH_WAY_TABLE = 1 << 1,   /* by a jump table of the area */
    AS_PATCH_WAY_RETURNS = 1 << 2, /* from a call, or by an exception */
};

struct as_patch_area {
    struct as_patch_code *code;
    uint32_t body;
    uint32_t loop;         /* outermost; ASSAY_NONE: the whole body */
    uint32_t header;       /* block that it is entered at */
    const uint32_t *block; /* by address */
    uint32_t blocks;
    uint32_t *own;  /* of a body, and of what is cooled: where `block` is */
    bool is_cooled; /* a part of the loop's blocks: others run as the program has them */
    AS_VEC(struct as_patch_place) place; /* the first is the header */
    bool bare;                           /* no loop in it is measured by itself */
};

/* Whether `loop` can be a clone: fills `out` (as_patch_area_fini); refusal or 0 into *refusal. 0 or
 * ASSAY_ERR_NOMEM. */
int as_patch_area_make(struct as_patch_code *code, uint32_t loop, struct as_patch_area *out,
                       unsigned *refusal);
/* The same of all code of `body` that is reached: from its entry on. */
int as_patch_area_make_body(struct as_patch_code *code, uint32_t body, struct as_patch_area *out,
                            unsigned *refusal);
void as_patch_area_fini(struct as_patch_area *area);
/* Leaves what makes calls, and what leads there alone, out of the area of a loop, where iterations
 * without are possible; before its places are found. 0 or ASSAY_ERR_NOMEM. */
int as_patch_area_cool(struct as_patch_area *area);
/* Whether the code of the loop can run though the header has its jump. */
bool as_patch_area_leaves_code(const struct as_patch_area *area);
/* Puts the places behind the first in order, and says how jumps fit there; the refusal, or 0. */
unsigned as_patch_room_find(struct as_patch_area *area);

/* Whether `block` belongs to `loop`, itself or in a loop of it. */
bool as_patch_holds(const struct assay_program *p, uint32_t loop, uint32_t block);
/* Whether control comes from outside to the code at `address`: a place. */
bool as_patch_area_enters(const struct as_patch_area *area, uint64_t address);
bool as_patch_area_holds(const struct as_patch_area *area, uint32_t block);
/* Block of the area that starts at `address`: its number in `block`, or ASSAY_NONE. */
uint32_t as_patch_area_find(const struct as_patch_area *area, uint64_t address);
/* Block of the program that starts at or covers `address`, or ASSAY_NONE. */
uint32_t as_patch_block_at(const struct as_patch_code *code, uint64_t address);

/* ---- Trips ---------------------------------------------------------------------------------- */

struct as_patch_induction {
    uint8_t reg; /* or AS_PATCH_NONE */
    uint8_t width_b;
    int64_t step;
    uint32_t block;
};

/* The register that tells how often the header of `loop` ran: written once in an iteration, by a
 * constant. */
struct as_patch_induction as_patch_induction_find(const struct assay_program *p, uint32_t loop);
/* An exit from block `from`: 0 or 1 more than the steps, or -1 when that depends. */
int as_patch_induction_add(const struct assay_program *p, uint32_t loop,
                           const struct as_patch_induction *it, uint32_t from);
/* Whether control comes into `loop` elsewhere than at its header, too. */
bool as_patch_has_entries(const struct assay_program *p, uint32_t loop);
/* A register that is free all through `loop`, none of `taken`; or AS_PATCH_NONE. 0 or NOMEM. */
int as_patch_tally_find(struct as_patch_code *code, uint32_t loop, uint32_t taken, uint8_t *reg);

/* What an iteration adds to a general register: 0 where nothing writes it. */
struct as_patch_step {
    bool is_known; /* and the register is 8 bytes wide there */
    uint8_t width_b;
    uint8_t by_reg; /* not known: `times` what this register has, which the loop does not write */
    uint8_t times;
    int64_t by;
    uint32_t insn; /* that does it; ASSAY_NONE: none */
};
void as_patch_steps_find(const struct as_patch_area *area, struct as_patch_step out[16]);
/* The same of `blocks` of a loop; `area`: of the iterations that it has of the loop, or NULL. */
void as_patch_steps_of(const struct as_patch_code *code, const struct as_patch_area *area,
                       uint32_t loop, const uint32_t *block, uint32_t blocks,
                       struct as_patch_step out[16]);
/* Returns true if control comes to block `b` through `a` alone. */
bool as_patch_dominates(const struct assay_program *p, uint32_t a, uint32_t b);
/* Returns true if `block` runs once in each iteration of `loop` but the last. `area`: of the
 * iterations that it has of the loop, or NULL. */
bool as_patch_in_every_iteration(const struct assay_program *p, uint32_t loop,
                                 const struct as_patch_area *area, uint32_t block);
/* The constant that `insn` adds to general register `reg`, of width *width_b; 0: it does something
 * else. */
int64_t as_patch_step_of(const struct assay_insn *insn, unsigned reg, uint8_t *width_b);

/* The register by which a loop is left at its header after so many iterations. */
struct as_patch_slice {
    uint8_t reg; /* or AS_PATCH_NONE */
    uint8_t width_b;
    uint32_t insn; /* that writes it, once in each iteration */
    int64_t step;
};
/* Of a loop whose flags nobody needs at the header; as_live_find went before. */
struct as_patch_slice as_patch_slice_find(const struct as_patch_area *area);

/* ---- Counts --------------------------------------------------------------------------------- */

/* Blocks of an area, by their numbers in it. */
struct as_patch_counted {
    bool *is;                          /* counted where it runs */
    AS_VEC(struct as_patch_term) term; /* for the others */
};
/* as_patch_counted_fini in any case. 0 or ASSAY_ERR_NOMEM. */
int as_patch_counted_find(const struct as_patch_area *area, struct as_patch_counted *out);
void as_patch_counted_fini(struct as_patch_counted *counted);

/* ---- Clones --------------------------------------------------------------------------------- */

/* An exit of loop number `loop` of the plan, before those of one loop are put together. */
struct as_patch_pending {
    uint32_t loop;
    struct as_patch_exit exit;
};

/* Tables of the plan as they grow. */
struct as_patch_maker {
    struct as_patch_wish wish;
    AS_VEC(struct as_patch_module) module;
    AS_VEC(struct as_patch_region) region;
    AS_VEC(struct as_patch_loop) loop;
    AS_VEC(struct as_patch_exit) exit;
    AS_VEC(struct as_patch_pending) pending; /* of the region at hand */
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
    struct as_address_plan addresses; /* not in the file */
};

/* A loop that is measured in a region: its number in the program and in the plan. */
struct as_patch_inner {
    uint32_t loop, number;
    struct as_patch_induction induction;
    uint8_t tally;
    bool counts; /* neither tells: in memory */
};

/* Registers that tell of its iterations: stubs read them. */
static inline uint32_t as_patch_kept(const struct as_patch_inner *it)
{
    return (it->induction.reg == AS_PATCH_NONE ? 0 : 1u << it->induction.reg) |
           (it->tally == AS_PATCH_NONE ? 0 : 1u << it->tally);
}

struct as_patch_clone {
    struct as_patch_maker *maker;
    const struct as_patch_area *area;
    const struct as_patch_inner *inner; /* outer before inner */
    uint32_t inners;
    uint32_t region;
    bool measured;
    struct as_variant *variant; /* to be made; NULL: none */
    struct as_patch_slice slice;
};

/* Whether at the header of the region one loop is entered, which is all of it. */
static inline bool as_patch_enters(const struct as_patch_clone *clone)
{
    return clone->inners && clone->inner[0].loop == clone->area->loop;
}

/* Appends the clone of an area to the maker's tables: `out`, and for each place of the area its
 * offset into `at`. *refusal when an instruction cannot be moved; the tables then stay as they
 * were. 0 or ASSAY_ERR_NOMEM. */
int as_patch_clone_make(const struct as_patch_clone *clone, struct as_patch_template *out,
                        uint32_t *at, unsigned *refusal);

/* Number of the point before the instruction at `address`, or behind it; SIZE_MAX: there is none.
 * (clone_point.c) */
size_t as_patch_point_find(const struct as_patch_points *points, uint64_t address, bool behind);

/* ---- One region ----------------------------------------------------------------------------- */

/* How far the tables were, to take back what a refused region added. */
struct as_patch_mark {
    size_t region, loop, exit, edge, event, site, reloc, span, counter, term, variant, stream, code;
    size_t address_record, address_operand, address_missed;
};
struct as_patch_mark as_patch_mark_of(const struct as_patch_maker *m);
void as_patch_go_back(struct as_patch_maker *m, const struct as_patch_mark *to);

/* Plans all of `loop`, or, where that is ASSAY_NONE, of `body`, as one region; verdicts of what is
 * measured in it, unless NULL. A refused one leaves the tables as they were. 0 or
 * ASSAY_ERR_NOMEM. */
int as_patch_region_try(struct as_patch_maker *m, struct as_patch_code *code, uint32_t body,
                        uint32_t loop, struct as_patch_verdict *verdict, unsigned *refusal);

#endif
