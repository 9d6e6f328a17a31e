/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ten rounds of two ranks: a message of 8 bytes more than in the round before from 0 to 1, half of
 * them without blocking, then a barrier. Rank 0 switches the trace off for rounds 2 to 5, rank 1
 * for rounds 4 to 7; a send of round 1 is complete in round 2.
 */
#include <assay/assay.h>
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS = 10, TAG = 3 };
static double data[ROUNDS + 1];

static void send_one(int round, MPI_Request *request)
{
    if (round % 2)
        MPI_Isend(data, round + 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, request);
    else
        MPI_Send(data, round + 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
}

static void receive_one(int round)
{
    MPI_Request request;
    if (round % 2) {
        MPI_Irecv(data, ROUNDS + 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, ROUNDS + 1, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int from = argc > 1 ? -9 : rank ? 4 : 2; /* with an argument: never */
    for (int round = 0; round < ROUNDS; round++) {
        if (round == from)
            assay_off();
        if (round == from + 4)
            assay_on();
        if (rank == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank == 0)
            send_one(round, &request);
        else
            receive_one(round);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
