/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares variants of a loop: rules for roles of instructions (data/patch/variants.txt), applied
 * to a loop of the program. The clone of a variant gets each instruction from here (clone.c).
 */
#ifndef AS_PATCH_VARIANT_H
#define AS_PATCH_VARIANT_H

#include "patch/clone.h"
#include "patch/variant_plan.h"

enum { AS_VARIANT_STACK_POINTER = 4 };

/* Reasons why a loop, or one of its variants, is not made. */
#define AS_VARIANT_REFUSAL_LIST(X)                                                                 \
    X(NONE, "")                                                                                    \
    X(NESTED, "a loop with varied inner loops")                                                    \
    X(CALLS, "calls, or jumps through a table")                                                    \
    X(STACK, "pushes, pops or string instructions")                                                \
    X(ATOMIC, "atomic instructions")                                                               \
    X(SYSTEM, "instructions other than arithmetic")                                                \
    X(X87, "x87 registers")                                                                        \
    X(SEGMENT, "addresses with a segment")                                                         \
    X(UNNOTED, "stores with addresses that cannot be recorded")                                    \
    X(DECIDED, "its stores decide its branches")                                                   \
    X(GATHER, "gathers or scatters")                                                               \
    X(SLOTS, "too many addresses")                                                                 \
    X(ENCODING, "an instruction that this variant cannot change")                                  \
    X(USELESS, "the loop has no such instructions")                                                \
    X(UNASKED, "not asked for")

enum as_variant_refusal {
#define AS_VARIANT_REFUSAL_ENUM(name, text) AS_UNVARIED_##name,
    AS_VARIANT_REFUSAL_LIST(AS_VARIANT_REFUSAL_ENUM)
#undef AS_VARIANT_REFUSAL_ENUM
        AS_VARIANT_REFUSALS
};

enum as_variant_role {
    AS_VARIED_INDEX,
    AS_VARIED_ADDRESS,
    AS_VARIED_STORE,
    AS_VARIED_UPDATE,
    AS_VARIED_PREFETCH,
    AS_VARIED_NOP,
    AS_VARIED_DIVISION,
    AS_VARIED_REDUCTION,
    AS_VARIED_LOAD,
    AS_VARIED_COMPUTE_LOAD,
    AS_VARIED_COMPUTE,
    AS_ROLES
};
enum as_variant_action {
    AS_DO_KEEP,
    AS_DO_NOTHING,
    AS_DO_DROP,
    AS_DO_NOP,
    AS_DO_VALUE,
    AS_DO_REGISTER,
    AS_DO_LOAD,
    AS_DO_SLOT,
    AS_DO_SLOT_LOAD,
    AS_DO_AHEAD,
    AS_DO_LOG
};
enum as_variant_slice { AS_SLICE_NONE, AS_SLICE_STORES, AS_SLICE_ALL };

struct as_variant_rule {
    const char *name, *title;
    uint8_t slice, writes;
    uint8_t lines; /* cache lines that AHEAD prefetches ahead */
    uint8_t action[AS_ROLES];
};
extern const struct as_variant_rule as_variant_rules[AS_VARIANT_KINDS];

/* ---- variant_slice.c ------------------------------------------------------------------------ */

enum as_variant_mark {
    AS_MARK_CONTROL = 1 << 0,  /* a branch depends on it */
    AS_MARK_STORES = 1 << 1,   /* an address of a store depends on it */
    AS_MARK_ADDRESS = 1 << 2,  /* an address depends on it */
    AS_MARK_REDUCTION = 1 << 3 /* only the instruction itself depends on it */
};

/* Facts about the instructions of an area. */
struct as_variant_facts {
    const struct as_patch_area *area;
    uint32_t first, n; /* range of instructions of the program that contains the area */
    uint8_t *mark;     /* as_variant_mark of each instruction */
    uint8_t spare;     /* vector register that the loop does not use, or AS_PATCH_NONE */
    uint8_t spare_b;   /* bytes of it that are used */
    uint8_t unused;    /* general register that the loop does not use, or AS_PATCH_NONE */
    bool vex;          /* the loop has AVX instructions */
    bool decides, chains, stores, notes, gathers, divides, reduces, walks;
    bool is_read;  /* branches or addresses of stores depend on memory */
    bool streams;  /* the number of iterations determines the stored addresses */
    bool is_calm;  /* the flags are dead at the header */
    bool nests;    /* it has inner loops, which vary with it */
    uint32_t kept; /* general registers that REC needs, as bits */
    struct as_patch_step step[16];
    uint32_t slots; /* number of counters and pointers in memory */
    struct as_patch_stream slot[AS_VARIANT_FRAME_MOST];
    struct as_patch_slice slice; /* slice of iterations */
    bool decides_by_stores;      /* an instruction that branches depend on stores to memory */
    uint8_t refusal;             /* as_variant_refusal of all variants */
};

