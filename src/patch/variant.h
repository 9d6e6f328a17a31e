/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants of a loop: rules about roles of instructions (data/patch/variants.txt) applied to a
 * loop of the program. A clone that has a variant gets each instruction from here (clone.c).
 */
#ifndef AS_PATCH_VARIANT_H
#define AS_PATCH_VARIANT_H

#include "patch/clone.h"
#include "patch/variant_plan.h"

enum { AS_VARIANT_STACK_POINTER = 4 };

/* Why a loop, or a variant of it, is not made. */
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
    uint8_t lines; /* that AHEAD prefetches */
    uint8_t action[AS_ROLES];
};
extern const struct as_variant_rule as_variant_rules[AS_VARIANT_KINDS];

/* ---- variant_slice.c ------------------------------------------------------------------------ */

enum as_variant_mark {
    AS_MARK_CONTROL = 1 << 0,  /* a branch depends on it */
    AS_MARK_STORES = 1 << 1,   /* an address of a store does */
    AS_MARK_ADDRESS = 1 << 2,  /* an address does */
    AS_MARK_REDUCTION = 1 << 3 /* only it itself depends on it */
};

/* What is known of the instructions of an area. */
struct as_variant_facts {
    const struct as_patch_area *area;
    uint32_t first, n; /* instructions of the program, from the first to the last of the area */
    uint8_t *mark;     /* of each */
    uint8_t spare;     /* vector that nothing in the loop uses, or AS_PATCH_NONE */
    uint8_t spare_b;   /* bytes of it that matter */
    uint8_t unused;    /* so, a general register */
    bool vex;          /* instructions of AVX */
    bool decides, chains, stores, notes, gathers, divides, reduces, walks;
    bool is_read;  /* branches, or addresses of stores, depend on memory */
    bool streams;  /* the number of iterations tells what is stored where */
    bool is_calm;  /* nobody needs the flags at the header */
    bool nests;    /* loops are in it, which are varied with it */
    uint32_t kept; /* general registers that REC needs */
    struct as_patch_step step[16];
    uint32_t slots; /* in memory */
    struct as_patch_stream slot[AS_VARIANT_FRAME_MOST];
    struct as_patch_slice slice; /* of iterations */
    bool decides_by_stores;      /* an instruction that branches depend on stores */
    uint8_t refusal;             /* as_variant_refusal, of all variants */
};

/* as_variant_facts_fini in any case. 0 or ASSAY_ERR_NOMEM. */
int as_variant_facts_find(const struct as_patch_area *area, const struct as_patch_slice *slice,
                          struct as_variant_facts *out);
void as_variant_facts_fini(struct as_variant_facts *facts);
/* Access of an instruction to memory by an explicit operand: ASSAY_ACCESS_READ and WRITE. */
unsigned as_variant_access(const struct assay_insn *insn);
bool as_variant_is_move(const struct assay_insn *insn);
/* Returns whether the loop leaves a register of an address as it is; true where there is none. */
bool as_variant_register_stays(const struct as_variant_facts *facts, unsigned reg);

/* ---- variant_frame.c ------------------------------------------------------------------------ */

/* With the slices that are known: adds places in memory that these load and the loop stores to.
 * True: there is more for the branches' slice. */
bool as_variant_slots_find(struct as_variant_facts *facts);
/* Whether the memory of an instruction is one of them. */
bool as_variant_is_slot(const struct as_variant_facts *facts, const struct assay_insn *insn);

/* ---- variant.c ------------------------------------------------------------------------------ */

/* One that is being made. */
struct as_variant {
    const struct as_variant_facts *facts;
    const struct as_variant_rule *rule;
    uint32_t kind, bits;
    uint32_t enter;
    uint32_t prologue; /* its part; 0: none */
    uint8_t refusal;   /* as_variant_refusal */
    uint32_t slots;
    struct {
        uint8_t base, index, scale, writes;
        int64_t line; /* AHEAD */
    } slot[AS_VARIANT_SLOTS];
    struct {
        uint8_t tally, log, address, above; /* registers, or NONE */
    } note;                                 /* REC */
};

/* All variants of a region that the maker's wish names; why not, into `unvaried`, an element a
 * kind. A refused region cannot vary at all. 0 or ASSAY_ERR_NOMEM. */
int as_variant_region(struct as_patch_maker *m, const struct as_patch_area *area,
                      const struct as_patch_slice *slice, struct as_patch_region *region,
                      uint8_t *unvaried, unsigned *refusal);

/* ---- variant_write.c: for clone.c. 0 or ASSAY_ERR_NOMEM ------------------------------------- */

int as_variant_insn(struct as_clone_assembly *a, const struct assay_insn *insn,
                    const uint8_t *bytes);
int as_variant_prologue(struct as_clone_assembly *a);
/* Code that stands for `insn`; a RIP-relative operand leads where it led. */
int as_variant_encoded(struct as_clone_assembly *a, const struct assay_insn *insn,
                       const uint8_t *bytes, size_t n);
unsigned as_variant_width(const struct assay_insn *insn); /* bytes; 0: not fixed */

/* ---- variant_note.c: REC -------------------------------------------------------------------- */

void as_variant_note_registers(struct as_variant *v);
int as_variant_block(struct as_clone_assembly *a, uint32_t block);
/* Notes the address of the memory that `insn` is about to touch, with `note`: 0 for a store, or
 * AS_VARIANT_NOTE_LOADS, or AS_VARIANT_NOTE_SLOT. */
int as_variant_note(struct as_clone_assembly *a, const struct assay_insn *insn,
                    const uint8_t *bytes, unsigned note);

/* ---- variant_stream.c ----------------------------------------------------------------------- */

/* Where an instruction accesses memory in the first iteration, and by how much that goes on; false:
 * that is not known. The width is not filled in. */
bool as_variant_walks(const struct as_variant_facts *facts, const struct assay_insn *insn,
                      struct as_patch_stream *out);
bool as_variant_has_streams(const struct as_variant_facts *facts);
/* Those of all stores, as rows of the plan. 0 or ASSAY_ERR_NOMEM. */
int as_variant_streams_add(struct as_patch_maker *m, const struct as_variant_facts *facts);
/* Returns whether what `insn` reads goes on by a constant, or by a register that the loop does not
 * write, so that it can be prefetched. */
bool as_variant_prefetches(const struct as_variant_facts *facts, const struct assay_insn *insn);
int as_variant_prefetch(struct as_clone_assembly *a, const struct assay_insn *insn);

#endif
