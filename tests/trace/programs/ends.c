/* SPDX-License-Identifier: Apache-2.0 */
/* An MPI program that ends in a way of its own. usage: ends abort|kill|poll|fork */
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, flag = 0, number = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "abort") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(argv[1], "kill") == 0 && rank == 1)
        raise(SIGKILL);
    if (strcmp(argv[1], "poll") == 0 && rank == 1) { /* for what never comes */
        MPI_Irecv(&number, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &request);
        for (const double end = MPI_Wtime() + 1; MPI_Wtime() < end;)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        raise(SIGKILL);
    }
    if (strcmp(argv[1], "fork") == 0) {
        if (fork() == 0)
            _exit(0);
        wait(&number);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
