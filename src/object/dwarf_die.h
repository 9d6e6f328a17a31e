/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One DIE as the walk over subprograms and inlined instances wants it: its attributes, or only
 * where it ends. What the walk does with a DIE hangs mostly on its abbreviation, so that is judged
 * once, when the abbreviations are read: of a C++ unit nearly all DIEs are passed over.
 */
#ifndef AS_OBJECT_DWARF_DIE_H
#define AS_OBJECT_DWARF_DIE_H

#include "object/dwarf_internal.h"

enum as_dw_role {
    AS_DW_ROLE_PASSED,   /* of no interest; what is below it may be */
    AS_DW_ROLE_LEAF,     /* nothing below it is of interest either */
    AS_DW_ROLE_DECLARED, /* subprogram or inlined instance: always a declaration */
    AS_DW_ROLE_ABSTRACT, /* one without addresses, whatever its attributes say */
    AS_DW_ROLE_INSTANCE  /* one that may have code */
};

struct as_dw_die {
    struct as_dw_value low, high, ranges, origin, specification;
    const char *name, *linkage;
    uint64_t decl_file, decl_line, call_file, call_line, call_column;
    bool has_decl_file, has_call_file, is_declaration;
};

/* Reads the attributes at the cursor, behind the code of the abbreviation. */
void as_dw_die_read(const struct as_dw_unit *unit, struct as_read *c,
                    const struct as_dw_abbrev *abbrev, struct as_dw_die *die);
/* Passes the attributes of a DIE; with `want_sibling` its sibling, when it says one, else 0. */
uint64_t as_dw_die_skip(const struct as_dw_unit *unit, struct as_read *c,
                        const struct as_dw_abbrev *abbrev, bool want_sibling);

#endif
