/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes plans: the loops of a program that run as clones, the clones, and the reasons for the other
 * loops. A plan is made from the analysed code of each module; nothing here runs in the program
 * (doc/internals/patch.md). The agent applies the plan.
 */
#ifndef AS_PATCH_PATCH_H
#define AS_PATCH_PATCH_H

#include "code/code.h"
#include "patch/address_plan.h"
#include "patch/plan.h"
#include "patch/probe_plan.h"
#include "patch/variant_plan.h"

/* Reasons why a loop has no clone. */
#define AS_PATCH_REFUSAL_LIST(X)                                                                   \
    X(NONE, "")                                                                                    \
    X(UNRESOLVED, "an indirect jump with unknown targets")                                         \
    X(UNREACHED, "no path to it was found")                                                        \
    X(OUTSIZE, "a nest of too many loops")                                                         \
    X(ENTERED, "a jump into its middle leaves no space for a patched jump")                        \
    X(DOUBTFUL, "its entry is a return address of a call or a landing pad")                        \
    X(NARROW, "the patched jump would overwrite code after its header")                            \
    X(CALL, "the return address of a call leaves no space for a jump")                             \
    X(TABLE, "a target of a jump table leaves no space for a jump")                                \
    X(TABLE_LEAVES, "a jump table leaves the region, and other code uses the same target")         \
    X(LANDING, "a landing pad leaves no space for a jump")                                         \
    X(BRANCH, "a branch without a long form")                                                      \
    X(OPERAND, "an instruction with an address that cannot be relocated")                          \
    X(OVERLAP, "instructions that overlap")                                                        \
    X(LOADER, "code of the dynamic loader")                                                        \
    X(RESTARTED, "a file with restartable sequences (rseq), which have fixed addresses")           \
    X(WRITABLE, "a file with writable code")                                                       \
    X(GO, "a Go program: its runtime requires each thread to be in known code")                    \
    X(LARGE, "too much code")                                                                      \
    X(HANDLER, "the return trampoline of signal handlers")                                         \
    X(VARIANTS, "its inner loops cannot be varied")

enum as_patch_refusal {
#define AS_PATCH_REFUSAL_ENUM(name, text) AS_PATCH_REFUSED_##name,
    AS_PATCH_REFUSAL_LIST(AS_PATCH_REFUSAL_ENUM)
#undef AS_PATCH_REFUSAL_ENUM
        AS_PATCH_REFUSALS
};
const char *as_patch_refusal_text(unsigned refusal);

/* Return the reason why a variant of a loop is not made (patch/variant.h), and the name of a
 * variant. */
const char *as_variant_refusal_text(unsigned refusal);
/* Returns true if the reason is that an outer or inner loop varies in the same plan. */
bool as_variant_is_nested(unsigned refusal);
const char *as_variant_name(unsigned kind);

struct as_patch_verdict {
    uint8_t refusal;                    /* as_patch_refusal */
    bool asked;                         /* the loop was asked for */
    uint32_t loop;                      /* loop of the plan; AS_NONE if refused */
    uint8_t induction;                  /* register, or AS_PATCH_NONE */
    uint8_t tally;                      /* register, or AS_PATCH_NONE */
    bool counts;                        /* iterations are counted in memory */
    uint8_t unvaried[AS_VARIANT_KINDS]; /* VARY: as_variant_refusal of each kind */
};

/* PROBE: the actions at points of the code. The maker borrows them. as_patch_maker_text has stored
 * the texts of `called` in the plan. */
struct as_patch_points {
    /* Sorted by address; points before an instruction come first. */
    const struct as_patch_point *point;
    size_t point_n;
    const struct as_patch_act *act;
    size_t act_n;
    const struct as_patch_called *called;
    size_t called_n;
};

struct as_patch_wish {
    enum as_patch_mode mode;
    /* SAMPLE: mean distance of measured instances. VARY: instances of each variant and bucket. */
    uint32_t period;
    uint32_t kept;
    uint32_t paths_b;  /* bytes for call paths (as_patch_plan); 0: none */
    uint32_t variants; /* VARY: one bit per kind */
    bool slices;       /* VARY: loops that are entered rarely are cut into slices of iterations */
    bool nests;        /* VARY: outer loops are planned before inner ones; else after them */
    const struct as_patch_points *points; /* PROBE */
    /* COUNT: bytes of the address buffer of each thread; 0: no addresses are recorded. */
    uint32_t addresses_b;
};

struct as_patch_maker;

/* All functions return 0 or AS_ERR_NOMEM. */
int as_patch_maker_new(const struct as_patch_wish *wish, struct as_patch_maker **out,
                       struct as_error *err);
void as_patch_maker_free(struct as_patch_maker **maker);
/*
 * Plans the loops of `program`. `wanted` has one element per loop; NULL means all. In a nest the
 * outer loop becomes the clone, and inner ones are measured in it. If the outer loop is refused,
 * inner ones are planned alone. VARY varies one loop of a nest, and its inner loops with it.
 * `verdict` has one element per loop.
 */
int as_patch_maker_add(struct as_patch_maker *maker, const struct as_program *program,
                       const bool *wanted, struct as_patch_verdict *verdict, struct as_error *err);
/* Bodies that are wanted as a whole, one element per body of the program. */
struct as_patch_bodies {
    const bool *wanted;
    uint8_t *refusal; /* as_patch_refusal of wanted bodies */
};
/* Does the same for COUNT and PROBE with whole bodies. If a body can be a region, all its code is
 * counted. Its loops then have `asked` set, no refusal, and no loop of the plan. Otherwise its
 * wanted loops are planned alone. `bodies` may be NULL. */
int as_patch_maker_add_bodies(struct as_patch_maker *maker, const struct as_program *program,
                              const struct as_patch_bodies *bodies, const bool *wanted,
                              struct as_patch_verdict *verdict, struct as_error *err);
/* Moves the meanings of address records to `out` once the plan is complete. The caller calls
 * as_address_plan_fini. */
void as_patch_maker_addresses(struct as_patch_maker *maker, struct as_address_plan *out);
/* Stores a text in the plan and sets *at to its offset. */
int as_patch_maker_text(struct as_patch_maker *maker, const char *text, uint64_t *at,
                        struct as_error *err);
/* Sets `bytes` to the contents of the plan file, `n` bytes. The caller frees them with as_free. */
int as_patch_maker_bytes(struct as_patch_maker *maker, uint8_t **bytes, size_t *n,
                         struct as_error *err);
/* Writes the plan file to `path`. Returns 0, AS_ERR_NOMEM or AS_ERR_IO. */
int as_patch_maker_write(struct as_patch_maker *maker, const char *path, struct as_error *err);

#endif
