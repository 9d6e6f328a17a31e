/* SPDX-License-Identifier: Apache-2.0 */
/* finding: unaligned_access; flags: -O3 -march=native -mprefer-vector-width=512;
 * repair: rows are as long as a vector; advises: pad it. */
#include "program.h"

#define ROWS  100
#define WIDTH (__BIGGEST_ALIGNMENT__ / 8)
#ifdef REPAIRED
#define LENGTH WIDTH
#else
#define LENGTH (WIDTH + 1)
#endif

typedef double wide __attribute__((vector_size(__BIGGEST_ALIGNMENT__)));
typedef double part __attribute__((vector_size(__BIGGEST_ALIGNMENT__), aligned(8)));

static double a[ROWS * LENGTH + WIDTH] __attribute__((aligned(64)));
static double b[ROWS * LENGTH + WIDTH] __attribute__((aligned(64)));
static double c[ROWS * LENGTH + WIDTH] __attribute__((aligned(64)));

__attribute__((noipa)) static wide products(wide x)
{
    wide sum[4] = {x, x, x, x};

    for (int row = 0; row < ROWS; row += 4)
        for (int k = 0; k < 4; k++) {
            const int at = (row + k) * LENGTH;

            sum[k] += *(const part *)(a + at) * *(const part *)(b + at) + *(const part *)(c + at);
        }
    return sum[0] + sum[1] + sum[2] + sum[3];
}

int main(void)
{
    wide sum = {0};

    for (int i = 0; i < ROWS * LENGTH; i++)
        a[i] = b[i] = c[i] = i * 1e-3;
    for (int step = 0; step < 10000000; step++)
        sum += products(sum * 1e-9);
    return done(sum[0]);
}
