/* SPDX-License-Identifier: Apache-2.0 */
/* A program for the commands of the how-to pages: a sum over an array, in ranks with WITH_MPI.
 * Rank 0 works twice as much. The argument "forever" keeps it going. */
#include <stdio.h>
#include <string.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

enum { N = 100000, TIMES = 600 };
static double a[N], b[N];

static double dot(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

int main(int argc, char **argv)
{
    const int forever = argc > 1 && strcmp(argv[1], "forever") == 0;
    int rank = 0;
    double sum = 0, all = 0;
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    for (int i = 0; i < N; i++)
        a[i] = b[i] = i % 7;
    for (int step = 0; step < 4 || forever; step++) {
        for (int i = 0; i < TIMES / 4 * (rank ? 1 : 2); i++)
            sum += dot(N);
        all = sum;
#ifdef WITH_MPI
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#endif
    }
    if (rank == 0)
        printf("%.0f\n", all);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
