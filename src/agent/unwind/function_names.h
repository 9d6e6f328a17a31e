/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the program's functions by their addresses, from inside it: symbol tables of the files
 * that are mapped, which the loader does not load (ELF: System V gABI 4.1, "Symbol Table"). Names
 * are the linker's, and stay where they are as long as the process lives.
 */
#ifndef AS_AGENT_FUNCTION_NAMES_H
#define AS_AGENT_FUNCTION_NAMES_H

#include "agent/unwind/unwind_row.h"

/* Of the function that begins there; where no symbol says so "FILE+0xADDRESS". NULL: there is no
 * memory, or a handler asks that interrupted just this. Makes system calls; not on the hot path.
 * `module` is that of the address, `path` its file. */
const char *as_function_name(uintptr_t address, const struct as_unwind_module *module,
                             const char *path);
/* In the child of a fork: who was just asking is not there. */
void as_function_names_forked(void);

#endif
