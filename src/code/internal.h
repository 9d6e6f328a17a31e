/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this room share while a program is analysed: regions (contiguous code with one
 * start), their instructions, and the flow of one body before it goes into the tables.
 *
 * Order of work: regions -> sweep (decode) -> split (call targets in gaps) -> scan (who jumps and
 * refers where) -> join (parts to bodies, outlined bodies to parents) -> flow (blocks and edges, in
 * rounds until no further body turns out not to return) -> nest (dominators, loops) -> tables.
 */
#ifndef AS_CODE_INTERNAL_H
#define AS_CODE_INTERNAL_H

#include <assay/code.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/vec.h"
#include "isa/form.h"

/* Contiguous code that starts in one place: a function, a cold part, a PLT entry, or a gap. */
struct as_region {
    uint64_t start, end;
    size_t first_insn; /* into the sweep; insns that start in [start, end) */
    uint32_t insns;
    uint32_t function; /* index into the object's functions or ASSAY_NONE */
    uint32_t body;     /* body it belongs to, ASSAY_NONE for gaps */
    uint32_t owner;    /* region that heads the body: itself, or that of a part */
    uint64_t lsda;     /* of its unwind range, 0 = none */
    uint8_t origin;    /* assay_function_origin */
    bool is_gap;       /* bytes between functions: padding or data, unless something calls it */
    bool is_part;      /* named as a part (.cold) */
    bool is_called;    /* by a direct call or the loader, or code takes its address */
    bool is_pointed;   /* its address stands in data: a function, or an entry of a jump table */
};

/*
 * Instructions of a run of regions that may lead to other code or name a constant address, noted
 * while their records are in the cache: few of all, and all that split and scan look at.
 */
struct as_code_notes {
    uint64_t start, end;   /* addresses of the regions */
    AS_VEC(uint32_t) insn; /* into the sweep, ascending */
};

/* Direct transfer of control from one region into another, or inside a part's candidates. */
struct as_crossing {
    uint32_t from, to; /* regions */
    uint64_t target;
    bool conditional;
};

/* A constant address in code that is the start of a region: a function whose address is taken. */
struct as_reference {
    uint32_t from, to; /* regions */
    size_t insn;       /* the instruction that holds it */
};

struct as_flow_edge {
    uint32_t to;  /* block of the same flow */
    uint8_t kind; /* assay_edge_kind */
};

struct as_flow_block {
    uint64_t start;
    uint32_t size_b;
    uint32_t first_insn; /* into the sweep */
    uint32_t insns;
    uint32_t first_edge, edges;
    uint8_t bits; /* assay_block_bits */
    bool is_root; /* entry, second entry, or first of code that nothing was seen to reach */
};

/* Blocks of one body, in address order of its regions. */
struct as_flow {
    struct as_flow_block *block;
    struct as_flow_edge *edge;
    uint32_t *callee; /* bodies called or jumped to; the first `tails` are by tail call */
    uint32_t blocks, edges;
    uint32_t callees, tails;
    uint32_t entry;  /* block */
    uint32_t jumps;  /* indirect */
    uint32_t tables; /* of them resolved */
    uint32_t calls;  /* of them tail calls */
    bool may_return; /* a return, a call through a pointer or an unknown jump is reached */
    bool has_landing;
};

struct as_body_parts {
    uint32_t head;           /* region */
    uint32_t first, regions; /* into part: its regions by address, head included */
    uint32_t parent;         /* body it was outlined from or ASSAY_NONE */
    bool outlined;
    bool noreturn;
};

struct as_builder {
    struct assay_program *program;
    struct assay_object *object;
    struct as_pool *pool;
    unsigned path_limit;
    AS_VEC(struct as_region) region; /* ascending, not overlapping */
    struct as_near {                 /* where to look for the region of an address */
        uint64_t base;
        unsigned shift;
        size_t n;        /* stretches of 1 << shift bytes; 0: everywhere */
        uint32_t *first; /* n + 1: first region that ends behind the start of the stretch */
    } near;
    AS_VEC(struct as_code_notes) notes; /* by address; from sweep to scan */
    AS_VEC(struct as_crossing) crossing;
    AS_VEC(struct as_reference) reference;
    AS_VEC(uint64_t) data_address; /* constant addresses of non-code that code computes; sorted */
    AS_VEC(uint64_t) label; /* addresses inside regions taken as values, in code or data; sorted */
    AS_VEC(uint64_t) second_entry; /* inside regions: symbols, targets of jumps of others; sorted */
    struct assay_pointers pointers;
    AS_VEC(struct as_body_parts) body;
    AS_VEC(uint32_t) part;  /* regions of the bodies */
    struct as_flow *flow;   /* per body */
    struct as_arena *arena; /* per worker; then, per worker, what as_scratch_of empties */
    unsigned workers;
};

