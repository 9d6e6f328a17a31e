/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans: which loops of a program run as clones, what the clones are, and which loops cannot, with
 * the reason. Made from the analysed code of each module; nothing here runs in the program
 * (doc/internals/patch.md). The agent applies the plan.
 */
#ifndef AS_PATCH_PATCH_H
#define AS_PATCH_PATCH_H

#include <assay/code.h>

#include "patch/address_plan.h"
#include "patch/plan.h"
#include "patch/probe_plan.h"
#include "patch/variant_plan.h"

/* Why a loop is left alone. */
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

/* Why a variant of a loop is not made (patch/variant.h), and what variants are called. */
const char *as_variant_refusal_text(unsigned refusal);
/* Returns whether the refusal is that a loop around it, or in it, is varied in the same plan. */
bool as_variant_is_nested(unsigned refusal);
const char *as_variant_name(unsigned kind);

struct as_patch_verdict {
    uint8_t refusal;                    /* as_patch_refusal */
    bool asked;                         /* for */
    uint32_t loop;                      /* of the plan; ASSAY_NONE when refused */
    uint8_t induction;                  /* register, or AS_PATCH_NONE */
    uint8_t tally;                      /* so */
    bool counts;                        /* its iterations are counted in memory */
    uint8_t unvaried[AS_VARIANT_KINDS]; /* VARY: as_variant_refusal of each kind */
};

/* PROBE: what is done where, borrowed while the maker lives. Texts of `called` are those of the
 * plan once as_patch_maker_text gave them a place. */
struct as_patch_points {
    const struct as_patch_point *point; /* by address, those before an instruction first */
    size_t point_n;
    const struct as_patch_act *act;
    size_t act_n;
    const struct as_patch_called *called;
    size_t called_n;
};

struct as_patch_wish {
    enum as_patch_mode mode;
    uint32_t period; /* VARY: instances of each variant and bucket */
    uint32_t kept;
    uint32_t paths_b;  /* as_patch_plan; 0: no call paths */
    uint32_t variants; /* VARY: a bit for each kind */
    bool slices;       /* VARY: of loops that are seldom entered, slices of their iterations */
    bool nests;        /* VARY: loops before those in them; else after them */
    const struct as_patch_points *points; /* PROBE */
    uint32_t addresses_b; /* COUNT: buffer of addresses for each thread; 0: none are recorded */
};

struct as_patch_maker;

/* Errors of all: NOMEM. */
int as_patch_maker_new(const struct as_patch_wish *wish, struct as_patch_maker **out,
                       struct assay_error *err);
void as_patch_maker_free(struct as_patch_maker **maker);
/*
 * Plans the loops of `program` for which `wanted` is true (an element a loop; NULL: all). Of loops
 * one in another the outer one becomes the clone and the inner ones are measured in it; where the
 * outer one is refused the inner ones stand for themselves. VARY varies one of them, and with it
 * the loops in it. `verdict` has an element a loop.
 */
int as_patch_maker_add(struct as_patch_maker *maker, const struct assay_program *program,
                       const bool *wanted, struct as_patch_verdict *verdict,
                       struct assay_error *err);
/* Bodies that are wanted whole: an element a body of the program. */
struct as_patch_bodies {
    const bool *wanted;
    uint8_t *refusal; /* as_patch_refusal of those that are wanted */
};
/* The same, for COUNT and PROBE: of a body that can be a region all code is counted, and its loops,
 * asked but refused by nothing, are none of the plan's. Where it cannot, the wanted ones of its
 * loops are planned alone. `bodies` may be NULL. */
int as_patch_maker_add_bodies(struct as_patch_maker *maker, const struct assay_program *program,
                              const struct as_patch_bodies *bodies, const bool *wanted,
                              struct as_patch_verdict *verdict, struct assay_error *err);
/* Hands over what address records mean, once the plan is whole. The caller: as_address_plan_fini.
 */
void as_patch_maker_addresses(struct as_patch_maker *maker, struct as_address_plan *out);
/* Keeps a text in the plan: its place into *at. */
int as_patch_maker_text(struct as_patch_maker *maker, const char *text, uint64_t *at,
                        struct assay_error *err);
/* The plan as the bytes of its file, by as_alloc; the caller frees them. */
int as_patch_maker_bytes(struct as_patch_maker *maker, uint8_t **bytes, size_t *n,
                         struct assay_error *err);
/* Writes that to `path`. Errors: IO too. */
int as_patch_maker_write(struct as_patch_maker *maker, const char *path, struct assay_error *err);

#endif
