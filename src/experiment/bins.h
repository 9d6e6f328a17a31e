/* SPDX-License-Identifier: Apache-2.0 */
/* Bins over time as columns of type JSON have them: a list of thousandths, up to the last bin that
 * has any. */
#ifndef AS_EXPERIMENT_BINS_H
#define AS_EXPERIMENT_BINS_H

#include <stdint.h>

#include "base/str.h"

/* A row of a level has so many that a view takes few rows and leaves most. */
#define AS_BINS_OF_ROW 256u

/* Adds bin `at` to a list whose next one is `*next` (which comes no later); a bin without any is no
 * more than left out. */
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

/* "" stays what it is: none has any. */
static inline void as_bins_end(struct as_str *list)
{
    if (list->n)
        as_str_appendz(list, "]");
}

#endif
