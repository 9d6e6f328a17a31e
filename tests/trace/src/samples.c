/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computation between MPI calls, or between parallel regions: two functions that count their work,
 * nine parts and one. The rank decides which is longer. With "polls" only the first rank has the
 * long one, for which the others test a request. usage: samples ROUNDS PARTS [polls]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

#define STEPS_N 200000

static double sink;

__attribute__((noinline, noclone)) static double multiply(double x)
{
    for (long i = 0; i < STEPS_N; i++)
        x = x * 1.0000001 + 1e-9; /* multiplies */
    return x;
}

__attribute__((noinline, noclone)) static double divide(double x)
{
    for (long i = 0; i < STEPS_N / 4; i++)
        x = 1.0 / (x + 1e-9); /* divides */
    return x;
}

__attribute__((noinline, noclone)) static void much(int parts)
{
    double x = 1;
    for (int i = 0; i < parts; i++)
        x = multiply(x);
    sink += x;
}

__attribute__((noinline, noclone)) static void little(int parts)
{
    double x = 1;
    for (int i = 0; i < parts; i++)
        x = divide(x);
    sink += x;
}

#ifdef WITH_MPI
static void poll_for(MPI_Request *request)
{
    int done = 0;
    while (!done)
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const int rounds = atoi(argv[1]), parts = atoi(argv[2]);
    const int polls = argc > 3 && strcmp(argv[3], "polls") == 0;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < rounds; i++) {
        MPI_Request request;
        much(rank == 0 ? 9 * parts : parts);
        little(rank == 0 || polls ? parts : 9 * parts);
        if (polls) {
            MPI_Ibarrier(MPI_COMM_WORLD, &request);
            poll_for(&request);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return sink == 0;
}
#else
int main(int argc, char **argv)
{
    const int rounds = atoi(argv[1]), parts = atoi(argv[2]);
    (void)argc;
    for (int i = 0; i < rounds; i++) {
#pragma omp parallel num_threads(2)
        {
            double x = 1;
            for (int k = 0; k < parts; k++)
                x = multiply(x);
#pragma omp atomic
            sink += x;
        }
        little(9 * parts); /* no other thread has work */
    }
    return sink == 0;
}
#endif
