/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables and types of the debug information of an object: where each variable of a function
 * stands at each address, and how its type is laid out. Read from DWARF 2 to 5. Values that an
 * expression computes from others are left out.
 */
#ifndef AS_OBJECT_VARIABLES_H
#define AS_OBJECT_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/object.h>

/* ---- Types --------------------------------------------------------------------------------- */

/* A type of an object; `unit` NULL: void, or not known. Valid as long as the object is open. */
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

#define AS_RANK_MAX 15 /* of Fortran 2008 */

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

void as_type_get(struct as_type_ref ref, struct as_type *out);

enum { AS_MEMBER_TEXT_B = 128 };

/* A member of a record, through records inside it. */
struct as_member {
    char path[AS_MEMBER_TEXT_B]; /* "in.m"; names that are reserved for libraries are left out */
    struct as_type_ref type;
    uint64_t offset_b; /* in the member */
};

/* The innermost member that holds the byte at `offset_b`; false: none is known. */
bool as_type_member(struct as_type_ref record, uint64_t offset_b, struct as_member *out);

/* ---- Variables ----------------------------------------------------------------------------- */

enum as_storage_kind {
    AS_STORAGE_VALUE,  /* the value is that of a register plus offset_b */
    AS_STORAGE_MEMORY, /* in memory at a register plus offset_b */
    AS_STORAGE_FRAME,  /* in memory at the canonical frame address plus offset_b */
    AS_STORAGE_STATIC  /* in memory at the address offset_b of the file */
};

/* The place of a variable, or of a part of it, for the pc in [start, end). */
struct as_storage {
    uint64_t start, end;
    int64_t offset_b;
    uint32_t variable;
    uint32_t part_b; /* the part begins at this byte of the variable */
    uint8_t kind;    /* as_storage_kind */
    uint8_t reg;     /* number of DWARF, below 16 */
    bool behind;     /* MEMORY, FRAME: a word stands there, which is the variable's address */
};

struct as_data_variable {
    const char *name;
    const char *linked; /* symbol of a variable that is defined elsewhere, or NULL */
    struct as_type_ref type;
    uint32_t scope; /* ASSAY_NONE: of the file */
};

/* A function, an inlined call or a block with variables. */
struct as_data_scope {
    uint32_t parent, depth; /* ASSAY_NONE, 0: a function */
    uint32_t first_range, ranges;
    uint32_t file; /* of the function that it is in: into assay_debug.file, or ASSAY_NONE */
    bool is_block; /* else a function or an inlined call */
    struct as_type_ref result; /* of a function; `unit` NULL: none */
};

struct as_data_variables {
    struct as_data_variable *variable;
    size_t variable_n;
    struct as_storage *place; /* by start */
    size_t place_n;
    struct as_data_scope *scope;
    size_t scope_n;
    struct assay_range *range; /* of scopes */
    size_t range_n;
};

/*
 * Variables of functions with code in [start, end), and those of their file. Without debug
 * information there are none: no error. Loads DWARF units. Caller owns `out`
 * (as_data_variables_free). Errors: NOMEM.
 */
int as_object_variables(struct assay_object *object, uint64_t start, uint64_t end,
                        struct as_data_variables *out, struct assay_error *err);
void as_data_variables_free(struct as_data_variables *list);

/* True if the function at `pc` returns a pointer. Level 0 is the innermost inlined call there, 1
 * what it is inlined into, and so on. `list`: of the variables at `pc`. */
bool as_scope_returns_pointer(const struct as_data_variables *list, uint64_t pc, unsigned level);

/* True if the canonical frame address is in a word at `reg` (of DWARF) plus a constant: `reg` stays
 * in a function that aligns its stack, and the distance to that address is not known. */
bool as_frame_is_aligned(const struct assay_object *object, const struct assay_unwind_row *row,
                         unsigned reg);

/* True if code at `pc` is in a scope. */
bool as_scope_holds(const struct as_data_variables *list, uint32_t scope, uint64_t pc);

#ifdef __cplusplus
}
#endif
#endif
