/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clone under construction: the pieces that clone.c makes of the blocks of an area, and what
 * clone_layout.c does with them.
 */
#ifndef AS_PATCH_CLONE_H
#define AS_PATCH_CLONE_H

#include <string.h>

#include "patch/internal.h"

/* PAD: room, so that what comes then has the address of `label` modulo a line. */
enum as_clone_kind { AS_CLONE_COPY, AS_CLONE_BRANCH, AS_CLONE_ISLAND, AS_CLONE_CODE, AS_CLONE_PAD };
/* Conditions: those of the flags by their number, always, and with the low bits of their opcode
 * `loopne`, `loope`, `loop`, `jrcxz`, which reach 127 bytes. */
enum { AS_CLONE_ALWAYS = 16, AS_CLONE_COUNTED = 32 };
enum { AS_CLONE_CODE_MOST_B = 52, AS_CLONE_FIXES_MOST = 3 };
enum { AS_CLONE_RED_ZONE_B = 128, AS_CLONE_LINE_B = 64 };

/* A piece of the clone: an instruction, a branch, or code of ours. */
struct as_clone_part {
    uint8_t kind, length, condition, fixes;
    bool wide, calls;
    bool lowers;      /* our code, and the stack pointer is lowered in it by the red zone first */
    uint8_t pushes;   /* and by so many words */
    uint8_t depth_b;  /* so much more lies on the stack where it begins than in the original */
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
    uint32_t edge;  /* of the plan; ASSAY_NONE: straight to the target */
    uint32_t to;    /* block of the area, or ASSAY_NONE */
    uint32_t part;  /* its island */
    uint64_t from;  /* address of what leads there first */
    uint32_t block; /* of the program, that it leads out of */
};

/* A loop whose counters stand in registers while it runs; those of before wait on the stack. */
struct as_clone_tally {
    uint32_t loop;
    uint64_t open;     /* counter: whether it runs */
    uint32_t entry;    /* part: the way in from a place; ASSAY_NONE: none */
    uint8_t n, pushed; /* registers; of the first ones the program's value is kept */
    uint8_t reg[AS_CLONE_FIXES_MOST];
    uint32_t block[AS_CLONE_FIXES_MOST]; /* of the area, that each counts */
    uint32_t walk;                       /* number of its address record, or ASSAY_NONE */
    uint8_t walk_reg;                    /* has its iterations */
    uint8_t cursor;     /* register with the cursor of address records, or AS_PATCH_NONE */
    bool cursor_pushed; /* the program's value of it waits on the stack, after those of `reg` */
};

/* Words on the stack while the loop runs. */
static inline unsigned as_clone_tally_pushes(const struct as_clone_tally *t)
{
    return (unsigned)t->pushed + t->cursor_pushed;
}

/* Before which instruction a block is counted (ASSAY_NONE: nowhere), and what is live there. */
struct as_clone_point {
    uint64_t counter;
    uint32_t insn, live;
};

struct as_clone_assembly {
    const struct as_patch_clone *clone;
    const struct assay_program *p;
    AS_VEC(struct as_clone_part) part;
    AS_VEC(struct as_clone_way) way;
    uint32_t *label;   /* per block of the area: its first part */
    uint64_t *counter; /* COUNT, of a measured clone: so, its counter */
    struct as_patch_counted counted;
    AS_VEC(struct as_clone_tally) tally;
    uint8_t depth_b;      /* of the next part */
    uint32_t next_record; /* instruction that the next part for address records begins with */
    uint32_t part_from;   /* instruction that the part begins with, and before which its record */
    uint32_t part_place;  /* stands; ASSAY_NONE: it was emitted */
    unsigned refusal;
};

/* The instruction as it is. 0 or ASSAY_ERR_NOMEM. */
int as_clone_copy(struct as_clone_assembly *a, const struct assay_insn *insn, const uint8_t *bytes);
/* A new part of `address`; NULL: no memory. */
struct as_clone_part *as_clone_part_new(struct as_clone_assembly *a, enum as_clone_kind kind,
                                        uint64_t address);
static inline struct as_patch_reloc as_clone_fix(unsigned kind, uint64_t value, uint32_t at,
                                                 unsigned from)
{
    return (struct as_patch_reloc){value, at, (uint16_t)kind, (uint16_t)from};
}

static inline void as_clone_add_bytes(struct as_clone_part *part, size_t n, const uint8_t *bytes)
{
    memcpy(part->code + part->length, bytes, n);
    part->length = (uint8_t)(part->length + n);
}
#define AS_CLONE_BYTES(part, ...)                                                                  \
    as_clone_add_bytes((part), sizeof((const uint8_t[]){__VA_ARGS__}),                             \
                       (const uint8_t[]){__VA_ARGS__})
/* Around what changes the status flags and not rax: `popfq` takes some 20 cycles, these four
 * instructions a few. Of no use where rax itself is needed between them. */
void as_clone_save_flags(struct as_clone_part *part, bool lowers);
void as_clone_restore_flags(struct as_clone_part *part);

/* ---- clone_ways.c ---- */

/* Entries and exits of loops are measured. */
bool as_clone_is_timed(const struct as_clone_assembly *a);
/* The label for a branch of block `from` (ASSAY_NONE: outside), at `address`, to `target`. 0 or
 * ASSAY_ERR_NOMEM. */
int as_clone_find_way(struct as_clone_assembly *a, uint32_t from, uint64_t address, uint64_t target,
                      uint32_t *label);
