/* SPDX-License-Identifier: Apache-2.0 */
/* Its code is looked at while it runs and at its end. */
#include <stdio.h>

void witness(void);

__attribute__((noinline)) static long mix(long n)
{
    long s = 1;
    for (long i = 0; i < n; i++)
        s = s * 5 ^ i;
    return s;
}

int main(void)
{
    printf("%ld\n", mix(100));
    witness();
    return 0;
}
