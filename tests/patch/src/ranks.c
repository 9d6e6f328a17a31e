/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that pass sums around between loops. Rank 0 says what they computed and how often the loop
 * of all of them ran.
 */
#include <mpi.h>
#include <stdio.h>

#define ALONE __attribute__((noinline, noclone))
enum { N = 300, ROUNDS = 40 };

ALONE double dot(long n, const double *x, const double *y)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}

ALONE long trips_of(int rank)
{
    long n = 0;
    for (int r = 0; r < ROUNDS; r++)
        n += N - rank - r;
    return n;
}

int main(int argc, char **argv)
{
    static double x[N], y[N];
    int rank, size;
    double s = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < N; i++) {
        x[i] = i * 0.125 + rank;
        y[i] = 3 - i;
    }
    for (int r = 0; r < ROUNDS; r++) {
        const double mine = dot(N - rank - r, x, y) + s;
        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % size, r, &s, 1, MPI_DOUBLE,
                     (rank + size - 1) % size, r, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        s *= 0.5;
    }
    MPI_Reduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        long trips = 0;
        for (int r = 0; r < size; r++)
            trips += trips_of(r);
        printf("%.17g\ntruth dot %d %ld\n", all, ROUNDS * size, trips);
    }
    MPI_Finalize();
    return 0;
}
