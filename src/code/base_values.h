/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes values of general registers and spilled words as sums of pointers. Numbers have no part
 * in a sum: a pointer plus numbers stays in the object that the pointer points to. Different
 * pointers cancel out by their factors (b - a + a).
 */
#ifndef AS_CODE_BASE_VALUES_H
#define AS_CODE_BASE_VALUES_H

#include "code/bases.h"

#include "base/arena.h"
#include "base/vec.h"

enum {
    AS_BASE_CALL_WRITES = 0x0fc7, /* registers that a call may change */
    AS_BASE_PARTS = 3,
    AS_BASE_TAGS = 3,
    AS_BASE_REGISTERS = 16,
    AS_BASE_SP = 4, /* rsp, rbp */
    AS_BASE_BP = 5,
    AS_BASE_SLOTS = 48, /* words of the frame and vector registers that hold a spilled register */
    AS_BASE_LOCATIONS = AS_BASE_REGISTERS + AS_BASE_SLOTS
};

/* An object that a value points into. */
struct as_base_tag {
    uint32_t object; /* index into as_bases.object */
    bool exact;      /* the value points to byte offset_b of the object */
    int64_t offset_b;
};

struct as_base_part {
    uint32_t root; /* number of a pointer of unknown value */
    int32_t factor;
};

struct as_base_value {
    struct as_base_part part[AS_BASE_PARTS]; /* ascending by root */
    struct as_base_tag tag[AS_BASE_TAGS];
    uint8_t parts, tags;
    bool unknown; /* may be any sum of pointers */
};

struct as_base_state {
    struct as_base_value at[AS_BASE_LOCATIONS];
    bool reached;
};

/* Memory that a pointer points to, or that a variable occupies. */
struct as_base_object {
    const char *text;
    struct as_type_ref type;
    uint32_t scope; /* scope of the variable, or AS_NONE */
    bool through;   /* a pointer points to the object: it may hold several elements of `type` */
    bool loose;     /* the memory holds a copy of the variable now, but may be another object */
};

/* A pointer with a number and no known value. */
struct as_base_root {
    bool is_pointer; /* a tag proves that it is a pointer; otherwise it is treated as a number */
    uint32_t object; /* object that the pointer points into, or AS_NONE */
};

struct as_base_word {
    int64_t offset_b; /* as as_base_frame_offset returns it */
};

/* DWARF storage of variables that is valid somewhere in a block. */
struct as_base_block {
    const struct as_storage **place;
    uint32_t places;
};

struct as_bases {
    const struct as_program *program;
    uint32_t body, first_insn, insns;
    struct as_data_variables variables;
    bool *is_system; /* by scope: a system header declares the scope */
    struct as_arena arena;
    AS_VEC(struct as_base_object) object;
    struct as_base_root *root;
    uint32_t roots;
    struct as_base_word word[AS_BASE_SLOTS];
    unsigned words;
    /* Offset of the lowest word with an address that the code takes. Code may write all words from
     * this offset on through pointers. */
    int64_t escaped_b;
    struct as_base_state *in; /* by block of the body */
    struct as_base_block *block;
    const struct as_storage **fixed; /* storage at fixed addresses, sorted by address */
    size_t fixed_n;
    bool failed, changed; /* failed: out of memory; changed: a root turned out to be a pointer */
};

/* ---- Roots ----------------------------------------------------------------------------------- */

/* Return the numbers of roots. Registers at the entry have the first 16 numbers. Results of
 * instructions, merges of paths and variables follow. */
uint32_t as_base_root_result(const struct as_bases *b, uint32_t insn, unsigned reg);
uint32_t as_base_root_meeting(const struct as_bases *b, uint32_t block, unsigned location);
uint32_t as_base_root_variable(const struct as_bases *b, uint32_t variable);
size_t as_base_roots(const struct as_bases *b);

/* Returns a value that is one root alone. */
struct as_base_value as_base_value_root(uint32_t root);

/* ---- Sums ------------------------------------------------------------------------------------ */

struct as_base_value as_base_add_constant(struct as_base_value value, int64_t constant);
struct as_base_value as_base_add(const struct as_bases *b, const struct as_base_value *x,
                                 const struct as_base_value *y, int64_t factor);
struct as_base_value as_base_scale(const struct as_base_value *x, int64_t factor);
/* Returns a pointer that was rounded down: it points into the same objects, at an
 * unknown offset. */
