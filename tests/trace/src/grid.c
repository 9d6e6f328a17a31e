/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks on a grid of 2 by 2, periodic in its second dimension, that put, get and accumulate in two
 * windows. In each of ROUNDS rounds rank r puts 8 (r + 1) bytes to its neighbour in the second
 * dimension. It gets 16 from rank 0 and accumulates 4 at rank 3: `grid ROUNDS`.
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static double there[64], own[64];
    static int sums[64];
    const int sizes[] = {2, 2}, periods[] = {0, 1};
    MPI_Comm grid;
    MPI_Win numbers, counts;
    int rank, from, to;
    MPI_Init(&argc, &argv);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_shift(grid, 1, 1, &from, &to);
    MPI_Win_create(there, sizeof there, sizeof *there, MPI_INFO_NULL, grid, &numbers);
    MPI_Win_create(sums, sizeof sums, sizeof *sums, MPI_INFO_NULL, grid, &counts);
    MPI_Win_fence(0, numbers);
    MPI_Win_fence(0, counts);
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++) {
        const int one = 1;
        MPI_Put(own, rank + 1, MPI_DOUBLE, to, 0, rank + 1, MPI_DOUBLE, numbers);
        MPI_Win_fence(0, numbers);
        MPI_Get(own, 2, MPI_DOUBLE, 0, 0, 2, MPI_DOUBLE, numbers);
        MPI_Accumulate(&one, 1, MPI_INT, 3, 0, 1, MPI_INT, MPI_SUM, counts);
        MPI_Win_fence(0, numbers);
        MPI_Win_fence(0, counts);
    }
    MPI_Win_free(&numbers);
    MPI_Win_free(&counts);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
