/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables and types of the debug information of an object, from DWARF 2 to 5: the place of each
 * variable of a function at each pc, and the layout of its type. Variables with a computed value
 * (DW_OP_stack_value of an arithmetic expression) are left out.
 */
#ifndef AS_OBJECT_VARIABLES_H
#define AS_OBJECT_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/object.h"

/* ---- Types --------------------------------------------------------------------------------- */

/* Reference to a type of an object. `unit` is NULL for void and for an unknown type. Valid as long
 * as the object is open. */
struct as_type_ref {
    const void *unit;
    uint64_t at;
};

enum as_type_kind {
    AS_TYPE_UNKNOWN,
    AS_TYPE_NUMBER,
    AS_TYPE_POINTER, /* pointers and references */
    AS_TYPE_ARRAY,
    AS_TYPE_RECORD /* structures, classes, unions */
};

#define AS_RANK_MAX 15 /* max rank of an array in Fortran 2008 */

struct as_type {
    uint8_t kind;      /* as_type_kind; names of types and qualifiers are seen through */
    uint8_t rank;      /* of an array */
    bool is_reference; /* pointer that is written as what it points to */
    bool described;    /* array behind a descriptor, of which the first word is its address */
    bool is_fortran;   /* the first dimension is the contiguous one */
    bool is_allocated; /* described array of its own memory, without gaps (ALLOCATABLE) */
    uint64_t size_b;   /* 0: not known */
    struct as_type_ref target;   /* what a pointer points to; an element of an array */
    int64_t extent[AS_RANK_MAX]; /* as declared, left to right; 0: no constant */
    /* Place in the descriptor of the stride of each dimension, in elements; 0: not known. */
    int64_t stride_at[AS_RANK_MAX];
};

/* Reads a type. `kind` of `*out` is AS_TYPE_UNKNOWN if the type is unknown. */
void as_type_get(struct as_type_ref ref, struct as_type *out);

enum { AS_MEMBER_TEXT_B = 128 };

/* A member of a record, or a member of a nested record. */
struct as_member {
    char path[AS_MEMBER_TEXT_B]; /* "in.m"; without names that are reserved for libraries */
    struct as_type_ref type;
    uint64_t offset_b; /* of the byte, from the start of the member */
};

/* Finds the innermost member that contains the byte at `offset_b` of a record. Returns false if no
 * member is known there. */
bool as_type_member(struct as_type_ref record, uint64_t offset_b, struct as_member *out);

/* ---- Variables ----------------------------------------------------------------------------- */

enum as_storage_kind {
    AS_STORAGE_VALUE,  /* the value of the variable is a register plus offset_b */
    AS_STORAGE_MEMORY, /* in memory at a register plus offset_b */
    AS_STORAGE_FRAME,  /* in memory at the canonical frame address plus offset_b */
    AS_STORAGE_STATIC  /* in memory at link-time address offset_b */
};

/* The place of a variable, or of a part of it, while the pc is in [start, end). */
struct as_storage {
    uint64_t start, end;
    int64_t offset_b;
    uint32_t variable; /* index into as_data_variables.variable */
    uint32_t part_b;   /* offset of the part in the variable */
    uint8_t kind;      /* as_storage_kind */
    uint8_t reg;       /* DWARF number, below 16 */
    bool behind;       /* MEMORY, FRAME: the word there is the address of the variable */
};

struct as_data_variable {
    const char *name;
    const char *linked; /* symbol if it is defined in another unit or object, or NULL */
    struct as_type_ref type;
    uint32_t scope; /* index into scopes; AS_NONE for a variable of the file */
};

/* A function, an inlined call or a block with variables. */
struct as_data_scope {
    uint32_t parent, depth; /* of a function: AS_NONE and 0 */
    uint32_t first_range, ranges;
    uint32_t file; /* source file of its function: index into as_debug.file, or AS_NONE */
    bool is_block; /* false for a function or an inlined call */
    struct as_type_ref result; /* type that a function returns; `unit` is NULL for none */
};

struct as_data_variables {
    struct as_data_variable *variable;
    size_t variable_n;
    struct as_storage *place; /* sorted by start */
    size_t place_n;
    struct as_data_scope *scope;
    size_t scope_n;
    struct as_range *range; /* of the scopes */
    size_t range_n;
};

/*
 * Collects the variables of functions with code in [start, end), and the variables of their files.
 * Loads DWARF units. The list is empty without debug information. The caller frees `out` with
 * as_data_variables_free. Errors: NOMEM.
 */
int as_object_variables(struct as_object *object, uint64_t start, uint64_t end,
                        struct as_data_variables *out, struct as_error *err);
void as_data_variables_free(struct as_data_variables *list);

/* Returns true if the function at `pc` returns a pointer. Level 0 is the innermost inlined call
 * there, level 1 its caller, and so on. `list` are the variables at `pc`. */
bool as_scope_returns_pointer(const struct as_data_variables *list, uint64_t pc, unsigned level);

/* Returns true if the CFA is the word in memory at register `reg` (DWARF number) plus a constant.
 * Functions that align their stack use this form. The distance from `reg` to the CFA is then
 * unknown. */
bool as_frame_is_aligned(const struct as_object *object, const struct as_unwind_row *row,
                         unsigned reg);

/* Returns true if `pc` is in the ranges of the scope with this index. */
bool as_scope_holds(const struct as_data_variables *list, uint32_t scope, uint64_t pc);

#ifdef __cplusplus
}
#endif
#endif
