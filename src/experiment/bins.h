/* SPDX-License-Identifier: Apache-2.0 */
/* Time bins as JSON lists for columns: numbers in thousandths, up to the last bin that is not 0. */
#ifndef AS_EXPERIMENT_BINS_H
#define AS_EXPERIMENT_BINS_H

#include <stdint.h>

#include "base/str.h"

/* Bins of one row of a level: few enough that a view reads only the rows that it shows. */
#define AS_BINS_OF_ROW 256u

/* Appends bin `at` to a list. `next` is the first bin that is not in the list yet; `at` is not
 * below it. A value of 0 is skipped, and the next bin fills the gap. */
static inline void as_bins_append(struct as_str *list, uint32_t *next, uint32_t at,
                                  int64_t thousandths)
{
    if (thousandths == 0)
        return;
    for (; *next < at; ++*next)
        as_str_appendz(list, list->n ? ",0" : "[0");
    as_str_appendf(list, "%c%lld", list->n ? ',' : '[', (long long)thousandths);
    *next = at + 1;
}

/* Ends a list; an empty list stays empty. */
static inline void as_bins_end(struct as_str *list)
{
    if (list->n)
        as_str_appendz(list, "]");
}

#endif
