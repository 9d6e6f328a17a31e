/* SPDX-License-Identifier: Apache-2.0 */
/* finding: serialisation; compiler: mpicc; starter: mpirun -n 2; options: --trace --call-stacks
 * off; seconds: of the slower rank; behind: late waiting_in_turn scalar_chain (the next rank waits
 * for all of the work, which is a chain); repair: a step is sent in 64 blocks; says:
 * Serialisation costs */
#include <mpi.h>

#include "program.h"

#define STEPS 20
#define WORK  32000000
#ifdef REPAIRED
#define BLOCKS 64
#else
#define BLOCKS 1
#endif

/* A step of rank 1 needs that of rank 0, and the next of rank 0 the one of rank 1. */
int main(int argc, char **argv)
{
    double value = 0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const double from_s = clock_s();
    for (int step = 0; step < STEPS; step++) {
        for (int block = 0; block < BLOCKS; block++) {
            if (rank == 1)
                MPI_Recv(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int k = 0; k < WORK / BLOCKS; k++)
                value = value * 0.5 + k;
            if (rank == 0)
                MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
        }
        if (rank == 0)
            MPI_Recv(&value, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    }
    double seconds = clock_s() - from_s;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        say_seconds(seconds);
    MPI_Finalize();
    return done(value);
}
