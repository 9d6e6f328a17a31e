/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a routine is called from: the callers of a wrapper, along rows of the program's .eh_frame,
 * which are read once for each place and kept. Frames inside an MPI are left out. Modules that
 * addresses lie in are told when they are first seen.
 */
#ifndef AS_AGENT_CALLERS_H
#define AS_AGENT_CALLERS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/unwind/unwind_row.h"

/* Tells a module: where it starts, its bytes, the address of its start in the file, its path. */
typedef void as_callers_module(uint64_t start, uint64_t size_b, uint64_t address, const char *path);

/*
 * Return addresses, the innermost first, at most `most`; how many there are. `frame` is
 * __builtin_frame_address(0) of the function that returns to `return_address`. Only the first is
 * known on a stack that is not the thread's own. Not for handlers of signals (see below).
 */
size_t as_callers_find(const void *return_address, const void *frame, uint64_t *out, size_t most,
                       as_callers_module *tell);
/* Its file; `path` has PATH_MAX bytes and is used where the loader does not say it. */
const char *as_callers_path(const struct as_unwind_module *module, char *path);
/* Tells it, unless it was. Waits for other threads that do; not for long. */
void as_callers_report(const struct as_unwind_module *module, as_callers_module *tell);
/* The same for a handler of signals that interrupted the thread there: the place itself, and its
 * callers, those inside an MPI too. `tell` NULL: nothing may be told now, but later. */
size_t as_callers_stack(uint64_t pc, uintptr_t sp, uintptr_t frame, uint64_t *out, size_t most,
                        as_callers_module *tell);
/* Modules are still to be told of; tells them. */
extern _Atomic unsigned as_callers_unreported;
void as_callers_report_rest(as_callers_module *tell);
/* Modules came or went, or this is the child of a fork: nothing is known any more. */
void as_callers_forget(void);

#endif
