/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs of MPI that are made up at random: each rank's calls, what each call begins and
 * completes, and the trace of them. Times are nanoseconds of the trace.
 */
#ifndef AS_TEST_MADE_H
#define AS_TEST_MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* Routine, its group, whether a rank can begin something with it and complete that elsewhere. */
#define MADE_ROUTINES(X)                                                                           \
    X(SEND, "MPI_Send", POINT)                                                                     \
    X(SSEND, "MPI_Ssend", POINT)                                                                   \
    X(BSEND, "MPI_Bsend", POINT)                                                                   \
    X(RSEND, "MPI_Rsend", POINT)                                                                   \
    X(ISEND, "MPI_Isend", POINT)                                                                   \
    X(ISSEND, "MPI_Issend", POINT)                                                                 \
    X(IBSEND, "MPI_Ibsend", POINT)                                                                 \
    X(RECV, "MPI_Recv", POINT)                                                                     \
    X(IRECV, "MPI_Irecv", POINT)                                                                   \
    X(SENDRECV, "MPI_Sendrecv", POINT)                                                             \
    X(WAIT, "MPI_Wait", COMPLETION)                                                                \
    X(WAITALL, "MPI_Waitall", COMPLETION)                                                          \
    X(BARRIER, "MPI_Barrier", COLLECTIVE)                                                          \
    X(ALLREDUCE, "MPI_Allreduce", COLLECTIVE)                                                      \
    X(BCAST, "MPI_Bcast", COLLECTIVE)                                                              \
    X(SCATTERV, "MPI_Scatterv", COLLECTIVE)                                                        \
    X(REDUCE, "MPI_Reduce", COLLECTIVE)                                                            \
    X(GATHERV, "MPI_Gatherv", COLLECTIVE)                                                          \
    X(SCAN, "MPI_Scan", COLLECTIVE)                                                                \
    X(EXSCAN, "MPI_Exscan", COLLECTIVE)                                                            \
    X(ALLTOALL, "MPI_Alltoall", COLLECTIVE)                                                        \
    X(REDUCE_SCATTER, "MPI_Reduce_scatter", COLLECTIVE)                                            \
    X(COMM_RANK, "MPI_Comm_rank", OTHER)
#define MADE_ENUM(name, text, group) MADE_##name,
enum made_routine { MADE_ROUTINES(MADE_ENUM) MADE_ROUTINES_N };
#undef MADE_ENUM
const char *made_text(enum made_routine routine);

enum { MADE_RANKS_MOST = 5, MADE_COMMS = 2 };

struct made_call {
    uint32_t rank;
    enum made_routine routine;
    int64_t enter_ns, leave_ns;
};

enum made_kind { MADE_SENT, MADE_RECEIVED, MADE_GATHERED };
enum made_mode { MADE_STANDARD, MADE_SYNCHRONOUS, MADE_LOCAL };

/* One side of a message, or one rank's part of a collective. */
struct made_side {
    enum made_kind kind;
    uint32_t rank;
    uint32_t begin, end; /* calls; the same where it blocks */
    int64_t request;     /* 0: it blocks */
    uint32_t peer;
    int64_t tag, size_b;
    enum made_mode mode;
    uint32_t comm;
    /* A collective has its number on the communicator and its root, a rank in that. */
    uint32_t number;
    enum made_routine what;
    int64_t root, sent_b, received_b;
};

struct made_program {
    uint32_t rank_n;
    uint32_t member[MADE_COMMS][MADE_RANKS_MOST], member_n[MADE_COMMS]; /* 0: the world */
    AS_VEC(struct made_call) call;                                      /* of a rank in its order */
    AS_VEC(struct made_side) side; /* of a rank in the order in which they begin */
};

/* Makes the same program from the same seed. Calls and the time between them take `least_ns` or
 * more. */
void made_program_new(struct made_program *program, uint64_t seed, int64_t least_ns);
void made_program_fini(struct made_program *program);
/* Writes its trace into an empty directory. */
void made_program_write(const struct made_program *program, const char *directory);

#endif