/* What one worker works in from here on until it asks again: what was there is gone. */
static inline struct as_arena *as_scratch_of(const struct as_builder *b, unsigned worker)
{
    struct as_arena *scratch = &b->arena[b->workers + worker];
    as_arena_reset(scratch);
    return scratch;
}

#define AS_FETCH_MOST 512

/* Asks memory for the first of `n` records that are to be looked at now, in whatever order. */
static inline void as_insns_fetch(const struct assay_insn *insn, size_t n)
{
    n = n < AS_FETCH_MOST ? n : AS_FETCH_MOST;
    for (size_t i = 0; i < n; i += 64 / sizeof *insn)
        __builtin_prefetch(&insn[i]);
}

/* Region that holds `address`, or ASSAY_NONE. O(log n), near O(1). */
uint32_t as_region_at(const struct as_builder *b, uint64_t address);
/* Instruction of the region that starts at `address` or, failing that, covers it; SIZE_MAX when
 * the region does not hold the address. */
size_t as_region_insn(const struct as_builder *b, uint32_t region, uint64_t address);
/* The same for who comes from an instruction of the region, `near`, and goes mostly not far. */
size_t as_region_insn_near(const struct as_builder *b, uint32_t region, uint64_t address,
                           size_t near);

/* Makes `near` for the regions as they are. 0 or ASSAY_ERR_NOMEM. */
int as_regions_index(struct as_builder *b);
void as_notes_release(struct as_builder *b);

int as_regions_make(struct as_builder *b, struct assay_error *err);
int as_regions_sweep(struct as_builder *b, struct assay_error *err);
int as_regions_split(struct as_builder *b, struct assay_error *err);
int as_regions_scan(struct as_builder *b, struct assay_error *err);
int as_bodies_join(struct as_builder *b, struct assay_error *err);
int as_flows_make(struct as_builder *b, struct assay_error *err);
int as_program_fill(struct as_builder *b, struct assay_error *err);
/* Source ranges, inlining, groups, roles and unroll factors of the loops of filled tables. */
int as_loops_source(struct as_builder *b, struct assay_error *err);

/* True for functions that never return, by their linkage name (data/code/noreturn.txt). */
bool as_noreturn_name(const char *name);

/* First element of `sorted` at or above `address`. O(log n). */
size_t as_lower_bound(const uint64_t *sorted, size_t n, uint64_t address);
/* Sorts addresses and drops repeats; returns how many are left. */
size_t as_sort_unique(uint64_t *address, size_t n);
/* The code address that stands in data at `at`; false when none does. O(log n). */
bool as_pointer_at(const struct as_builder *b, uint64_t at, uint64_t *target);
/* The imported function whose address the loader puts at `at`, or NULL. O(log n). */
const char *as_import_at(const struct as_builder *b, uint64_t at);

/* Targets of the indirect jump at `insn` (local code addresses, in table order, with repeats). */
struct as_jump_targets {
    AS_VEC(uint64_t) at;
    bool resolved;
    bool is_call; /* the table holds functions: a tail call */
    bool indexed; /* an index chooses the target: a table, understood or not */
    bool is_sum;  /* it is a sum, as for tables of distances; no function pointer is one */
    const struct as_constants *constants; /* of the last walk's blocks, or NULL in the first */
};
/* `out` is reused. 0 or ASSAY_ERR_NOMEM. */
int as_jump_resolve(const struct as_builder *b, const struct as_body_parts *body, size_t insn,
                    struct as_jump_targets *out);

/* One try range of the exception table: calls in [start, end) may land at `pad`. */
struct as_landing {
    uint64_t start, end, pad;
};
typedef AS_VEC(struct as_landing) as_landings;
/* Call-site table of a region; damaged tables give what was read before the damage. */
int as_landings_read(const struct as_builder *b, const struct as_region *region, as_landings *out);

#endif
