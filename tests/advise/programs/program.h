/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs share: arrays that are touched, draws that are the same in each run, and a
 * result that no compiler can leave out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((unused)) static double *array_of(long n)
{
    double *array = malloc((size_t)n * sizeof *array);

    if (!array)
        abort();
    for (long i = 0; i < n; i++)
        array[i] = (double)(i % 1000) * 0.001;
    return array;
}

__attribute__((unused)) static unsigned draw(void)
{
    static unsigned long seed = 1;

    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33);
}

static int done(double result)
{
    printf("%g\n", result);
    return 0;
}
