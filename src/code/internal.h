/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares the data that the files of this room share during the analysis of a program. A region is
 * contiguous code with one start. A flow has the blocks of one body before they go into the tables.
 *
 * Order of work: regions; sweep (decode); split (call targets in gaps); scan (jumps and
 * references); join (parts to bodies, outlined bodies to parents); flow (blocks and edges); nest
 * (dominators, loops); tables. The flow step repeats until a round finds no further body that never
 * returns.
 */
#ifndef AS_CODE_INTERNAL_H
#define AS_CODE_INTERNAL_H

#include "base/arena.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/vec.h"
#include "code/code.h"
#include "isa/form.h"

/* Contiguous code with one start: a function, a cold part, a PLT entry, or a gap. */
struct as_region {
    uint64_t start, end;
    size_t first_insn; /* index into the sweep; the instructions start in [start, end) */
    uint32_t insns;
    uint32_t function; /* index into the object's functions or AS_NONE */
    uint32_t body;     /* body that holds the region; AS_NONE for gaps */
    uint32_t owner;    /* region that heads the body: the region itself, or the owner of a part */
    uint64_t lsda;     /* address of the exception table of its unwind range; 0 = none */
    uint8_t origin;    /* as_function_origin */
    bool is_gap;       /* bytes between functions: padding or data, unless a call leads there */
    bool is_part;      /* its symbol names a part (.cold) */
    bool is_called;    /* a direct call or the loader calls it, or code takes its address */
    bool is_pointed;   /* data holds its address: a function, or an entry of a jump table */
};

/*
 * Instructions of a run of regions that may lead to other code or contain a constant address. The
 * sweep notes them while their records are in the cache. They are few, and only they matter to
 * split and scan.
 */
struct as_code_notes {
    uint64_t start, end;   /* addresses of the regions */
    AS_VEC(uint32_t) insn; /* indices into the sweep, ascending */
};

/* A direct jump, or an edge to a landing pad, from one region into another. */
struct as_crossing {
    uint32_t from, to; /* regions */
    uint64_t target;
    bool conditional;
};

/* A constant address in code that is the start of a region: code takes the address
 * of a function. */
struct as_reference {
    uint32_t from, to; /* regions */
    size_t insn;       /* instruction that contains the address */
};

struct as_flow_edge {
    uint32_t to;  /* block of the same flow */
    uint8_t kind; /* as_edge_kind */
};

struct as_flow_block {
    uint64_t start;
    uint32_t size_b;
    uint32_t first_insn; /* index into the sweep */
    uint32_t insns;
    uint32_t first_edge, edges;
    uint8_t bits; /* as_block_bits */
    bool is_root; /* entry, second entry, or first block of code without a known predecessor */
};

/* Blocks of one body, in the address order of its regions. */
struct as_flow {
    struct as_flow_block *block;
    struct as_flow_edge *edge;
    uint32_t *callee; /* bodies called or jumped to; tail calls are the first `tails` */
    uint32_t blocks, edges;
    uint32_t callees, tails;
    uint32_t entry;  /* block */
    uint32_t jumps;  /* indirect jumps */
    uint32_t tables; /* indirect jumps that are resolved */
    uint32_t calls;  /* indirect jumps that are tail calls */
    bool may_return; /* control reaches a return, a call through a pointer, or an unknown jump */
    bool has_landing;
};

struct as_body_parts {
    uint32_t head;           /* region */
    uint32_t first, regions; /* index into `part`: the regions by address, head included */
    uint32_t parent;         /* body that it was outlined from, or AS_NONE */
    bool outlined;
    bool noreturn;
};

struct as_builder {
    struct as_program *program;
    struct as_object *object;
    struct as_pool *pool;
    unsigned path_limit;
    AS_VEC(struct as_region) region; /* ascending, not overlapping */
    struct as_near { /* index that speeds up the search for the region of an address */
        uint64_t base;
        unsigned shift;
        size_t n; /* number of intervals of 1 << shift bytes; 0: no index */
        /* By interval, n + 1 elements: the first region that ends after the interval's start. */
        uint32_t *first;
    } near;
    /* Sorted by address; valid from sweep to scan. */
    AS_VEC(struct as_code_notes) notes;
    AS_VEC(struct as_crossing) crossing;
    AS_VEC(struct as_reference) reference;
    /* Sorted constant addresses outside of code that the code computes. */
    AS_VEC(uint64_t) data_address;
    /* Sorted addresses inside regions that code or data use as values. */
    AS_VEC(uint64_t) label;
    /* Sorted addresses inside regions: symbols, and jump targets of other bodies. */
    AS_VEC(uint64_t) second_entry;
    struct as_pointers pointers;
    AS_VEC(struct as_body_parts) body;
    AS_VEC(uint32_t) part; /* numbers of the regions of all bodies */
    struct as_flow *flow;  /* per body */
    /* Two arenas per worker: the first `workers` keep results, the others are for as_scratch_of. */
    struct as_arena *arena;
    unsigned workers;
};

