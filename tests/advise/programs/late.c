/* SPDX-License-Identifier: Apache-2.0 */
/* finding: late; compiler: mpicc; starter: mpirun -n 2; options: --trace --call-stacks off;
 * seconds: of the slower rank; behind: load_imbalance scalar_chain (the same rank by samples, its
 * work is a chain); repair: both ranks have as much to do; says: Rank 1 is late to MPI_Allreduce */
#include <mpi.h>

#include "program.h"

#define STEPS 40
#define WORK  9000000
#ifdef REPAIRED
#define PARTS_OF_RANK(rank) 2
#else
#define PARTS_OF_RANK(rank) ((rank) == 0 ? 1 : 3)
#endif

int main(int argc, char **argv)
{
    double value = 0, sum = 0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const double from_s = clock_s();
    for (int step = 0; step < STEPS; step++) {
        for (int k = 0; k < PARTS_OF_RANK(rank) * WORK; k++)
            value = value * 0.5 + k;
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    double seconds = clock_s() - from_s;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        say_seconds(seconds);
    MPI_Finalize();
    return done(sum);
}
