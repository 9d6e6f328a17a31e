/* SPDX-License-Identifier: Apache-2.0 */
/* What across.c inlines when the program is linked. */
#include "truth.h"

uint64_t part(uint64_t n);
uint64_t part(uint64_t n)
{
    SPIN(n);
    return n;
}
