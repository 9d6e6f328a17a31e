/* SPDX-License-Identifier: Apache-2.0 */
/* finding: blocking; repair: tiles of both arrays;
 * says: the rest of each line of the array to; advises: tiles of [0-9]+ by [0-9]+
 */
#include "program.h"

#define ROWS    600L
#define COLUMNS 20000L
#ifdef REPAIRED
#define TILE 40L
#endif

__attribute__((noinline, noipa)) static void
transpose(double *restrict to, const double *restrict from, long rows, long columns)
{
    for (long i = 0; i < rows; i++)
        for (long j = 0; j < columns; j++)
            to[j * ROWS + i] = from[i * COLUMNS + j];
}

int main(void)
{
    double *to = array_of(ROWS * COLUMNS), *from = array_of(ROWS * COLUMNS);

    for (int step = 0; step < 8; step++) {
#ifdef REPAIRED
        for (long i = 0; i < ROWS; i += TILE)
            for (long j = 0; j < COLUMNS; j += TILE)
                transpose(to + j * ROWS + i, from + i * COLUMNS + j, TILE, TILE);
#else
        transpose(to, from, ROWS, COLUMNS);
#endif
    }
    return done((int)to[ROWS / 2]);
}
