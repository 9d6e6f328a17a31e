/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child of a fork has regions of its own, after its parent had one of one thread: three of two
 * threads in the parent, two in the child. Their loops are divided without a call.
 */
#include <sys/wait.h>
#include <unistd.h>

#define N 1000

static double a[N];

static void fill_in_parallel(int times)
{
    for (int i = 0; i < times; i++)
#pragma omp parallel for schedule(static) num_threads(2)
        for (int j = 0; j < N; j++)
            a[j] += j;
}

int main(void)
{
    int status = 1;
#pragma omp parallel num_threads(1)
    a[0] = 1;
    const pid_t child = fork();
    fill_in_parallel(child ? 3 : 2);
    return child && (waitpid(child, &status, 0) != child || status != 0);
}
