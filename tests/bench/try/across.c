/* SPDX-License-Identifier: Apache-2.0 */
/* Gains from optimisation over all files: its loop calls what another file has. */
#include <stdio.h>

unsigned step(unsigned x);

int main(void)
{
    unsigned x = 0;
    for (unsigned k = 0; k < 40; k++)
        for (unsigned i = 0; i < 4000000; i++)
            x += step(i ^ k);
    printf("%u\n", x);
    return 0;
}
