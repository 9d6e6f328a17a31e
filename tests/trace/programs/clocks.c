/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends messages from rank 0 to the others and back. Logs in LOG.RANK when each call began and
 * ended, by the machine's true clock. Rank 0 receives any message from any source, so messages that
 * are not the program's own would be noticed. usage: clocks LOG ROUNDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALLS_MOST 10000
static struct {
    const char *name;
    long long begin_ns, end_ns;
} calls[CALLS_MOST];
static int calls_n;

/* The kernel's own: the C library's may be replaced. */
static long long now_ns(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

#define LOGGED(routine, call)                                                                      \
    do {                                                                                           \
        calls[calls_n].name = routine;                                                             \
        calls[calls_n].begin_ns = now_ns();                                                        \
        call;                                                                                      \
        calls[calls_n++].end_ns = now_ns();                                                        \
    } while (0)

static int talk(int rank, int size, int rounds)
{
    int strange = 0;
    for (int round = 0; round < rounds; round++) {
        const struct timespec pause = {0, 10000000};
        MPI_Status status;
        int word = 100 * round + rank, got = 0;
        if (rank != 0) {
            LOGGED("MPI_Send", MPI_Send(&word, 1, MPI_INT, 0, round, MPI_COMM_WORLD));
            LOGGED("MPI_Recv",
                   MPI_Recv(&got, 1, MPI_INT, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            continue;
        }
        for (int i = 1; i < size; i++) {
            LOGGED("MPI_Recv", MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                                        MPI_COMM_WORLD, &status));
            strange += got % 100 != status.MPI_SOURCE || status.MPI_TAG != got / 100;
            LOGGED("MPI_Send",
                   MPI_Send(&got, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD));
        }
        nanosleep(&pause, NULL);
    }
    return strange;
}

int main(int argc, char **argv)
{
    int rank, size;
    char path[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int strange = talk(rank, size, atoi(argv[2]));
    MPI_Finalize();
    snprintf(path, sizeof path, "%s.%d", argv[1], rank);
    FILE *log = fopen(path, "w");
    for (int i = 0; i < calls_n; i++)
        fprintf(log, "%s %lld %lld\n", calls[i].name, calls[i].begin_ns, calls[i].end_ns);
    fclose(log);
    return strange != 0;
}
