/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares a clone under construction: the parts that clone.c makes from the blocks of an area.
 * clone_layout.c lays them out.
 */
#ifndef AS_PATCH_CLONE_H
#define AS_PATCH_CLONE_H

#include <string.h>

#include "patch/internal.h"

/* PAD: padding that gives the next part the address of `label` modulo a cache line. */
enum as_clone_kind { AS_CLONE_COPY, AS_CLONE_BRANCH, AS_CLONE_ISLAND, AS_CLONE_CODE, AS_CLONE_PAD };
/* Conditions: those of the flags by number, ALWAYS, and COUNTED with the low bits of the opcode.
 * COUNTED is for `loopne`, `loope`, `loop` and `jrcxz`, which reach 127 bytes. */
enum { AS_CLONE_ALWAYS = 16, AS_CLONE_COUNTED = 32 };
enum { AS_CLONE_CODE_MOST_B = 52, AS_CLONE_FIXES_MOST = 3 };
enum { AS_CLONE_RED_ZONE_B = 128, AS_CLONE_LINE_B = 64 };

/* A part of the clone: an instruction, a branch, or inserted code. */
struct as_clone_part {
    uint8_t kind, length, condition, fixes;
    bool wide, calls;
    bool lowers;    /* inserted code that first lowers the stack pointer by the red zone */
    uint8_t pushes; /* number of words that the code pushes afterwards */
    /* Bytes on the stack at its start in addition to those of the original. */
    uint8_t depth_b;
    uint32_t at;      /* offset in the clone */
    uint32_t label;   /* BRANCH: block of the area, or a way if the top bit is set */
    uint64_t address; /* address of its original code; 0: none */
    const uint8_t *bytes;
    uint8_t code[AS_CLONE_CODE_MOST_B];
    /* `at` is an offset from the start of the part. */
    struct as_patch_reloc fix[AS_CLONE_FIXES_MOST];
};
#define AS_CLONE_TO_WAY 0x80000000u

/* An edge that leaves the clone, or that crosses the border of a measured loop. */
struct as_clone_way {
    uint64_t target;
    uint32_t edge;  /* edge of the plan; AS_NONE: directly to the target */
    uint32_t to;    /* block of the area, or AS_NONE */
    uint32_t part;  /* its island */
    uint64_t from;  /* address of the first instruction that leads there */
    uint32_t block; /* block of the program that it leaves */
};

/* A loop with its counters in registers while it runs. The program's values of these registers are
 * saved on the stack. */
struct as_clone_tally {
    uint32_t loop;
    uint64_t open;     /* counter that is 1 while the loop runs */
    uint32_t entry;    /* part of the entry at its header; AS_NONE: none */
    uint8_t n, pushed; /* number of registers; values of the first `pushed` ones are saved */
    uint8_t reg[AS_CLONE_FIXES_MOST];
    uint32_t block[AS_CLONE_FIXES_MOST]; /* block of the area that each register counts */
    uint32_t walk;                       /* number of its address record, or AS_NONE */
    uint8_t walk_reg;                    /* register with its iterations */
    uint8_t cursor;     /* register with the cursor of address records, or AS_PATCH_NONE */
    bool cursor_pushed; /* the program's value is saved on the stack, after those of `reg` */
};

/* Returns the number of words on the stack while the loop runs. */
static inline unsigned as_clone_tally_pushes(const struct as_clone_tally *t)
{
    return (unsigned)t->pushed + t->cursor_pushed;
}

/* Instruction before which a block is counted (AS_NONE: none), and the live registers and flags
 * there. */
struct as_clone_point {
    uint64_t counter;
    uint32_t insn, live;
};

struct as_clone_assembly {
    const struct as_patch_clone *clone;
    const struct as_program *p;
    AS_VEC(struct as_clone_part) part;
    AS_VEC(struct as_clone_way) way;
    uint32_t *label;   /* per block of the area: number of its first part */
    uint64_t *counter; /* COUNT, measured clone: counter of each block of the area */
    struct as_patch_counted counted;
    AS_VEC(struct as_clone_tally) tally;
    uint8_t depth_b;      /* depth_b of the next part */
    uint32_t next_record; /* first instruction of the next part for address records */
    uint32_t part_from;   /* first instruction of the current part */
    /* Instruction that the record precedes; AS_NONE: the record was emitted. */
    uint32_t part_place;
    unsigned refusal;
};

/* Copies an instruction unchanged except for its RIP-relative address. Returns 0 or
 * AS_ERR_NOMEM. */
int as_clone_copy(struct as_clone_assembly *a, const struct as_insn *insn, const uint8_t *bytes);
/* Appends a part for the code at `address`. Returns NULL if memory is short. */
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
/* Save and restore the status flags around code that changes them but does not use rax. These four
 * instructions take a few cycles; `popfq` takes about 20. */
void as_clone_save_flags(struct as_clone_part *part, bool lowers);
void as_clone_restore_flags(struct as_clone_part *part);

/* ---- clone_ways.c ---- */

/* Returns true if the clone measures entries and exits of loops. */
bool as_clone_is_timed(const struct as_clone_assembly *a);
/* Sets `label` to the label for a branch at `address` in block `from` to `target`. `from`
 * AS_NONE means outside. Returns 0 or AS_ERR_NOMEM. */
int as_clone_find_way(struct as_clone_assembly *a, uint32_t from, uint64_t address, uint64_t target,
                      uint32_t *label);
/* Sets `label` to a way from the header `block` back to itself that passes outside of the clone.
 * Returns 0 or AS_ERR_NOMEM. */
