/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches collective operations: the n-th of a process on a communicator is the n-th of all its
 * members (MPI 4.0, 6.14). Members may come in any order and be operations ahead of others.
 */
#ifndef AS_ANALYTICS_COLLECTIVES_H
#define AS_ANALYTICS_COLLECTIVES_H

#include <stdbool.h>
#include <stdint.h>

/* What its members wait for. */
enum as_collective_kind {
    AS_COLLECTIVE_KIND_BARRIER,
    AS_COLLECTIVE_KIND_ALL_TO_ALL,    /* everyone needs everyone: allreduce, alltoall */
    AS_COLLECTIVE_KIND_ONE_TO_ALL,    /* everyone needs the root: broadcast, scatter */
    AS_COLLECTIVE_KIND_ALL_TO_ONE,    /* the root needs everyone: reduce, gather */
    AS_COLLECTIVE_KIND_SCAN,          /* everyone needs those before it */
    AS_COLLECTIVE_KIND_NEIGHBOURHOOD, /* everyone needs its in-neighbours */
    AS_COLLECTIVE_KIND_FENCE,         /* of a window: everyone needs everyone */
    AS_COLLECTIVE_KIND_WINDOW,        /* a window is made or freed */
    AS_COLLECTIVE_KINDS_N
};

struct as_collective_member {
    uint32_t location, site; /* of the call that was left */
    uint32_t arrival_site;   /* of the call that began it */
    bool is_empty;           /* it contributed no byte */
    bool moves_data;         /* the call that was left starts or completes a transfer */
    int64_t begin_ns;        /* enter of the call that began it */
    int64_t enter_ns;        /* of the call that completed it; the same for one that blocks */
    int64_t leave_ns;        /* of that call; INT64_MIN: not there */
};

/* Neighbours in a communicator with a topology: rank r needs the ranks in[first[r]] to
 * in[first[r + 1] - 1]. */
struct as_neighbours {
    uint32_t *first, *in;
};

struct as_collective {
    uint64_t comm; /* global number */
    enum as_collective_kind kind;
    int64_t root;     /* rank in the communicator; -1: none */
    uint32_t first_n; /* of two groups: members of the first, whose ranks come first; 0: of one */
    uint32_t member_n;
    const struct as_collective_member *member; /* by rank in the communicator */
    const struct as_neighbours *near;          /* of NEAR; NULL: not known */
};

typedef int as_collective_matched(void *context, const struct as_collective *collective);

struct as_collectives;

/* 0 or ASSAY_ERR_NOMEM. `on_matched` is called once all members have left. */
int as_collectives_new(struct as_collectives **out, as_collective_matched *on_matched,
                       void *context);
void as_collectives_free(struct as_collectives **collectives);

/* A member begins its next operation on the communicator; answers what it is completed under. 0 or
 * ASSAY_ERR_NOMEM. `rank` is less than `size`. */
int as_collectives_begin(struct as_collectives *collectives, uint64_t comm, uint32_t size,
                         uint32_t rank, enum as_collective_kind kind, int64_t root,
                         uint64_t *number);
/* It is complete for this member. 0, ASSAY_ERR_NOMEM, or what the caller's function answered. */
int as_collectives_leave(struct as_collectives *collectives, uint64_t comm, uint64_t number,
                         uint32_t rank, const struct as_collective_member *member);

/* It took part in so many that are not in the trace: those have no wait states. 0, ASSAY_ERR_NOMEM
 * or ASSAY_ERR_CORRUPT (no such rank). */
int as_collectives_missed(struct as_collectives *collectives, uint64_t comm, uint32_t size,
                          uint32_t rank, uint64_t n);

/* Operations that not all members have left, or that some missed. */
uint64_t as_collectives_unmatched(const struct as_collectives *collectives);

#endif
