/* SPDX-License-Identifier: Apache-2.0 */
/* An MPI program that ends in a way of its own. usage: ends abort|kill|poll|fork */
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Polls for a message that never comes. The last 100 ms of polls may be lost: more come a second
 * later. */
static void poll_and_die(void)
{
    int flag, number;
    MPI_Request request;
    MPI_Irecv(&number, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 1000; i++)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    for (const double end = MPI_Wtime() + 1; MPI_Wtime() < end;)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    raise(SIGKILL);
}

int main(int argc, char **argv)
{
    int rank, number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(argv[1], "abort") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(argv[1], "kill") == 0 && rank == 1)
        raise(SIGKILL);
    if (strcmp(argv[1], "poll") == 0 && rank == 1)
        poll_and_die();
    if (strcmp(argv[1], "fork") == 0) {
        if (fork() == 0)
            _exit(0);
        wait(&number);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
