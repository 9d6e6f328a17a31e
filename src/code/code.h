/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of one binary: function bodies, basic blocks, edges and loops. Loops have source, paths,
 * data dependences and memory streams. Found statically, in optimised and stripped code.
 *
 * All tables are flat and refer to each other by index (AS_NONE = none). They are ordered by
 * address and do not depend on the number of threads. Unknown facts are marked (unresolved jump,
 * irreducible loop, path limit), never guessed and never left out.
 *
 * Terms: Aho, Lam, Sethi, Ullman, "Compilers" (2nd ed.), ch. 8 and 9; loop nesting forest after
 * Havlak, "Nesting of reducible and irreducible loops", TOPLAS 19(4), 1997; dominators by Semi-NCA
 * (Georgiadis, "Linear-time algorithms for dominators and related problems", 2005).
 */
#ifndef AS_CODE_CODE_H
#define AS_CODE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "isa/isa.h"
#include "object/object.h"

/* ---- Bodies ------------------------------------------------------------------------------ */

enum as_body_bits {
    AS_BODY_NORETURN = 1 << 0,   /* no return is reached: exit, abort, throw helpers */
    AS_BODY_UNRESOLVED = 1 << 1, /* has an indirect jump with unknown targets */
    AS_BODY_OUTLINED = 1 << 2,   /* body of a parallel construct; parent = the function */
    AS_BODY_STUB = 1 << 3,       /* PLT entry */
    AS_BODY_LANDING = 1 << 4,    /* has exception landing pads */
    AS_BODY_GUESSED = 1 << 5     /* start known only as a call target or from the entry point */
};

/* One body of code: a function with its cold parts; aliases and folded copies are its names. */
struct as_body {
    const char *name; /* preferred linkage name, or "func_<hex>" */
    uint64_t entry;
    uint64_t size_b;      /* bytes of all its blocks */
    uint32_t function;    /* index into as_object_functions or AS_NONE */
    uint32_t first_block; /* its blocks stand together, by address; entry block may not be first */
    uint32_t blocks;
    uint32_t entry_block;
    uint32_t first_loop; /* its loops stand together: by header address, outer before inner */
    uint32_t loops;
    uint32_t parent; /* outlined bodies: the body they belong to, else AS_NONE */
    uint32_t names;  /* symbols for this body: 1 + aliases; 0 when it has none */
    uint8_t bits;    /* as_body_bits */
    uint8_t origin;  /* as_function_origin */
};

/* ---- Blocks and edges -------------------------------------------------------------------- */

enum as_block_bits {
    AS_BLOCK_ENTRY = 1 << 0,      /* entry of its body */
    AS_BLOCK_LANDING = 1 << 1,    /* exception landing pad */
    AS_BLOCK_UNRESOLVED = 1 << 2, /* ends in an indirect jump with unknown targets */
    AS_BLOCK_UNREACHED = 1 << 3,  /* no path from an entry was found (padding is not a block) */
    AS_BLOCK_CALL = 1 << 4,       /* ends in (or holds) a call */
    AS_BLOCK_NORETURN = 1 << 5,   /* ends in a call that does not return */
    AS_BLOCK_RETURN = 1 << 6,
    AS_BLOCK_TAILCALL = 1 << 7, /* ends in a jump to another body */
    AS_BLOCK_SECOND = 1 << 8    /* other bodies enter it there, or calls of its own */
};

struct as_block {
    uint64_t start;
    uint32_t first_insn; /* into program.code.insn */
    uint32_t insns;
    uint32_t size_b;
    uint32_t body;
    uint32_t first_succ, first_pred; /* into program.succ / program.pred */
    uint32_t succs, preds;
    uint32_t idom;  /* immediate dominator block; AS_NONE for the entry and unreached blocks */
    uint32_t ipdom; /* immediate post-dominator; AS_NONE when none (virtual exit) */
    uint32_t loop;  /* innermost loop around it or AS_NONE */
    uint16_t bits;  /* as_block_bits */
};

