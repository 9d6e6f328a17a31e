/* SPDX-License-Identifier: Apache-2.0 */
#include "comm.h"

#ifdef WITH_MPI
#include <mpi.h>

static int rank, size = 1;

void comm_begin(int *argc, char ***argv)
{
    int level;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

void comm_end(void)
{
    MPI_Finalize();
}

int comm_rank(void)
{
    return rank;
}

int comm_size(void)
{
    return size;
}

static double combine(double value, MPI_Op operation)
{
    double all = value;
    MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    return all;
}

double comm_sum(double value)
{
    return combine(value, MPI_SUM);
}

double comm_max(double value)
{
    return combine(value, MPI_MAX);
}

void comm_exchange(double *field, size_t plane, int planes)
{
    const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double *first = field + plane, *last = field + plane * (size_t)planes;
    MPI_Sendrecv(first, (int)plane, MPI_DOUBLE, below, 0, last + plane, (int)plane, MPI_DOUBLE,
                 above, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, (int)plane, MPI_DOUBLE, above, 1, field, (int)plane, MPI_DOUBLE, below, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

#else

void comm_begin(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
}

void comm_end(void)
{
}

int comm_rank(void)
{
    return 0;
}

int comm_size(void)
{
    return 1;
}

double comm_sum(double value)
{
    return value;
}

double comm_max(double value)
{
    return value;
}

void comm_exchange(double *field, size_t plane, int planes)
{
    (void)field;
    (void)plane;
    (void)planes;
}
#endif
