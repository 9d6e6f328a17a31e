/* SPDX-License-Identifier: Apache-2.0 */
/* Between the readers of variables, of their locations and of their types. */
#ifndef AS_OBJECT_DWARF_VARIABLE_H
#define AS_OBJECT_DWARF_VARIABLE_H

#include "object/variables.h"

#include "object/dwarf_internal.h"

#define AS_DW_CHAIN_MOST 16 /* origins, specifications, names of types; real ones are below 8 */

/* Attributes of a DIE of a variable, a scope or a type. */
struct as_dw_data_die {
    struct as_dw_value low, high, ranges, origin, specification, sibling, type, location;
    struct as_dw_value frame_base, byte_size, lower, upper, count, member_location, signature;
    struct as_dw_value byte_stride;
    const char *name, *linkage;
    uint64_t decl_file;
    bool has_decl_file, is_declaration, has_data_location, has_allocated;
};

/* Reads the attributes at the cursor, behind the code of the abbreviation. */
void as_dw_data_die_read(const struct as_dw_unit *unit, struct as_read *c,
                         const struct as_dw_abbrev *abbrev, struct as_dw_data_die *out);

/* The DIE at `at` of a unit: its abbreviation, and the cursor behind its attributes; NULL: none. */
const struct as_dw_abbrev *as_dw_data_die_at(const struct as_dw_unit *unit, uint64_t at,
                                             struct as_read *c, struct as_dw_data_die *out);

/* The type that an attribute of a DIE of `unit` names. */
struct as_type_ref as_dw_type_ref(const struct as_dw_unit *unit, const struct as_dw_value *value);

/* The definition of a record that a unit declares; `unit` NULL: none is known. */
struct as_type_ref as_dw_definition_of(struct as_type_ref declared);

/* True for a unit in Fortran, where the first dimension of an array is the contiguous one. */
bool as_dw_is_fortran(const struct as_dw_unit *unit);

/* A frame base, by the expressions that compilers use. */
struct as_dw_frame_base {
    bool known, is_cfa;
    uint8_t reg; /* unless is_cfa */
    int64_t offset_b;
};
struct as_dw_frame_base as_dw_frame_base_of(const struct as_dw_unit *unit,
                                            const struct as_dw_value *value);

typedef AS_VEC(struct as_storage) as_dw_places;

/*
 * Appends the places of a variable that stands at `location`; an expression that holds everywhere
 * holds in [start, end). 0 or NOMEM.
 */
int as_dw_places_read(const struct as_dw_unit *unit, const struct as_dw_value *location,
                      const struct as_dw_frame_base *base, struct as_storage all,
                      as_dw_places *out);

#endif
