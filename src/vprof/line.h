/* SPDX-License-Identifier: Apache-2.0 */
/* Selected instances of a loop in order of time, for a plot. */
#ifndef AS_VPROF_LINE_H
#define AS_VPROF_LINE_H

#include "vprof/instances.h"

#define AS_LINE_MOST 400

/* Selects at most AS_LINE_MOST of `n` instances, always the same ones. The caller frees `*out`.
 * Errors: NOMEM. */
int as_line_make(const struct as_instance *it, size_t n, struct as_instance **out, size_t *out_n,
                 struct as_error *err);

#endif
