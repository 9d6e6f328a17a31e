/* SPDX-License-Identifier: Apache-2.0 */
/* Growth by half gives constant amortised cost, and later growth can reuse freed blocks. */
#include "base/vec.h"

void *as_vec_grow(void *at, size_t *cap, size_t want, size_t element_b)
{
    size_t next = *cap + *cap / 2;
    if (next < want)
        next = want;
    if (next < 8)
        next = 8;
    void *grown = as_realloc(at, next, element_b);
    if (grown)
        *cap = next;
    return grown;
}
