/* SPDX-License-Identifier: Apache-2.0 */
/* finding: memory_management; repair: one block in place of one for each row; promises: 2 times
 * (the first touch of memory is not its cost); behind: page_faults (the first touch) */
#include "program.h"

#define ROWS   3000000
#define WIDTH  17
#define EPOCHS 3

int main(void)
{
    float **row = malloc(ROWS * sizeof *row);
    double sum = 0;
#ifdef REPAIRED
    float *all = malloc((size_t)ROWS * WIDTH * sizeof *all);
#endif

    for (long i = 0; i < ROWS; i++)
#ifdef REPAIRED
        row[i] = all + i * WIDTH;
#else
        row[i] = malloc(WIDTH * sizeof **row);
#endif
    for (int epoch = 0; epoch < EPOCHS; epoch++)
        for (long i = 0; i < ROWS; i++)
            for (int k = 0; k < WIDTH; k++)
                row[i][k] = epoch ? row[i][k] * 0.5f + (float)k : (float)k;
    for (long i = 0; i < ROWS; i += 64)
        sum += row[i][i % WIDTH];
    return done(sum);
}
