/* SPDX-License-Identifier: Apache-2.0 */
/* finding: transfer; compiler: mpicc; starter: mpirun -n 2; options: --trace --call-stacks off;
 * seconds: of the slower rank; behind: scalar_chain memory_bandwidth copying (its work is a chain);
 * repair: each rank sends what the other uses, a thousandth; says: Transfer costs */
#include <mpi.h>

#include "program.h"

#define STEPS 60
#define WORK  3000000
#define ALL   4000000 /* numbers */
#ifdef REPAIRED
#define SENT (ALL / 1000)
#else
#define SENT ALL
#endif

int main(int argc, char **argv)
{
    double value = 0, *out = array_of(ALL), *in = array_of(ALL);
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const double from_s = clock_s();
    for (int step = 0; step < STEPS; step++) {
        for (int k = 0; k < WORK; k++)
            value = value * 0.5 + k;
        out[step] = value;
        MPI_Sendrecv(out, SENT, MPI_DOUBLE, 1 - rank, 0, in, SENT, MPI_DOUBLE, 1 - rank, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value += in[step];
    }
    double seconds = clock_s() - from_s;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        say_seconds(seconds);
    MPI_Finalize();
    return done(value);
}