struct as_base_value as_base_inexact(struct as_base_value value);

/* Keeps the parts of `into` that are the same in `from`. Root `root` stands for a value that
 * depends on the path. Returns true if `into` has changed. */
bool as_base_merge(struct as_bases *b, struct as_base_value *into, const struct as_base_value *from,
                   uint32_t root);

/* Marks a value as a pointer into the object of `tag`. The value becomes `root` unless it is a
 * single root already. */
void as_base_tag_add(struct as_bases *b, struct as_base_value *value, struct as_base_tag tag,
                     uint32_t root);

/* ---- Objects --------------------------------------------------------------------------------- */

/* Returns the number of an object and adds the object if it is new. Returns AS_NONE if the table
 * is full or memory is short (`failed`). */
uint32_t as_base_object_of(struct as_bases *b, struct as_base_object object);

/* Sets `out` to the object that the word at tag `at` points to. Returns false if the object is
 * unknown. */
bool as_base_loaded(struct as_bases *b, const struct as_base_tag *at, struct as_base_tag *out);

/* ---- Instructions (base_steps.c) ------------------------------------------------------------- */

/* One instruction and the state before it. */
struct as_base_step {
    struct as_bases *b;
    struct as_base_state *state;
    uint32_t block, insn; /* index in the body; index in the program */
    const struct as_insn *at;
    const struct as_form *form;
};

/* Changes the state to that after the instruction. */
void as_base_step_run(struct as_base_step *step);
/* Returns the address of a memory operand of the instruction. */
struct as_base_value as_base_step_address(struct as_base_step *step, const struct as_memory *m);

/* ---- Blocks (bases.c) ------------------------------------------------------------------------ */

/* Runs a block from its start up to instruction `until` of the program, which is not run. */
void as_base_run_block(struct as_bases *b, uint32_t block, uint32_t until,
                       struct as_base_state *state);
/* Returns the block of the body that contains an instruction, or AS_NONE. */
uint32_t as_base_block_of(const struct as_bases *b, uint32_t insn);
/* Returns a name as the source has it, or NULL if there is none. "this->u" is "u" in the source;
 * "this" alone does not name an array. */
const char *as_base_plain_text(const char *text);

/* ---- Places (base_places.c) ------------------------------------------------------------------ */

/* Lists the storage of variables that is valid in each block. Returns 0 or AS_ERR_NOMEM. */
int as_base_places_list(struct as_bases *b);
/* Tags the registers that hold a pointer variable or the address of a variable at `pc`. */
void as_base_places_apply(struct as_bases *b, uint32_t block, uint64_t pc,
                          struct as_base_state *state);
/*
 * Return the integer variable, visible at `use`, with a known value at `pc`, or AS_NONE. The
 * value is `reg` - *constant, or the number at `memory`. The code must not change the variable.
 */
uint32_t as_base_number_of(const struct as_bases *b, uint32_t block, uint64_t pc, unsigned reg,
                           uint64_t use, int64_t *constant);
uint32_t as_base_number_at(const struct as_bases *b, uint32_t block, uint64_t pc,
                           const struct as_memory *memory, uint64_t use);
/* Frame offsets of a function that aligns its stack are below this value. */
#define AS_BASE_ALIGNED_MOST (INT64_MIN / 8)

/* Sets `offset_b` to the offset of `reg` + `disp` from the canonical frame address at `pc`. In an
 * aligned frame only offsets of the same register are comparable. Returns false if `reg` is not a
 * frame register. */
bool as_base_frame_offset(const struct as_bases *b, uint64_t pc, unsigned reg, int64_t disp,
                          int64_t *offset_b);
/* Finds the variable of the frame at an offset. Returns false if there is none. */
bool as_base_frame_variable(struct as_bases *b, uint32_t block, uint64_t pc, unsigned reg,
                            int64_t disp, int64_t offset_b, struct as_base_tag *out);
/* Finds the global or static variable at an address. Returns false if there is none. */
bool as_base_static_variable(struct as_bases *b, uint64_t address, struct as_base_tag *out,
                             uint32_t *root);
/* Finds the variable with its address in the word at `reg` + `disp`. Returns false if there is
 * none. */
bool as_base_behind(struct as_bases *b, uint32_t block, uint64_t pc, unsigned reg, int64_t disp,
                    struct as_base_tag *out);

#endif
