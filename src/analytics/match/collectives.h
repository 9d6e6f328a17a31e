/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches collective operations: the n-th of a process on a communicator is the n-th of all its
 * members (MPI 4.0, 6.14). Members may come in any order and be operations ahead of others.
 */
#ifndef AS_ANALYTICS_COLLECTIVES_H
#define AS_ANALYTICS_COLLECTIVES_H

#include <stdbool.h>
#include <stdint.h>

/* The dependence of members on each other. */
enum as_collective_kind {
    AS_COLLECTIVE_KIND_BARRIER,
    AS_COLLECTIVE_KIND_ALL_TO_ALL,    /* each member needs all: allreduce, alltoall */
    AS_COLLECTIVE_KIND_ONE_TO_ALL,    /* each member needs the root: broadcast, scatter */
    AS_COLLECTIVE_KIND_ALL_TO_ONE,    /* the root needs all members: reduce, gather */
    AS_COLLECTIVE_KIND_SCAN,          /* each member needs the lower ranks */
    AS_COLLECTIVE_KIND_NEIGHBOURHOOD, /* each member needs its in-neighbours */
    AS_COLLECTIVE_KIND_FENCE,         /* of a window: each member needs all */
    AS_COLLECTIVE_KIND_WINDOW,        /* creation or release of a window */
    AS_COLLECTIVE_KINDS_N
};

struct as_collective_member {
    uint32_t location, site; /* of the call that completed it */
    uint32_t arrival_site;   /* of the call that began it */
    bool is_empty;           /* the member contributed no byte */
    bool moves_data;         /* the completing call starts or completes a transfer */
    int64_t begin_ns;        /* enter of the call that began it */
    int64_t enter_ns;        /* enter of the call that completed it; a blocking call did both */
    int64_t leave_ns;        /* leave of the call that completed it; INT64_MIN: no such member */
};

/* Neighbours in a communicator with a topology: rank r needs the ranks in[first[r]] to
 * in[first[r + 1] - 1]. */
struct as_neighbours {
    uint32_t *first, *in;
};

struct as_collective {
    uint64_t comm; /* global number */
    enum as_collective_kind kind;
    int64_t root;     /* rank in the communicator; -1: no root */
    uint32_t first_n; /* inter-communicator: members of the first group, which have the lowest
                       * ranks; 0: one group */
    uint32_t member_n;
    const struct as_collective_member *member; /* by rank in the communicator */
    const struct as_neighbours *near;          /* for NEIGHBOURHOOD; NULL: unknown */
};

typedef int as_collective_matched(void *context, const struct as_collective *collective);

struct as_collectives;

/* Returns 0 or AS_ERR_NOMEM. `on_matched` is called once all members have left. */
int as_collectives_new(struct as_collectives **out, as_collective_matched *on_matched,
                       void *context);
void as_collectives_free(struct as_collectives **collectives);

/* Begins the next operation of a member on the communicator. `*number` identifies the operation for
 * as_collectives_leave. `rank` is less than `size`. Returns 0 or AS_ERR_NOMEM. */
int as_collectives_begin(struct as_collectives *collectives, uint64_t comm, uint32_t size,
                         uint32_t rank, enum as_collective_kind kind, int64_t root,
                         uint64_t *number);
/* Completes the operation for one member. Returns 0, AS_ERR_NOMEM, or the error of
 * `on_matched`. */
int as_collectives_leave(struct as_collectives *collectives, uint64_t comm, uint64_t number,
                         uint32_t rank, const struct as_collective_member *member);

/* Skips `n` operations of a member that are missing in the trace; these have no wait states.
 * Returns 0, AS_ERR_NOMEM or AS_ERR_CORRUPT (no such rank). */
int as_collectives_missed(struct as_collectives *collectives, uint64_t comm, uint32_t size,
                          uint32_t rank, uint64_t n);

/* Returns the number of operations that some member did not leave, or missed. */
uint64_t as_collectives_unmatched(const struct as_collectives *collectives);

#endif
