/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ranks make a grid of 1 x 2, the second dimension periodic. They cancel a receive and start a
 * persistent send of 77 bytes 200 times. They write 60 times 100 bytes, read 21 times 50, and call
 * realloc 102 times. Prints whether MPI cancelled the receive.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char buffer[1 << 12];

static void cancel(int other)
{
    MPI_Request request;
    MPI_Status status;
    int is_cancelled = 0;
    MPI_Irecv(buffer, 10, MPI_BYTE, other, 42, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    printf("cancelled %d\n", is_cancelled);
}

static void start(int other)
{
    MPI_Request request[2];
    MPI_Send_init(buffer, 77, MPI_BYTE, other, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Recv_init(buffer + 100, 77, MPI_BYTE, other, 1, MPI_COMM_WORLD, &request[1]);
    for (int i = 0; i < 200; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void move(int rank)
{
    char name[64];
    snprintf(name, sizeof name, "bytes-%d.tmp", rank);
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 60; i++)
        if (write(fd, buffer, 100) != 100)
            exit(1);
    for (int i = 0; i < 21; i++)
        if (pread(fd, buffer, 50, 50 * i) != 50)
            exit(1);
    close(fd);
    unlink(name);
}

static void resize(void)
{
    char *volatile p = malloc(8192);
    for (int i = 0; i < 100; i++)
        p = realloc(p, 8192 + (size_t)i * 4096);
    free(p);
    char *volatile q = NULL; /* a constant would become malloc */
    q = realloc(q, 16384);
    q = realloc(q, 0);
}

static void grid(void)
{
    MPI_Comm comm;
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){1, 2}, (int[]){0, 1}, 0, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    cancel(1 - rank);
    grid();
    start(1 - rank);
    move(rank);
    resize();
    MPI_Finalize();
    return 0;
}
