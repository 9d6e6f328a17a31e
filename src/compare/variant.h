/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What varies from run to run besides nodes, processes and threads, as a set of runs has it: one
 * text a run, "name US value RS name US value" (the separators of ASCII), ordered by name.
 */
#ifndef AS_COMPARE_VARIANT_H
#define AS_COMPARE_VARIANT_H

#include "compare/set.h"

bool as_variant_same(const struct as_run *a, const struct as_run *b);

/* All names in the runs of the set, in the order in which they are met, in `arena`. Errors: NOMEM.
 */
int as_variant_names(const struct as_set *set, struct as_arena *arena, const char *const **name,
                     size_t *n);
/* The values of a run, one a name, NULL where it has none; NULL when there is no memory. */
const char *const *as_variant_values(const struct as_run *run, struct as_arena *arena,
                                     const char *const *name, size_t n);

#endif