enum as_edge_kind {
    AS_EDGE_FALL,   /* falls through (after a call too) */
    AS_EDGE_TAKEN,  /* conditional branch taken */
    AS_EDGE_JUMP,   /* unconditional */
    AS_EDGE_TABLE,  /* jump table entry, computed goto */
    AS_EDGE_LANDING /* call to landing pad */
};

struct as_edge {
    uint32_t block; /* the other end */
    uint8_t kind;
    bool back; /* successor list: target is the header of a loop that holds the source */
};

/* ---- Loops ------------------------------------------------------------------------------- */

enum as_loop_level {
    AS_LEVEL_SINGLE,    /* neither outer nor inner loop */
    AS_LEVEL_OUTERMOST, /* holds loops, in none */
    AS_LEVEL_BETWEEN,   /* holds loops and stands in one */
    AS_LEVEL_INNERMOST  /* stands in a loop, holds none */
};

enum as_loop_role {
    AS_ROLE_MAIN, /* the only binary loop of its source loop, or the one with most work */
    AS_ROLE_PEEL,
    AS_ROLE_TAIL,
    AS_ROLE_VECTOR_PEEL,
    AS_ROLE_VECTOR_TAIL,
    AS_ROLE_VERSION /* another copy of the main loop, chosen at run time */
};

enum as_loop_bits {
    AS_LOOP_IRREDUCIBLE = 1 << 0, /* more than one entry block */
    AS_LOOP_UNRESOLVED = 1 << 1,  /* holds an unresolved indirect jump */
    AS_LOOP_CALLS = 1 << 2,
    AS_LOOP_PATH_LIMIT = 1 << 3, /* more paths than asked for: only the merged view */
    AS_LOOP_MERGED = 1 << 4, /* pseudo inner loops, of `continue` or a jump table, were merged in */
    AS_LOOP_FOLDED = 1 << 5, /* an old gather/scatter retry loop was folded in */
    AS_LOOP_UNREACHED = 1 << 6, /* no way from an entry of the body to it was found */
    /* In a nest of hundreds and more, which no compiler makes of a source: the blocks, instructions
     * and lines of inner loops are left out, and paths and streams were not looked for. Holds for
     * the loops around it too. */
    AS_LOOP_OUTSIZE = 1 << 7
};

struct as_loop {
    uint32_t body;
    uint32_t header; /* block */
    uint32_t parent; /* enclosing loop of the same body or AS_NONE */
    uint32_t depth;  /* 1 = not nested */
    /* Into program.loop_block, ascending; inner loops' blocks included unless OUTSIZE. */
    uint32_t first_block, blocks;
    uint32_t insns;   /* of all its blocks */
    uint32_t entries; /* edges into the loop from outside */
    uint32_t exits;   /* edges out of it */
    uint32_t back_edges;
    uint32_t source; /* first of `sources` ranges in program.loop_source */
    uint32_t sources;
    uint32_t inlined; /* as_debug inline entry with the code of the header, or NONE */
    uint32_t group;   /* loops of one source loop share it: index of the group's main loop */
    uint32_t paths;   /* header to back edge, saturated; 0 of OUTSIZE: not counted */
    /* Iterations of the source loop that one iteration of this one does, 0 = unknown: copies times
     * lanes, so 8 for a loop over doubles with 256-bit vectors unrolled twice. Loops without inner
     * ones only. */
    uint16_t unroll;
    uint8_t unroll_confidence; /* percent: weight of the votes that agree */
    uint8_t level, role, bits;
};

/*
 * Lines [first, last] of one file that a loop comes from, inner loops included. The first entry is
 * the loop's own: lines at the level of inlining where it stands, calls inlined into it by the line
 * of the call. Further entries (16 at most) are other files and code inlined into the loop.
 */
struct as_source_range {
    uint32_t file; /* into as_debug.file */
    uint32_t first_line, last_line;
};

