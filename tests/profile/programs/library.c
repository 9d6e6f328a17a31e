/* SPDX-License-Identifier: Apache-2.0 */
/* A library of one function, NAME, that burns time; several are built of it, of the same layout. */
#include "truth.h"

__attribute__((visibility("default"))) void NAME(uint64_t n);
void NAME(uint64_t n)
{
    SPIN(n);
}
