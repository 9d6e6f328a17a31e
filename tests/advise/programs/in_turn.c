/* SPDX-License-Identifier: Apache-2.0 */
/* finding: waiting_in_turn; compiler: mpicc; starter: mpirun -n 2; options: --trace --call-stacks
 * off; seconds: of the slower rank; behind: scalar_chain (its work is a chain); repair: the ranks
 * add up once, at the end; says: None is late by itself: the last one changes from call to call */
#include <mpi.h>

#include "program.h"

#define STEPS 40
#define WORK  9000000
/* Who has three parts of four changes with each step. */
#define PARTS_OF_RANK(rank, step) ((rank) == (step) % 2 ? 1 : 3)

int main(int argc, char **argv)
{
    double value = 0, sum = 0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const double from_s = clock_s();
    for (int step = 0; step < STEPS; step++) {
        for (int k = 0; k < PARTS_OF_RANK(rank, step) * WORK; k++)
            value = value * 0.5 + k;
#ifndef REPAIRED
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#endif
    }
#ifdef REPAIRED
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#endif
    double seconds = clock_s() - from_s;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        say_seconds(seconds);
    MPI_Finalize();
    return done(sum);
}