struct as_program {
    struct as_object *object;
    const struct as_function *function; /* borrowed from the object */
    size_t function_n;
    struct as_debug debug; /* borrowed from the object; empty when not asked for */
    struct as_code code;   /* all executable sections, ascending */
    struct as_body *body;
    size_t body_n;
    struct as_block *block;
    size_t block_n;
    struct as_edge *succ, *pred;
    size_t edge_n;
    struct as_loop *loop;
    size_t loop_n;
    uint32_t *loop_block;
    size_t loop_block_n;
    struct as_source_range *loop_source;
    size_t loop_source_n;
    struct as_program_counts {
        size_t jumps;      /* indirect jumps reached */
        size_t tables;     /* of them: all targets known from a jump table */
        size_t calls;      /* of them: proven to leave the body (tail calls through pointers) */
        size_t unresolved; /* of them: neither */
    } indirect;
};

struct as_program_options {
    unsigned jobs;       /* threads, 0 = one per CPU */
    unsigned path_limit; /* paths kept per loop, 0 = any; default 8 through AS_PATH_LIMIT */
    bool with_source;    /* load lines and inlines, group loops by source */
};
#define AS_PATH_LIMIT 8

/* Analyses the whole binary. `*out` borrows `object` and is released by as_program_free. */
int as_program_new(struct as_object *object, const struct as_program_options *options,
                   struct as_program **out, struct as_error *err);
void as_program_free(struct as_program **program);
/* Returns true if `block` is in `loop` or in one of its inner loops. Takes O(depth) steps. */
bool as_loop_holds(const struct as_program *program, uint32_t loop, uint32_t block);

/* ---- Paths ------------------------------------------------------------------------------- */

/*
 * Paths through one iteration: simple paths from the loop header to the source of a back edge.
 * Blocks of inner loops count once, without their back edges. A block that leads only to left-out
 * edges (the body of an inner loop with its test at the head) is on no path. In irreducible parts
 * the order of edges decides which are back edges. Several edges to one block count once.
 */
struct as_path {
    uint32_t first, blocks; /* into as_paths.block */
};
struct as_paths {
    uint32_t *block; /* blocks of the program, header first; all paths one after the other */
    size_t block_n;
    struct as_path *path;
    size_t path_n;
    uint64_t count; /* paths there are, saturated at UINT64_MAX */
    /* There are more than the limit: the only entry of `path` is the merged view, every block that
     * stands on some path, in reverse postorder. */
    bool merged;
};
/*
 * Paths of `loop`, in order of their edges; `limit` 0 = any, as long as the list stays below 2^26
 * blocks. Caller owns `out` and releases it with as_paths_free. Errors: NOMEM.
 */
int as_loop_paths(const struct as_program *program, uint32_t loop, unsigned limit,
                  struct as_paths *out, struct as_error *err);
void as_paths_free(struct as_paths *paths);
/* The instructions of a path, one behind the other, in memory of the caller's (as_code_free).
 * Errors: NOMEM. */
int as_path_code(const struct as_program *program, const struct as_paths *paths, size_t path,
                 struct as_code *out, struct as_error *err);

/* ---- Dependences ------------------------------------------------------------------------- */

enum as_dependence_kind {
    AS_DEPENDENCE_REGISTER, /* what = register number */
    AS_DEPENDENCE_FLAGS,    /* what = as_status_flag bits */
    AS_DEPENDENCE_MEMORY    /* store to load of provably the same bytes */
};

enum as_dependence_bits {
    AS_DEPENDENCE_ADDRESS = 1 << 0, /* the value forms the address of a memory access in `to` and
                                          has no other use there (lea computes: not set) */
    AS_DEPENDENCE_MERGE = 1 << 1,   /* only the part that a partial write keeps is read */
    AS_DEPENDENCE_MAYBE = 1 << 2,   /* the write is conditional, or (merged view) `to` may
                                     * read another instruction's result, or (frame) a call in
                                     * between may write it */
    AS_DEPENDENCE_PARTIAL = 1 << 3  /* memory: the load reads more than the store wrote */
};

