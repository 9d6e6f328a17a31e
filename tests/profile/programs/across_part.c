/* SPDX-License-Identifier: Apache-2.0 */
/* The function that across.c inlines at link time. */
#include "truth.h"

uint64_t part(uint64_t n);
uint64_t part(uint64_t n)
{
    SPIN(n);
    return n;
}
