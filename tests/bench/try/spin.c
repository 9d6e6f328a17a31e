/* SPDX-License-Identifier: Apache-2.0 */
/* Gains from threads that sleep while they wait: more threads than CPUs, tiny regions. */
#include <omp.h>
#include <stdio.h>

int main(void)
{
    double sum = 0;
    for (int k = 0; k < 3000; k++) {
#pragma omp parallel for reduction(+ : sum) schedule(static)
        for (int i = 0; i < 6400; i++)
            sum += 1.0 / (i + k + 1);
    }
    printf("%.6f\n", sum);
    return 0;
}
