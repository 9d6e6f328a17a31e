/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DWARF side of an object, for the ELF side: finds where debug information stands (the file
 * itself, a separate file, .dwo, .dwp, dwz) and reads units, lines and inlined subroutines.
 * Knows of the ELF only its bytes and the addresses of its sections.
 */
#ifndef AS_OBJECT_DWARF_SIDE_H
#define AS_OBJECT_DWARF_SIDE_H

#include <assay/object.h>

struct as_dwarf;

struct as_dwarf_input {
    const char *path; /* for messages and for looking beside the binary; NULL: bytes in memory */
    const uint8_t *bytes; /* the whole file; must outlive the as_dwarf, as must all pointers here */
    size_t size_b;
    const uint8_t *build_id;
    size_t build_id_b;
    const struct assay_object_options *options; /* may be NULL */
    /* Address of each section of a relocatable file by ELF section index (0 where not allocated);
     * NULL for all other files. */
    const uint64_t *section_address;
    size_t section_n;
};

/* Finds the debug files; cheap (reads section headers, no DWARF). No debug information, or a
 * damaged debug section, is not an error. Errors: NOMEM. */
int as_dwarf_open(const struct as_dwarf_input *input, struct as_dwarf **out,
                  struct assay_error *err);
void as_dwarf_close(struct as_dwarf **dwarf); /* nulls the pointer; NULL is fine */

/* Fills the debug_*, dwp_*, dwz_* and dwarf_version_* fields. Those known only from the units
 * (split, versions) are right after as_dwarf_load with ASSAY_DEBUG_UNITS: fill again then. */
void as_dwarf_fill_info(const struct as_dwarf *dwarf, struct assay_object_info *info);

/* Bytes of the separate debug file, for its .symtab; NULL when there is none. */
const uint8_t *as_dwarf_separate_image(const struct as_dwarf *dwarf, size_t *size_b);

/* .debug_frame of the file, else of its separate debug file; NULL and 0 when there is none. */
const uint8_t *as_dwarf_frames(const struct as_dwarf *dwarf, size_t *size_b);

/* As assay_object_debug and assay_debug_inline_at. */
int as_dwarf_load(struct as_dwarf *dwarf, unsigned parts, unsigned jobs, struct assay_debug *out,
                  size_t *damaged_units, struct assay_error *err);
uint32_t as_dwarf_inline_at(const struct as_dwarf *dwarf, uint64_t address);
uint32_t as_dwarf_inline_near(const struct as_dwarf *dwarf, uint64_t address, size_t *near);

#endif
