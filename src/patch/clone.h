/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clone under construction: the pieces that clone.c makes of the blocks of an area, and what
 * clone_layout.c does with them.
 */
#ifndef AS_PATCH_CLONE_H
#define AS_PATCH_CLONE_H

#include "patch/internal.h"

enum as_clone_kind { AS_CLONE_COPY, AS_CLONE_BRANCH, AS_CLONE_ISLAND, AS_CLONE_CODE };
enum { AS_CLONE_ALWAYS = 16, AS_CLONE_CODE_MOST_B = 48, AS_CLONE_FIXES_MOST = 3 };

/* A piece of the clone: an instruction, a branch, or code of ours. */
struct as_clone_part {
    uint8_t kind, length, condition, fixes;
    bool wide, calls;
    uint32_t at;      /* in the clone */
    uint32_t label;   /* BRANCH: block of the area; or, with its top bit, a way */
    uint64_t address; /* of the original code it stands for; 0: none */
    const uint8_t *bytes;
    uint8_t code[AS_CLONE_CODE_MOST_B];
    struct as_patch_reloc fix[AS_CLONE_FIXES_MOST]; /* `at` from the beginning of the part */
};
#define AS_CLONE_TO_WAY 0x80000000u

/* Out of the clone, or over the border of a loop that is measured. */
struct as_clone_way {
    uint64_t target;
    uint32_t edge; /* of the plan; ASSAY_NONE: straight to the target */
    uint32_t to;   /* block of the area, or ASSAY_NONE */
    uint32_t part; /* its island */
};

struct as_clone_assembly {
    const struct as_patch_clone *clone;
    const struct assay_program *p;
    AS_VEC(struct as_clone_part) part;
    AS_VEC(struct as_clone_way) way;
    uint32_t *label; /* per block of the area: its first part */
    unsigned refusal;
};

/* Gives each part its place; short branches that do not reach become long, until all reach. Returns
 * the size. */
uint32_t as_clone_lay_out(struct as_clone_assembly *a);
/* Where an arrival at `address` goes on: behind a call with what comes then, or at a block;
 * UINT32_MAX: nowhere. */
uint32_t as_clone_place(const struct as_clone_assembly *a, uint64_t address);
/* Appends the parts to the maker's code, relocations and spans. 0 or ASSAY_ERR_NOMEM. */
int as_clone_emit(struct as_clone_assembly *a, struct as_patch_template *out);

#endif
