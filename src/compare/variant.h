/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings that differ from run to run, besides nodes, processes and threads. Each run has one
 * text, "name US value RS name US value" (separators of ASCII), ordered by name.
 */
#ifndef AS_COMPARE_VARIANT_H
#define AS_COMPARE_VARIANT_H

#include "compare/set.h"

bool as_variant_same(const struct as_run *a, const struct as_run *b);

/* Lists all names in the runs of the set, in order of first use, in `arena`. Errors: NOMEM. */
int as_variant_names(const struct as_set *set, struct as_arena *arena, const char *const **name,
                     size_t *n);
/* Returns the values of a run, one for each name or NULL; returns NULL without memory. */
const char *const *as_variant_values(const struct as_run *run, struct as_arena *arena,
                                     const char *const *name, size_t n);

#endif