/* Finds the facts. Returns 0 or AS_ERR_NOMEM; the caller calls as_variant_facts_fini in both
 * cases. */
int as_variant_facts_find(const struct as_patch_area *area, const struct as_patch_slice *slice,
                          struct as_variant_facts *out);
void as_variant_facts_fini(struct as_variant_facts *facts);
/* Returns the memory access of an instruction's explicit operand: AS_ACCESS_READ and WRITE. */
unsigned as_variant_access(const struct as_insn *insn);
bool as_variant_is_move(const struct as_insn *insn);
/* Returns true if the loop does not change a register of an address, or if the address has none. */
bool as_variant_register_stays(const struct as_variant_facts *facts, unsigned reg);

/* ---- variant_frame.c ------------------------------------------------------------------------ */

/* Adds slots: memory that the current slices load and the loop stores to. Returns true if the slice
 * of the branches has grown. */
bool as_variant_slots_find(struct as_variant_facts *facts);
/* Returns true if an instruction accesses a slot. */
bool as_variant_is_slot(const struct as_variant_facts *facts, const struct as_insn *insn);

/* ---- variant.c ------------------------------------------------------------------------------ */

/* A variant under construction. */
struct as_variant {
    const struct as_variant_facts *facts;
    const struct as_variant_rule *rule;
    uint32_t kind, bits;
    uint32_t enter;
    uint32_t prologue; /* number of its first part; 0: none */
    uint8_t refusal;   /* as_variant_refusal */
    uint32_t slots;
    struct {
        uint8_t base, index, scale, writes;
        int64_t line; /* AHEAD */
    } slot[AS_VARIANT_SLOTS];
    struct {
        uint8_t tally, log, address, above; /* registers, or AS_PATCH_NONE */
    } note;                                 /* REC */
};

/* Makes all variants of a region that the maker's wish names. Sets `unvaried` to the reason for
 * each kind, or 0. Sets *refusal if no variant is possible. Returns 0 or AS_ERR_NOMEM. */
int as_variant_region(struct as_patch_maker *m, const struct as_patch_area *area,
                      const struct as_patch_slice *slice, struct as_patch_region *region,
                      uint8_t *unvaried, unsigned *refusal);

/* ---- variant_write.c: for clone.c. Return 0 or AS_ERR_NOMEM
 * -------------------------------- */

int as_variant_insn(struct as_clone_assembly *a, const struct as_insn *insn, const uint8_t *bytes);
int as_variant_prologue(struct as_clone_assembly *a);
/* Adds code in place of `insn`. An RIP-relative operand keeps its target. */
int as_variant_encoded(struct as_clone_assembly *a, const struct as_insn *insn,
                       const uint8_t *bytes, size_t n);
unsigned as_variant_width(const struct as_insn *insn); /* in bytes; 0: not fixed */

/* ---- variant_note.c: REC -------------------------------------------------------------------- */

void as_variant_note_registers(struct as_variant *v);
int as_variant_block(struct as_clone_assembly *a, uint32_t block);
/* Adds code that notes the address of the memory that `insn` accesses next. `note` is 0 for a
 * store, AS_VARIANT_NOTE_LOADS or AS_VARIANT_NOTE_SLOT. */
int as_variant_note(struct as_clone_assembly *a, const struct as_insn *insn, const uint8_t *bytes,
                    unsigned note);

/* ---- variant_stream.c ----------------------------------------------------------------------- */

/* Sets `out` to the address that an instruction accesses in the first iteration, and to its step.
 * Returns false if either is unknown. The width is not set. */
bool as_variant_walks(const struct as_variant_facts *facts, const struct as_insn *insn,
                      struct as_patch_stream *out);
bool as_variant_has_streams(const struct as_variant_facts *facts);
/* Adds the streams of all stores as rows of the plan. Returns 0 or AS_ERR_NOMEM. */
int as_variant_streams_add(struct as_patch_maker *m, const struct as_variant_facts *facts);
/* Returns true if `insn` can be prefetched: its address steps by a constant, or by a register that
 * the loop does not write. */
bool as_variant_prefetches(const struct as_variant_facts *facts, const struct as_insn *insn);
int as_variant_prefetch(struct as_clone_assembly *a, const struct as_insn *insn);

#endif
