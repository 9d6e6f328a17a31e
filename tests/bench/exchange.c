/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmark target: two ranks that work for an eighth of a millisecond, exchange 32 KiB and add up
 * twice, over and over: 20,000 calls of MPI a second in each. Prints the microseconds of the step
 * that a quarter of them did not reach: others on the machine have hardly touched it, whereas what
 * each call takes more is in it. usage: exchange SECONDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define WORK_N  32768
#define WORK_R  5 /* times that it is passed over */
#define PART_N  4096
#define STEPS_N 500000

static double work[WORK_N], given[PART_N], got[PART_N], took_us[STEPS_N];

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double work_once(void)
{
    double sum = 0;
    for (int k = 0; k < WORK_R; k++)
        for (int i = 0; i < WORK_N; i++)
            sum += work[i];
    return sum;
}

/* False: the time is over, for both. */
static int step(int other, double until_s)
{
    double sum = work_once(), all;
    MPI_Sendrecv(given, PART_N, MPI_DOUBLE, other, 0, got, PART_N, MPI_DOUBLE, other, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int goes_on = MPI_Wtime() < until_s, both = 0;
    MPI_Allreduce(&goes_on, &both, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return both;
}

int main(int argc, char **argv)
{
    int rank, ranks, n = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2 || ranks != 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < WORK_N; i++)
        work[i] = i;
    MPI_Barrier(MPI_COMM_WORLD);
    const double until_s = MPI_Wtime() + atof(argv[1]);
    for (int goes_on = 1; goes_on && n < STEPS_N; n++) {
        const double begin_s = MPI_Wtime();
        goes_on = step(1 - rank, until_s);
        took_us[n] = 1e6 * (MPI_Wtime() - begin_s);
    }
    qsort(took_us, (size_t)n, sizeof *took_us, by_size);
    if (rank == 0)
        printf("exchange: %.3f us a step, of %d\n", took_us[n / 4], n);
    MPI_Finalize();
    return 0;
}
