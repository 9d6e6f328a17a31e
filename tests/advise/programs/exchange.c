/* SPDX-License-Identifier: Apache-2.0 */
/* finding: parallel_time; compiler: mpicc; starter: mpirun -n 2; options: --call-stacks off;
 * repair: the ranks exchange many values at once;
 * says: MPI takes [0-9.]+ % of the time, waiting for other ranks, or moving data */
#include <mpi.h>

#include "program.h"

#define STEPS 6000000
#ifdef REPAIRED
#define AT_ONCE 1000
#else
#define AT_ONCE 1
#endif

int main(int argc, char **argv)
{
    static double mine[AT_ONCE], other[AT_ONCE];
    double value = 0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < STEPS; step += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++) {
            for (int k = 0; k < 150; k++)
                value = value * 0.5 + k;
            mine[i] = value;
        }
        MPI_Sendrecv(mine, AT_ONCE, MPI_DOUBLE, 1 - rank, 0, other, AT_ONCE, MPI_DOUBLE, 1 - rank,
                     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value += other[0] * 1e-9;
    }
    MPI_Finalize();
    return done(value);
}
