/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suffixes that compilers and BOLT append to the symbol of a changed copy or a part of a function:
 * ".constprop.0", ".part.3", ".cold". Other dots belong to the name: Go, OCaml and hand-written
 * assembly use them.
 */
#ifndef AS_BASE_CLONE_SUFFIX_H
#define AS_BASE_CLONE_SUFFIX_H

#include <stdbool.h>

#include "base/str.h"

/* Returns the length of the suffix at the start of `text`, with its numbers; 0 if none is there. */
size_t as_clone_suffix_n(struct as_view text);
/* Returns the length of `name` without the suffixes at its end: `name.n` if it has none. At least
 * one byte is left. */
size_t as_clone_base_n(struct as_view name);
/* As as_clone_base_n, but keeps the suffix of a parallel region ("f._omp_fn.0"): its body is not a
 * copy of `f`. */
size_t as_clone_original_n(struct as_view name);
/* Returns true if `name` ends in suffixes of which one marks a part of a function (".cold"). */
bool as_clone_is_part(struct as_view name);

#endif
