/* SPDX-License-Identifier: Apache-2.0 */
/* Some instances of a loop in the order of time, for a picture. */
#ifndef AS_VPROF_LINE_H
#define AS_VPROF_LINE_H

#include "vprof/instances.h"

#define AS_LINE_MOST 400

/* At most AS_LINE_MOST of `n`, the same ones each time; the caller frees `*out`. Errors: NOMEM. */
int as_line_make(const struct as_instance *it, size_t n, struct as_instance **out, size_t *out_n,
                 struct assay_error *err);

#endif