/* Farthest distance that is looked for through memory, and most writers of one value. */
#define AS_DEPENDENCE_DISTANCE 64
#define AS_DEPENDENCE_WRITERS  32

/*
 * True (flow) dependence: `to` reads what `from` wrote, `distance` iterations earlier. Through
 * registers and flags the distance is 0 or 1; a register that no instruction of the iteration
 * writes has none. The instruction pointer is left out; the stack pointer is not. A call writes all
 * registers that the System V ABI lets it destroy.
 */
struct as_dependence {
    uint32_t from, to; /* into as_dependences.insn */
    uint16_t distance; /* iterations: 0 = the same */
    uint8_t kind;      /* as_dependence_kind */
    uint8_t what;      /* memory: 0 */
    uint8_t bits;      /* as_dependence_bits */
};
struct as_dependences {
    uint32_t *insn; /* into program.code.insn, in order of execution */
    size_t insn_n;
    struct as_dependence *at; /* ordered by to, from, kind, what, distance */
    size_t n;
    /* Merged view: some value has more than AS_DEPENDENCE_WRITERS possible writers, of which
     * only the last ones stand here. */
    bool limited;
};
/*
 * Finds the dependences of `loop` on path number `path` of `paths`, repeated for ever. The merged
 * view has those of all paths: reaching definitions over the blocks of the loop without inner back
 * edges, with the smallest distance of each pair. Memory dependences need the same symbolic
 * address; the latest store hides earlier ones. Stores to incomparable addresses are assumed not to
 * interfere. Calls interfere, except with the frame (MAYBE). The caller frees `out` with
 * as_dependences_free. Errors: NOMEM.
 */
int as_loop_dependences(const struct as_program *program, uint32_t loop,
                        const struct as_paths *paths, size_t path, struct as_dependences *out,
                        struct as_error *err);
void as_dependences_free(struct as_dependences *dependences);

/* ---- Streams ----------------------------------------------------------------------------- */

enum as_stride {
    AS_STRIDE_ZERO,     /* the same address in every iteration */
    AS_STRIDE_UNIT,     /* the array's accesses of one iteration cover the step without holes */
    AS_STRIDE_CONSTANT, /* constant step with holes */
    AS_STRIDE_INDIRECT, /* the address comes from memory loaded in the loop; gather, scatter */
    AS_STRIDE_UNKNOWN
};

enum { AS_HELD_MOST = 2 };

/*
 * A stride in bytes per iteration that registers hold: constant_b + the sum of factor * register.
 * The loop, with the loops inside it, does not write these registers.
 */
struct as_register_stride {
    int64_t constant_b;
    int64_t factor[AS_HELD_MOST];
    uint8_t reg[AS_HELD_MOST]; /* AS_REG_GPR + 0..15 */
    uint8_t n;                 /* registers; 0: the stride is not held */
};

/*
 * A stride in bytes per iteration on a condition: a register of the address, mostly its base, holds
 * the same value in each iteration. Nothing writes it between the instructions at `first` and
 * `last`.
 */
struct as_based_stride {
    uint64_t first, last; /* addresses */
    int64_t stride_b;
    uint8_t reg; /* AS_REG_GPR + 0..15; AS_REG_NONE: there is no such condition */
};

/* One memory operand of one instruction of a loop. */
struct as_memory_stream {
    uint32_t insn; /* into program.code.insn */
    /* Operands with the same symbolic base and step share it: 0, 1, ... in the order of the
     * instructions, arrays on the stack after all others. With an unknown step: the part of the
     * base that does not change. In the file itself: one symbol, or close together. */
    uint32_t array;
    int64_t stride_b; /* bytes per iteration; 0 unless ZERO, UNIT, CONSTANT */
    int64_t offset_b; /* from the first byte of its array in the same iteration */
    uint32_t width_b; /* bytes of one access; 0 = depends on state */
    uint8_t element_b;
    uint8_t operand; /* number among as_insn_memory of the instruction */
    uint8_t access;  /* as_access_bits bits */
    uint8_t stride;  /* as_stride */
    bool stack;      /* the function's own frame: spills and locals */
    bool steady;     /* UNKNOWN: the same step in every iteration, but no constant of the code (a
                        leading dimension in a register) */
    struct as_register_stride register_stride; /* of a steady one */
    struct as_based_stride based;              /* of one without a known stride */
    /* From the instruction at `first` to that at `last` no register of the address changes: a
     * sample there has the address. */
    uint64_t first, last;
    bool nearby; /* a sample anywhere in the loop has it, or that of an iteration beside */
};