/* So, out of `block`, the header, to itself: through what is outside. */
int as_clone_find_way_again(struct as_clone_assembly *a, uint32_t block, uint32_t *label);
/* A jump table of `block` leads out of the area: nobody follows it there, so no loop may be left.
 */
bool as_clone_has_table_out(const struct as_clone_assembly *a, uint32_t block);
/* Ways into the clone, `label` of each place of the area: where something is measured there, to an
 * island. The refusal is set where other ways lead there that measure something else. 0 or
 * ASSAY_ERR_NOMEM. */
int as_clone_entries(struct as_clone_assembly *a, uint32_t *label);
/* A jump for each way. 0 or ASSAY_ERR_NOMEM. */
int as_clone_islands(struct as_clone_assembly *a);
/* From the labels of places to offsets in the clone that is laid out. */
void as_clone_offsets(struct as_clone_assembly *a, uint32_t *at);

/* What is live at the target of a way out of a block. */
uint32_t as_clone_live(const struct as_clone_assembly *a, uint64_t target);

/* ---- clone_slice.c ---- */

/* The end of a slice of iterations, where the clone has one: at the header. 0 or ASSAY_ERR_NOMEM.
 */
int as_clone_slice(struct as_clone_assembly *a, uint32_t block);

/* ---- clone_tally.c ---- */

/* Chooses the loops whose counters stand in registers. 0 or ASSAY_ERR_NOMEM. */
int as_clone_tallies_find(struct as_clone_assembly *a);
/* The register that counts block `k` of the area, or AS_PATCH_NONE. */
unsigned as_clone_tally_of(const struct as_clone_assembly *a, uint32_t k);
/* How much more lies on the stack in `block` of the program. */
unsigned as_clone_tally_depth(const struct as_clone_assembly *a, uint32_t block);
/* Whether such a loop is left or entered between blocks `from` and `to` of the program (ASSAY_NONE:
 * outside). */
bool as_clone_tally_borders(const struct as_clone_assembly *a, uint32_t from, uint32_t to);
/* The code for that, at a way to `target`; it stands for `address`. 0 or ASSAY_ERR_NOMEM. */
int as_clone_tally_cross(struct as_clone_assembly *a, uint32_t from, uint32_t to, uint64_t target,
                         uint64_t address);
/* Adds ways in for places at headers. 0 or ASSAY_ERR_NOMEM. */
int as_clone_tally_entries(struct as_clone_assembly *a);

/* The tally of the loop that `block` of the program is in; NULL: none. */
const struct as_clone_tally *as_clone_tally_around(const struct as_clone_assembly *a,
                                                   uint32_t block);

/* ---- clone_addresses.c ---- */

/* Returns true if the clone records addresses. */
bool as_clone_records(const struct as_clone_assembly *a);
/* Makes the record of the loop of `t` if the loop is a walk; its registers are chosen. 0 or
 * ASSAY_ERR_NOMEM. */
int as_clone_walk_find(struct as_clone_assembly *a, struct as_clone_tally *t);
/* Emits the code of its record, before the loop is entered. Emits the code for its iterations,
 * while the registers still have them. 0 or ASSAY_ERR_NOMEM. */
int as_clone_walk_enter(struct as_clone_assembly *a, const struct as_clone_tally *t,
                        uint64_t address);
int as_clone_walk_leave(struct as_clone_assembly *a, const struct as_clone_tally *t,
                        uint64_t address);
/* Emits the code that loads and stores the register with the cursor, if the loop has one; with
 * `keep_flags` flags stay. 0 or ASSAY_ERR_NOMEM. */
int as_clone_cursor_enter(struct as_clone_assembly *a, const struct as_clone_tally *t,
                          uint64_t address);
int as_clone_cursor_leave(struct as_clone_assembly *a, const struct as_clone_tally *t,
                          bool keep_flags, uint64_t address);
/* The record that stands before instruction `i` of `block`, if one does. 0 or ASSAY_ERR_NOMEM. */
int as_clone_addresses_at(struct as_clone_assembly *a, uint32_t block, uint32_t i);

/* ---- */

/* A new counter of what `counts` says (as_patch_counts) of the code at `address` in `block`. 0 or
 * ASSAY_ERR_NOMEM. */
int as_clone_count(struct as_clone_assembly *a, uint32_t block, uint64_t address, unsigned counts,
                   uint64_t *counter);
/* What goes before an instruction, or behind it, to count lanes or repetitions. 0 or
 * ASSAY_ERR_NOMEM; the refusal is set where it cannot. */
int as_clone_probe(struct as_clone_assembly *a, uint32_t block, const struct assay_insn *insn,
                   const uint8_t *bytes, bool behind);

/* ---- clone_point.c ---- */

/* PROBE: where a point of the plan stands before the instruction, or behind it. 0 or
 * ASSAY_ERR_NOMEM. */
int as_clone_point_at(struct as_clone_assembly *a, const struct assay_insn *insn, bool behind);

/* ---- */

/* Gives each part its place; short branches that do not reach become long, until all reach. Returns
 * the size. */
uint32_t as_clone_lay_out(struct as_clone_assembly *a);
/* Where an arrival at `address` goes on: behind a call with what comes then, or at a block;
 * UINT32_MAX: nowhere. */
uint32_t as_clone_place(const struct as_clone_assembly *a, uint64_t address);
/* Appends the parts to the maker's code, relocations and spans. 0 or ASSAY_ERR_NOMEM. */
int as_clone_emit(struct as_clone_assembly *a, struct as_patch_template *out);

#endif
