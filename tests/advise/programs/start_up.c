/* SPDX-License-Identifier: Apache-2.0 */
/* finding: start_up; compiler: mpicc; starter: mpirun -n 2; repair: it computes for longer;
 * saves: nothing (a longer run has it as well, as a smaller share);
 * says: Starting MPI up and shutting it down take [0-9]+ % of the time */
#include <mpi.h>

#include "program.h"

#ifdef REPAIRED
#define STEPS 1000
#else
#define STEPS 50
#endif
#define N 1000000

int main(int argc, char **argv)
{
    double value = 0, all = 0;

    MPI_Init(&argc, &argv);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < N; i++)
            value = value * 0.5 + i;
        MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return done(all);
}
