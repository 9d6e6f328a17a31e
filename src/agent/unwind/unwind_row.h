/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the caller's registers are found again at one place of the program's code: a row of its
 * .eh_frame, of which the stack pointer, the frame pointer and the return address are followed. For
 * use inside the program: no allocation, no lock of the loader's (glibc 2.35 and later).
 * Sources: LSB 5.0 core, "Exception Frames"; DWARF 5 section 6.4.
 */
#ifndef AS_AGENT_UNWIND_ROW_H
#define AS_AGENT_UNWIND_ROW_H

#include <stdbool.h>
#include <stdint.h>

enum as_agent_unwind_cfa {
    AS_UNWIND_UNKNOWN,  /* also: there is no caller */
    AS_UNWIND_BY_STACK, /* the stack pointer and an offset */
    AS_UNWIND_BY_FRAME, /* the frame pointer and an offset */
    AS_UNWIND_AT_FRAME  /* what stands at the frame pointer and an offset */
};
enum as_unwind_saved {
    AS_UNWIND_SAME,      /* the frame pointer is the caller's */
    AS_UNWIND_FROM_CFA,  /* it stands at the CFA and an offset */
    AS_UNWIND_FROM_FRAME /* at itself and an offset */
};

/* The return address stands just below the CFA, where x86-64's calls put it. */
struct as_agent_unwind_row {
    uint8_t cfa, saved; /* as_agent_unwind_cfa, as_unwind_saved */
    int32_t cfa_offset, saved_offset;
};

/* What is mapped around an address. */
struct as_unwind_module {
    uintptr_t start, end;
    uintptr_t bias;      /* what to take from an address to get that of the file */
    const char *name;    /* the loader's; "" is the program */
    const uint8_t *rows; /* .eh_frame_hdr; NULL: it has none */
};

/* False: nothing that the loader knows of. */
bool as_unwind_module_of(uintptr_t address, struct as_unwind_module *out);
/* For a return address; `cfa` is UNKNOWN where there is no row, or none of these forms. */
struct as_agent_unwind_row as_unwind_row_of(uintptr_t address,
                                            const struct as_unwind_module *module);

#endif