/*
 * A general register that changes by a constant amount from iteration to iteration. If it is copied
 * from another register, this holds from the second iteration on.
 */
struct as_induction {
    uint8_t reg;
    bool controls; /* the instruction that sets the flags of an exit's branch reads it */
    int64_t step;
};

/*
 * The end of a loop: an exit compares a register that steps by a constant with a bound that stays.
 * In any sample (bound - register) / step iterations are left.
 */
struct as_loop_limit {
    int64_t step;      /* of the register per iteration; 0: no such exit is known */
    int64_t bound;     /* if bound_reg is NONE */
    uint8_t reg;       /* AS_REG_GPR + 0..15 */
    uint8_t bound_reg; /* AS_REG_GPR + 0..15, or AS_REG_NONE */
    uint8_t width_b;   /* of the comparison: 4 or 8 */
};

struct as_streams {
    struct as_memory_stream *at; /* in the order of the instructions */
    size_t n;
    uint32_t arrays;                /* distinct arrays among those not on the stack */
    struct as_induction *induction; /* by register */
    size_t induction_n;
    struct as_loop_limit limit; /* of the first exit that has one */
};
/*
 * Memory operands of all instructions of `loop` outside its inner loops, by symbolic induction on
 * the registers. Caller owns `out` and releases it with as_streams_free. Errors: NOMEM.
 */
int as_loop_streams(const struct as_program *program, uint32_t loop, struct as_streams *out,
                    struct as_error *err);
void as_streams_free(struct as_streams *streams);

/*
 * Sets `size_b` to the bytes of the records that entries of an inner loop go through by indices.
 * The loop around it loads a number. The address of `stream` at an entry is that number times
 * `size_b`, plus constants. 0: no such number is known. Errors: NOMEM.
 */
int as_loop_record_size(const struct as_program *program, uint32_t loop,
                        const struct as_memory_stream *stream, int64_t *size_b,
                        struct as_error *err);

/* How the first address of an entry moves from one iteration of an outer loop to the next. */
enum as_outer_kind {
    AS_OUTER_UNKNOWN,
    AS_OUTER_SAME,  /* each entry begins at the same address */
    AS_OUTER_STEP,  /* by step_b bytes */
    AS_OUTER_STEADY /* by the same bytes each time, which registers hold (a leading dimension) */
};
enum { AS_OUTER_MOST = 3 }; /* loops around a loop, from inside */
struct as_outer_step {
    int64_t step_b;
    uint8_t kind; /* as_outer_kind */
};
/*
 * Sets `out[s * AS_OUTER_MOST + k]` for each stream s of `loop` and the k-th loop around it.
 * The first entry in an iteration counts. `out`: streams->n * AS_OUTER_MOST. Errors: NOMEM.
 */
int as_loop_outer_steps(const struct as_program *program, uint32_t loop,
                        const struct as_streams *streams, struct as_outer_step *out,
                        struct as_error *err);

/* Bytes that an iteration uses, and bytes of the cache lines (64 bytes) that come for them. */
struct as_line_use {
    double used_b, moved_b;
};
/*
 * Use of lines by the operands with a stride of UNIT or CONSTANT, those of one array together.
 * `each`: NULL, or for each of streams->n operands the use of its array, 0 where it does not walk.
 * `total`: the sum over arrays. Errors: NOMEM.
 */
int as_line_use(const struct as_streams *streams, struct as_line_use *each,
                struct as_line_use *total, struct as_error *err);

#endif
