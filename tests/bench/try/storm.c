/* SPDX-License-Identifier: Apache-2.0 */
/* Gains from keeping freed memory: large blocks come and go, each page faults again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_B ((size_t)48 << 20)

int main(void)
{
    double sum = 0;
    for (int i = 0; i < 60; i++) {
        char *block = malloc(SIZE_B);
        if (!block)
            return 1;
        memset(block, i + 1, SIZE_B);
        sum += block[(size_t)i * 4097];
        free(block);
    }
    printf("%g\n", sum);
    return 0;
}
