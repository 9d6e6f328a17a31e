/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of variables, of their locations and of their types. */
#ifndef AS_OBJECT_DWARF_VARIABLE_H
#define AS_OBJECT_DWARF_VARIABLE_H

#include "object/variables.h"

#include "object/dwarf_internal.h"

#define AS_DW_CHAIN_MOST 16 /* max references followed from one DIE; real chains are below 8 */

/* Attributes of a variable, scope or type DIE. */
struct as_dw_data_die {
    struct as_dw_value low, high, ranges, origin, specification, sibling, type, location;
    struct as_dw_value frame_base, byte_size, lower, upper, count, member_location, signature;
    struct as_dw_value byte_stride;
    const char *name, *linkage;
    uint64_t decl_file;
    bool has_decl_file, is_declaration, has_data_location, has_allocated;
};

/* Reads the attributes at the cursor, which is after the abbreviation code. */
void as_dw_data_die_read(const struct as_dw_unit *unit, struct as_read *c,
                         const struct as_dw_abbrev *abbrev, struct as_dw_data_die *out);

/* Reads the DIE at offset `at` of .debug_info. Returns its abbreviation, and sets `*c` to the end
 * of its attributes. NULL if there is no DIE in this unit. */
const struct as_dw_abbrev *as_dw_data_die_at(const struct as_dw_unit *unit, uint64_t at,
                                             struct as_read *c, struct as_dw_data_die *out);

/* Returns the type that an attribute of a DIE of `unit` refers to. */
struct as_type_ref as_dw_type_ref(const struct as_dw_unit *unit, const struct as_dw_value *value);

/* The definition of a record that a unit declares; `unit` NULL: none is known. */
struct as_type_ref as_dw_definition_of(struct as_type_ref declared);

/* True for a unit in Fortran, where the first dimension of an array is the contiguous one. */
bool as_dw_is_fortran(const struct as_dw_unit *unit);

/* A frame base (DW_AT_frame_base): the CFA, or a register plus an offset. */
struct as_dw_frame_base {
    bool known, is_cfa;
    uint8_t reg; /* DWARF number; unused if is_cfa */
    int64_t offset_b;
};
/* Decodes DW_AT_frame_base. `known` is false for other expressions. */
struct as_dw_frame_base as_dw_frame_base_of(const struct as_dw_unit *unit,
                                            const struct as_dw_value *value);

typedef AS_VEC(struct as_storage) as_dw_places;

/*
 * Appends the places of a variable with this DW_AT_location to `out`. `all` gives the variable, and
 * the pc range of an expression without a list. Unknown expressions are skipped. Errors: NOMEM.
 */
int as_dw_places_read(const struct as_dw_unit *unit, const struct as_dw_value *location,
                      const struct as_dw_frame_base *base, struct as_storage all,
                      as_dw_places *out);

#endif
