/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DWARF reader of an object. It finds the debug information: in the file itself, a separate
 * file, .dwo, .dwp or dwz files. It reads units, lines and inlined subroutines. Its input from the
 * ELF reader is the bytes of the file and the addresses of sections.
 */
#ifndef AS_OBJECT_DWARF_SIDE_H
#define AS_OBJECT_DWARF_SIDE_H

#include "object/object.h"

struct as_dwarf;

struct as_dwarf_input {
    const char *path;     /* NULL: bytes in memory, without files beside the binary */
    const uint8_t *bytes; /* the whole file; all pointers here must outlive the as_dwarf */
    size_t size_b;
    const uint8_t *build_id;
    size_t build_id_b;
    const struct as_object_options *options; /* may be NULL */
    /* Address of each section of a relocatable file, by ELF section index; 0 if not allocated.
     * NULL for all other files. */
    const uint64_t *section_address;
    size_t section_n;
};

/* Finds the debug files. Reads section headers, but no DWARF. Missing debug information and damaged
 * debug sections are not errors. The caller frees `*out` with as_dwarf_close. Errors: NOMEM. */
int as_dwarf_open(const struct as_dwarf_input *input, struct as_dwarf **out, struct as_error *err);
void as_dwarf_close(struct as_dwarf **dwarf); /* sets *dwarf to NULL; NULL is allowed */

/* Sets the debug_*, dwp_*, dwz_* and dwarf_version_* fields. Split units and versions are known
 * only after as_dwarf_load with AS_DEBUG_UNITS: call again then. */
void as_dwarf_fill_info(const struct as_dwarf *dwarf, struct as_object_info *info);

/* Returns the bytes of the separate debug file, or NULL if there is none. */
const uint8_t *as_dwarf_separate_image(const struct as_dwarf *dwarf, size_t *size_b);

/* Returns .debug_frame of the file, else of its separate debug file. NULL and 0 if there is none.
 */
const uint8_t *as_dwarf_frames(const struct as_dwarf *dwarf, size_t *size_b);

/* These do the work of as_object_debug, as_debug_inline_at and as_debug_inline_near. */
int as_dwarf_load(struct as_dwarf *dwarf, unsigned parts, unsigned jobs, struct as_debug *out,
                  size_t *damaged_units, struct as_error *err);
uint32_t as_dwarf_inline_at(const struct as_dwarf *dwarf, uint64_t address);
uint32_t as_dwarf_inline_near(const struct as_dwarf *dwarf, uint64_t address, size_t *near);

#endif
