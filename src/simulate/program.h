/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of MPI as the simulator reads it: for each rank its computing bursts and its
 * operations, in their order. Only the source (recorded.h, dim.h) knows the trace
 * behind them.
 */
#ifndef AS_SIMULATE_PROGRAM_H
#define AS_SIMULATE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

enum as_action_kind {
    AS_ACTION_COMPUTE,
    AS_ACTION_SEND,
    AS_ACTION_RECEIVE,
    AS_ACTION_COLLECTIVE,
    AS_ACTION_WAIT,   /* for the request; without effect if no such request is there */
    AS_ACTION_FORGET, /* the request: a send goes its way, a receive is cancelled */
    AS_ACTION_MARK    /* as_simulated_program.mark gets the time of the rank; no effect */
};

/* Requests. Others are positive numbers of the rank. */
#define AS_REQUEST_BLOCKING 0    /* the operation is done before the next action */
#define AS_REQUEST_DETACHED (-1) /* the operation is never waited for */

/* Bounds that a source holds its actions to, so that sums stay in 64 bits. */
#define AS_ACTION_NS_MAX     (INT64_C(1) << 55)
#define AS_ACTION_SIZE_B_MAX (INT64_C(1) << 50)

struct as_action {
    uint8_t kind;               /* as_action_kind */
    uint8_t collective;         /* COLLECTIVE: as_collective_number */
    bool is_synchronous;        /* SEND: rendezvous, whatever its size */
    uint32_t partner;           /* SEND, RECEIVE: a rank of the program */
    uint32_t comm;              /* place in as_simulated_program.comm */
    int32_t tag;                /* SEND, RECEIVE; MARK: 1 a region begins, -1 it ends, 0 else */
    uint32_t name;              /* COMPUTE: 1 + place of its function in as_speed.name, 0: none;
                                   MARK of a region: 1 + its place */
    int64_t ns;                 /* COMPUTE; MARK: the recorded time */
    int64_t sent_b, received_b; /* SEND: sent_b; COLLECTIVE: both, of this rank */
    int64_t request;            /* MARK: number of events of the rank until then */
};

struct as_program_comm {
    AS_VEC(uint32_t) rank; /* its members, ranks of the program */
};

struct as_simulated_program {
    uint32_t rank_n;
    AS_VEC(struct as_program_comm) comm;
    AS_VEC(uint32_t) node; /* of each rank, from 0; empty: a node for each rank */
    void *context;
    /*
     * Writes up to `capacity` actions of a rank and their number; 0 at the end of the rank. Errors:
     * those of the source.
     */
    int (*read)(void *context, uint32_t rank, struct as_action *out, size_t capacity, size_t *n,
                struct as_error *err);
    /* Each rank begins again. */
    int (*rewind)(void *context, struct as_error *err);
    void (*close)(void *context);
    /* Receives each MARK of a rank in order, with the simulated time. May be NULL. Errors: its
     * own. */
    int (*mark)(void *mark_context, uint32_t rank, const struct as_action *mark, int64_t now_ns,
                struct as_error *err);
    void *mark_context;
    bool (*is_stopped)(void); /* asked now and then: the simulation is to end; may be NULL */
};

/* Frees all of it, the source too. */
void as_program_fini(struct as_simulated_program *program);

#endif