/* Returns the scratch arena of a worker. The call releases all that the arena held before. */
static inline struct as_arena *as_scratch_of(const struct as_builder *b, unsigned worker)
{
    struct as_arena *scratch = &b->arena[b->workers + worker];
    as_arena_reset(scratch);
    return scratch;
}

#define AS_FETCH_MOST 512

/* Prefetches the first AS_FETCH_MOST of `n` records, which the caller reads next in any order. */
static inline void as_insns_fetch(const struct as_insn *insn, size_t n)
{
    n = n < AS_FETCH_MOST ? n : AS_FETCH_MOST;
    for (size_t i = 0; i < n; i += 64 / sizeof *insn)
        __builtin_prefetch(&insn[i]);
}

/* Returns the region that holds `address`, or AS_NONE. Takes O(log n) steps, mostly O(1). */
uint32_t as_region_at(const struct as_builder *b, uint64_t address);
/* Returns the instruction of the region that starts at `address` or else covers it. Returns
 * SIZE_MAX if the address is outside of the region. */
size_t as_region_insn(const struct as_builder *b, uint32_t region, uint64_t address);
/* Does the same as as_region_insn, starting the search at instruction `near` of the region. This is
 * faster if the address is close to `near`. */
size_t as_region_insn_near(const struct as_builder *b, uint32_t region, uint64_t address,
                           size_t near);

/* Builds `near` for the current regions. Returns 0 or AS_ERR_NOMEM. */
int as_regions_index(struct as_builder *b);
void as_notes_release(struct as_builder *b);

int as_regions_make(struct as_builder *b, struct as_error *err);
int as_regions_sweep(struct as_builder *b, struct as_error *err);
int as_regions_split(struct as_builder *b, struct as_error *err);
int as_regions_scan(struct as_builder *b, struct as_error *err);
int as_bodies_join(struct as_builder *b, struct as_error *err);
int as_flows_make(struct as_builder *b, struct as_error *err);
int as_program_fill(struct as_builder *b, struct as_error *err);
/* Finds source ranges, inlining, groups, roles and unroll factors of the loops in the tables. */
int as_loops_source(struct as_builder *b, struct as_error *err);

/* Returns true if a function with this linkage name never returns (data/code/noreturn.txt). */
bool as_noreturn_name(const char *name);

/* Returns the index of the first element of `sorted` at or above `address`. Takes
 * O(log n) steps. */
size_t as_lower_bound(const uint64_t *sorted, size_t n, uint64_t address);
/* Sorts addresses and removes duplicates. Returns the number of addresses that remain. */
size_t as_sort_unique(uint64_t *address, size_t n);
/* Sets `target` to the code address that data holds at address `at`. Returns false if there is
 * none. Takes O(log n) steps. */
bool as_pointer_at(const struct as_builder *b, uint64_t at, uint64_t *target);
/* Returns the imported function with an address that the loader stores at `at`, or NULL. Takes
 * O(log n) steps. */
const char *as_import_at(const struct as_builder *b, uint64_t at);

/* Targets of an indirect jump: local code addresses in table order, with duplicates. */
struct as_jump_targets {
    AS_VEC(uint64_t) at;
    bool resolved;
    bool is_call; /* the table holds functions: a tail call */
    bool indexed; /* an index chooses the target: the jump has a table, resolved or not */
    bool is_sum; /* the target is a sum, as for tables of distances; a function pointer is not a sum
                  */
    const struct as_constants
        *constants; /* constants of the last walk's blocks; NULL in the first walk */
};
/* Resolves the indirect jump at `insn` (index into the sweep). The function reuses the memory of
 * `out`. Returns 0 or AS_ERR_NOMEM. */
int as_jump_resolve(const struct as_builder *b, const struct as_body_parts *body, size_t insn,
                    struct as_jump_targets *out);

/* One range of the exception table: exceptions of calls in [start, end) may continue at `pad`. */
struct as_landing {
    uint64_t start, end, pad;
};
typedef AS_VEC(struct as_landing) as_landings;
/* Appends the call sites of the exception table of a region. A damaged table yields the entries
 * before the damage. Returns 0 or AS_ERR_NOMEM. */
int as_landings_read(const struct as_builder *b, const struct as_region *region, as_landings *out);

#endif
