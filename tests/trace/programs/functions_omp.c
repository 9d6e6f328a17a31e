/* SPDX-License-Identifier: Apache-2.0 */
/* A parallel region that runs so often, and a function that has no room for a jump. usage:
 * functions_omp ROUNDS */
#include <stdlib.h>

static double sum[64];

void tiny(void);
__asm__(".text\n.globl tiny\n.type tiny, @function\ntiny:\n    ret\n.size tiny, . - tiny\n"
        ".globl behind\n.type behind, @function\nbehind:\n    ret\n.size behind, . - behind\n");

__attribute__((noinline)) static double work(int i)
{
    double value = 0;
    for (int k = 0; k < 100; k++)
        value += k * (double)i;
    return value;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
    for (int r = 0; r < rounds; r++) {
        tiny();
#ifdef DYNAMIC
#pragma omp parallel num_threads(2)
        {
#pragma omp for schedule(dynamic, 8)
            for (int i = 0; i < 64; i++)
                sum[i] += work(i);
#pragma omp single
            for (int i = 0; i < 4; i++)
#pragma omp task firstprivate(i)
                sum[i] += work(i);
#pragma omp barrier
        }
#else
#pragma omp parallel for num_threads(2)
        for (int i = 0; i < 64; i++)
            sum[i] += work(i);
#endif
    }
    return sum[63] > 0 ? 0 : 3;
}
