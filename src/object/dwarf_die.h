/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads or skips the DIEs of a walk over subprograms and inlined instances. The abbreviation mostly
 * decides how the walk treats a DIE. The reader of abbreviations therefore assigns each a role, and
 * the walk skips nearly all DIEs of a C++ unit.
 */
#ifndef AS_OBJECT_DWARF_DIE_H
#define AS_OBJECT_DWARF_DIE_H

#include "object/dwarf_internal.h"

enum as_dw_role {
    AS_DW_ROLE_PASSED,   /* skip the DIE, but walk its children */
    AS_DW_ROLE_LEAF,     /* skip the DIE and its children */
    AS_DW_ROLE_DECLARED, /* subprogram or inlined instance that is always a declaration */
    AS_DW_ROLE_ABSTRACT, /* subprogram or inlined instance without address attributes */
    AS_DW_ROLE_INSTANCE  /* subprogram or inlined instance that may have code */
};

struct as_dw_die {
    struct as_dw_value low, high, ranges, origin, specification;
    const char *name, *linkage;
    uint64_t decl_file, decl_line, call_file, call_line, call_column;
    bool has_decl_file, has_call_file, is_declaration;
};

/* Reads the attributes at the cursor, which is after the abbreviation code. */
void as_dw_die_read(const struct as_dw_unit *unit, struct as_read *c,
                    const struct as_dw_abbrev *abbrev, struct as_dw_die *die);
/* Skips the attributes of a DIE. Returns the section offset of its sibling if `want_sibling` is set
 * and DW_AT_sibling exists, else 0. */
uint64_t as_dw_die_skip(const struct as_dw_unit *unit, struct as_read *c,
                        const struct as_dw_abbrev *abbrev, bool want_sibling);

#endif
