/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmark target: MPI ranks, far more than CPUs, that work a little and synchronise.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;
    double sum = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 3; round++) {
        for (volatile int i = 0; i < 20000000; i++)
            sum += i * 1e-9;
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%d ranks, %g\n", size, all);
    MPI_Finalize();
    return 0;
}