int as_clone_find_way_again(struct as_clone_assembly *a, uint32_t block, uint32_t *label);
/* Returns true if a jump table of `block` leaves the area and a measured loop. Such an exit cannot
 * be measured. */
bool as_clone_has_table_out(const struct as_clone_assembly *a, uint32_t block);
/* Sets `label` for each entry of the area: an island if something is measured there. Sets the
 * refusal if the entry has other uses that must be measured differently. Returns 0 or
 * AS_ERR_NOMEM. */
int as_clone_entries(struct as_clone_assembly *a, uint32_t *label);
/* Adds a jump for each way. Returns 0 or AS_ERR_NOMEM. */
int as_clone_islands(struct as_clone_assembly *a);
/* Turns the labels of entries into offsets after the clone is laid out. */
void as_clone_offsets(struct as_clone_assembly *a, uint32_t *at);

/* Returns the registers and flags that are live at the target of an exit. */
uint32_t as_clone_live(const struct as_clone_assembly *a, uint64_t target);

/* ---- clone_slice.c ---- */

/* Adds the end of a slice of iterations at the header if the clone has slices. Returns 0 or
 * AS_ERR_NOMEM. */
int as_clone_slice(struct as_clone_assembly *a, uint32_t block);

/* ---- clone_tally.c ---- */

/* Chooses the loops that have their counters in registers. Returns 0 or AS_ERR_NOMEM. */
int as_clone_tallies_find(struct as_clone_assembly *a);
/* Returns the register that counts block `k` of the area, or AS_PATCH_NONE. */
unsigned as_clone_tally_of(const struct as_clone_assembly *a, uint32_t k);
/* Returns the bytes on the stack in `block` of the program in addition to the original ones. */
unsigned as_clone_tally_depth(const struct as_clone_assembly *a, uint32_t block);
/* Returns true if control enters or leaves such a loop between blocks `from` and `to` of the
 * program. AS_NONE means outside. */
bool as_clone_tally_borders(const struct as_clone_assembly *a, uint32_t from, uint32_t to);
/* Adds the code for this on a way to `target`. The code belongs to `address`. Returns 0 or
 * AS_ERR_NOMEM. */
int as_clone_tally_cross(struct as_clone_assembly *a, uint32_t from, uint32_t to, uint64_t target,
                         uint64_t address);
/* Adds the entries at headers of such loops. Returns 0 or AS_ERR_NOMEM. */
int as_clone_tally_entries(struct as_clone_assembly *a);

/* Returns the tally of the loop that holds `block` of the program, or NULL. */
const struct as_clone_tally *as_clone_tally_around(const struct as_clone_assembly *a,
                                                   uint32_t block);

/* ---- clone_addresses.c ---- */

/* Returns true if the clone records addresses. */
bool as_clone_records(const struct as_clone_assembly *a);
/* Makes the record of the loop of `t` if the loop is a walk. The caller has chosen the registers.
 * Returns 0 or AS_ERR_NOMEM. */
int as_clone_walk_find(struct as_clone_assembly *a, struct as_clone_tally *t);
/* as_clone_walk_enter emits the code of the loop's record before the entry. as_clone_walk_leave
 * emits the code for its iterations while the registers still have them. Both return 0 or
 * AS_ERR_NOMEM. */
int as_clone_walk_enter(struct as_clone_assembly *a, const struct as_clone_tally *t,
                        uint64_t address);
int as_clone_walk_leave(struct as_clone_assembly *a, const struct as_clone_tally *t,
                        uint64_t address);
/* Emit the code that loads and stores the cursor register, if the loop has one. `keep_flags` keeps
 * the flags. Both return 0 or AS_ERR_NOMEM. */
int as_clone_cursor_enter(struct as_clone_assembly *a, const struct as_clone_tally *t,
                          uint64_t address);
int as_clone_cursor_leave(struct as_clone_assembly *a, const struct as_clone_tally *t,
                          bool keep_flags, uint64_t address);
/* Adds the address record before instruction `i` of `block`, if there is one. Returns 0 or
 * AS_ERR_NOMEM. */
int as_clone_addresses_at(struct as_clone_assembly *a, uint32_t block, uint32_t i);

/* ---- */

/* Makes a new counter of kind `counts` (as_patch_counts) for the code at `address` in `block`.
 * Returns 0 or AS_ERR_NOMEM. */
int as_clone_count(struct as_clone_assembly *a, uint32_t block, uint64_t address, unsigned counts,
                   uint64_t *counter);
/* Adds code before or after an instruction that counts lanes or repetitions. Sets the refusal if
 * this is impossible. Returns 0 or AS_ERR_NOMEM. */
int as_clone_probe(struct as_clone_assembly *a, uint32_t block, const struct as_insn *insn,
                   const uint8_t *bytes, bool behind);

/* ---- clone_point.c ---- */

/* PROBE: adds the call of the agent if a point of the plan is before or after the instruction.
 * Returns 0 or AS_ERR_NOMEM. */
int as_clone_point_at(struct as_clone_assembly *a, const struct as_insn *insn, bool behind);

/* ---- */

/* Gives each part its offset. Short branches become long until all reach their targets. Returns the
 * size in bytes. */
uint32_t as_clone_lay_out(struct as_clone_assembly *a);
/* Returns the offset where control that arrives at `address` continues: after a call, at the entry
 * of a tally, or at a block. Returns UINT32_MAX if there is none. */
uint32_t as_clone_place(const struct as_clone_assembly *a, uint64_t address);
/* Appends the parts to the maker's code, relocations and spans. Returns 0 or AS_ERR_NOMEM. */
int as_clone_emit(struct as_clone_assembly *a, struct as_patch_template *out);

#endif
