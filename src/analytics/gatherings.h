/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who meets whom in collective operations: the n-th that a process takes part in on a communicator
 * is the n-th of all its members (MPI 4.0, 6.14). Members may come in any order and be operations
 * ahead of others.
 */
#ifndef AS_ANALYTICS_GATHERINGS_H
#define AS_ANALYTICS_GATHERINGS_H

#include <stdbool.h>
#include <stdint.h>

/* What its members wait for. */
enum as_gathering_kind {
    AS_GATHERING_BARRIER,
    AS_GATHERING_ALL,    /* everyone needs everyone: allreduce, alltoall */
    AS_GATHERING_FROM,   /* everyone needs the root: broadcast, scatter */
    AS_GATHERING_TO,     /* the root needs everyone: reduce, gather */
    AS_GATHERING_SCAN,   /* everyone needs those before it */
    AS_GATHERING_NEAR,   /* everyone needs its in-neighbours */
    AS_GATHERING_FENCE,  /* of a window: everyone needs everyone */
    AS_GATHERING_WINDOW, /* a window is made or freed */
    AS_GATHERING_KINDS_N
};

struct as_gathering_member {
    uint32_t location, site; /* of the call that was left */
    uint32_t arrival_site;   /* of the call that began it */
    bool is_empty;           /* it contributed no byte */
    bool moves_data;         /* the call that was left starts or completes a transfer */
    int64_t begin_ns;        /* enter of the call that began it */
    int64_t enter_ns;        /* of the call that completed it; the same for one that blocks */
    int64_t leave_ns;        /* of that call; INT64_MIN: not there */
};

/* Whom members of a communicator with a topology need: of rank r those from first[r] to
 * first[r + 1] of `in`, ranks in it. */
struct as_neighbours {
    uint32_t *first, *in;
};

struct as_gathering {
    uint64_t comm; /* global number */
    enum as_gathering_kind kind;
    int64_t root;     /* rank in the communicator; -1: none */
    uint32_t first_n; /* of two groups: members of the first, whose ranks come first; 0: of one */
    uint32_t member_n;
    const struct as_gathering_member *member; /* by rank in the communicator */
    const struct as_neighbours *near;         /* of NEAR; NULL: not known */
};

typedef int as_gathering_met(void *context, const struct as_gathering *gathering);

struct as_gatherings;

/* 0 or ASSAY_ERR_NOMEM. `met` is called once all members have left. */
int as_gatherings_new(struct as_gatherings **out, as_gathering_met *met, void *context);
void as_gatherings_free(struct as_gatherings **gatherings);

/* A member begins its next operation on the communicator; answers what it is completed under. 0 or
 * ASSAY_ERR_NOMEM. `rank` is less than `size`. */
int as_gatherings_begin(struct as_gatherings *gatherings, uint64_t comm, uint32_t size,
                        uint32_t rank, enum as_gathering_kind kind, int64_t root, uint64_t *number);
/* It is complete for this member. 0, ASSAY_ERR_NOMEM, or what the caller's function answered. */
int as_gatherings_leave(struct as_gatherings *gatherings, uint64_t comm, uint64_t number,
                        uint32_t rank, const struct as_gathering_member *member);

/* It took part in so many that are not in the trace: those have no wait states. 0, ASSAY_ERR_NOMEM
 * or ASSAY_ERR_CORRUPT (no such rank). */
int as_gatherings_missed(struct as_gatherings *gatherings, uint64_t comm, uint32_t size,
                         uint32_t rank, uint64_t n);

/* Operations that not all members have left, or that some missed. */
uint64_t as_gatherings_unmet(const struct as_gatherings *gatherings);

#endif
