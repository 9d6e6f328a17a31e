/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of general registers and spilled words as sums of pointers. Numbers have no part in such a
 * sum: a pointer plus numbers stays in the object that the pointer points to. Pointers that differ
 * (b - a + a) cancel out by their factors.
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
    AS_BASE_SLOTS = 48, /* words of the frame, and vector registers */
    AS_BASE_LOCATIONS = AS_BASE_REGISTERS + AS_BASE_SLOTS
};

/* A value points into this object. */
struct as_base_tag {
    uint32_t object; /* into as_bases.object */
    bool exact;      /* at offset_b from its beginning */
    int64_t offset_b;
};

struct as_base_part {
    uint32_t root; /* a pointer of unknown value */
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

/* Memory that a pointer points to, or that a variable has. */
struct as_base_object {
    const char *text;
    struct as_type_ref type;
    uint32_t scope; /* of the variable, or ASSAY_NONE */
    bool through;   /* a pointer's: any number of `type` */
    bool loose;     /* memory that has the value of a variable now, but may be another one */
};

/* A pointer of which nothing but its number is known. */
struct as_base_root {
    bool is_pointer; /* proved by a tag; others are numbers as far as is known */
    uint32_t object; /* that it points into, or ASSAY_NONE */
};

struct as_base_word {
    int64_t offset_b; /* as as_base_frame_offset gives it */
};

/* Places of variables of functions that hold somewhere in a block. */
struct as_base_block {
    const struct as_storage **place;
    uint32_t places;
};

struct as_bases {
    const struct assay_program *program;
    uint32_t body, first_insn, insns;
    struct as_data_variables variables;
    bool *is_system; /* by scope: of a header of the system */
    struct as_arena arena;
    AS_VEC(struct as_base_object) object;
    struct as_base_root *root;
    uint32_t roots;
    struct as_base_word word[AS_BASE_SLOTS];
    unsigned words;
    int64_t escaped_b;        /* words of the frame from there on may be written through pointers */
    struct as_base_state *in; /* by block of the body */
    struct as_base_block *block;
    const struct as_storage **fixed; /* places of the file, by address */
    size_t fixed_n;
    bool failed, changed; /* no memory; a root turned out to be a pointer */
};

/* ---- Roots ----------------------------------------------------------------------------------- */

/* Numbers of roots: results of instructions, meetings of ways, variables; entry values first. */
uint32_t as_base_root_result(const struct as_bases *b, uint32_t insn, unsigned reg);
uint32_t as_base_root_meeting(const struct as_bases *b, uint32_t block, unsigned location);
uint32_t as_base_root_variable(const struct as_bases *b, uint32_t variable);
size_t as_base_roots(const struct as_bases *b);

/* The value that is a root alone. */
struct as_base_value as_base_value_root(uint32_t root);

/* ---- Sums ------------------------------------------------------------------------------------ */

struct as_base_value as_base_add_constant(struct as_base_value value, int64_t constant);
struct as_base_value as_base_add(const struct as_bases *b, const struct as_base_value *x,
                                 const struct as_base_value *y, int64_t factor);
struct as_base_value as_base_scale(const struct as_base_value *x, int64_t factor);
/* A pointer rounded down: the same object. */
struct as_base_value as_base_inexact(struct as_base_value value);

/* Keeps what two ways agree on; `root` names a value that depends on the way. Returns true if
 * `into` has changed. */
bool as_base_merge(struct as_bases *b, struct as_base_value *into, const struct as_base_value *from,
                   uint32_t root);

/* Marks a value as a pointer into an object. */
void as_base_tag_add(struct as_bases *b, struct as_base_value *value, struct as_base_tag tag,
                     uint32_t root);

/* ---- Objects --------------------------------------------------------------------------------- */

/* Number of such an object; ASSAY_NONE: no memory (`failed`), or no text. */
uint32_t as_base_object_of(struct as_bases *b, struct as_base_object object);

/* Sets `out` to the object that the word at a tag's place points to; false: it is not known. */
bool as_base_loaded(struct as_bases *b, const struct as_base_tag *at, struct as_base_tag *out);

/* ---- Instructions (base_steps.c) ------------------------------------------------------------- */

/* One instruction, and the state before it. */
struct as_base_step {
    struct as_bases *b;
    struct as_base_state *state;
    uint32_t block, insn; /* of the body; of the program */
    const struct assay_insn *at;
    const struct assay_form *form;
};

/* Moves the state past the instruction. */
void as_base_step_run(struct as_base_step *step);
/* The address of a memory operand of the instruction. */
struct as_base_value as_base_step_address(struct as_base_step *step, const struct assay_memory *m);

/* ---- Blocks (bases.c) ------------------------------------------------------------------------ */

/* Goes from the start of a block up to instruction `until` of the program. */
void as_base_run_block(struct as_bases *b, uint32_t block, uint32_t until,
                       struct as_base_state *state);
/* The block of the body that holds an instruction; ASSAY_NONE: none. */
uint32_t as_base_block_of(const struct as_bases *b, uint32_t insn);
/* "this->u" reads as "u" in the source; "this" alone names no array. NULL: no name. */
const char *as_base_plain_text(const char *text);

/* ---- Places (base_places.c) -------------------------------------------------------------------
 */

/* Lists the places of each block. 0 or NOMEM. */
int as_base_places_list(struct as_bases *b);
/* Tags the registers that hold pointers or addresses of variables at `pc`. */
void as_base_places_apply(struct as_bases *b, uint32_t block, uint64_t pc,
                          struct as_base_state *state);
/* The one number of the source, visible at `use`, that `reg` less *constant is at `pc`; that stands
 * in memory. ASSAY_NONE: none, or the code changes it. */
uint32_t as_base_number_of(const struct as_bases *b, uint32_t block, uint64_t pc, unsigned reg,
                           uint64_t use, int64_t *constant);
uint32_t as_base_number_at(const struct as_bases *b, uint32_t block, uint64_t pc,
                           const struct assay_memory *memory, uint64_t use);
/* Offsets in a frame that is aligned are below it. */
#define AS_BASE_ALIGNED_MOST (INT64_MIN / 8)

/* Offset from the canonical frame address of `reg` + disp at `pc`. In a frame that is aligned only
 * offsets of one register compare. False: no frame register. */
bool as_base_frame_offset(const struct as_bases *b, uint64_t pc, unsigned reg, int64_t disp,
                          int64_t *offset_b);
/* The variable of the frame at an offset; false: none. */
bool as_base_frame_variable(struct as_bases *b, uint32_t block, uint64_t pc, unsigned reg,
                            int64_t disp, int64_t offset_b, struct as_base_tag *out);
/* The variable of the file at an address; false: none. */
bool as_base_static_variable(struct as_bases *b, uint64_t address, struct as_base_tag *out,
                             uint32_t *root);
/* The variable that a word at register + disp has the address of; false: none. */
bool as_base_behind(struct as_bases *b, uint32_t block, uint64_t pc, unsigned reg, int64_t disp,
                    struct as_base_tag *out);

#endif
