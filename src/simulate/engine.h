/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a simulation, for the files of this room. doc/internals/simulate.md has the rules.
 *
 * If a network is limited, time advances instant by instant: transfers that end release their
 * resources, then ranks run, then the queues are scanned. Otherwise no order is needed: a rank runs
 * ahead until it waits for an operation that no other rank has begun.
 */
#ifndef AS_SIMULATE_ENGINE_H
#define AS_SIMULATE_ENGINE_H

#include <stddef.h>

#include "base/id_table.h"
#include "simulate/simulation.h"

#define AS_NO_MESSAGE UINT32_MAX
#define AS_UNKNOWN_NS INT64_MIN
/* Actions of a rank that are read at once: fewer where there are many ranks, so that those of all
 * ranks stay in a cache of the second level. */
#define AS_ACTIONS_MIN   16u
#define AS_ACTIONS_MAX   256u
#define AS_ACTIONS_ALL_N (1u << 14)

/* An event at a time; of one time the lowest order comes first. */
struct as_due {
    int64_t ns;
    uint64_t order;
    uint32_t item;
};
struct as_due_heap {
    AS_VEC(struct as_due) due;
};
/* due.c: 0 or AS_ERR_NOMEM. */
int as_due_push(struct as_due_heap *heap, int64_t ns, uint64_t order, uint32_t item);
uint32_t as_due_pop(struct as_due_heap *heap); /* the item; not of an empty one */
static inline int64_t as_due_first_ns(const struct as_due_heap *heap)
{
    return heap->due.n ? heap->due.at[0].ns : INT64_MAX;
}

enum as_queued_for { AS_QUEUED_FOR_NOTHING, AS_QUEUED_FOR_LINK, AS_QUEUED_FOR_BUS };

/* A message of which at least one side is there. */
struct as_in_flight {
    const struct as_dedicated_link *link; /* NULL: by the network */
    int64_t size_b;
    int64_t sent_ns;                    /* the sender's latency is over; UNKNOWN: not sent yet */
    int64_t post_ns;                    /* the receive is there; UNKNOWN: not yet */
    int64_t ready_ns, begin_ns, end_ns; /* of the transfer; end UNKNOWN: not begun */
    uint32_t comm, from, to, sequence;  /* sequence: of the sender */
    int32_t tag;
    uint32_t next; /* in its chain of unmatched ones, or of free ones */
    bool is_rendezvous;
    uint8_t network;    /* as_network_kind */
    uint8_t queued_for; /* as_queued_for */
    bool is_sender_waiting, is_receiver_waiting;
    uint8_t references; /* sender, receiver, transfer */
};

struct as_chain {
    uint32_t first, last; /* messages; AS_NO_MESSAGE: none */
};

/* A collective that not all members have left. */
struct as_pending_collective {
    struct as_collective_sizes sizes;
    int64_t last_ns;         /* the latest entry so far */
    int64_t cost_ns, end_ns; /* end UNKNOWN: members are missing */
    uint32_t entered_n, left_n;
    uint32_t first_waiting; /* list of ranks by as_rank_state.next_waiting */
    uint32_t next_free;
    uint8_t collective;
};

struct as_simulated_comm {
    uint32_t member_n;
    struct as_collective_spread spread;
    uint64_t first;        /* number of the first that is open */
    AS_VEC(uint32_t) open; /* places of meeting points; those before `open_at` are over */
    size_t open_at;
};

struct as_request_row {
    struct as_numbered id; /* rank, as_request_kind, request */
    uint32_t item;         /* message or meeting point */
    uint32_t comm;
};
_Static_assert(offsetof(struct as_request_row, id) == 0,
               "a row of a numbered table begins with its id");
enum as_request_kind { AS_REQUEST_SEND = 1, AS_REQUEST_RECEIVE, AS_REQUEST_COLLECTIVE };

struct as_comm_count {
    struct as_numbered id; /* rank, 1, communicator */
    uint64_t n;            /* collectives that it entered */
};
_Static_assert(offsetof(struct as_comm_count, id) == 0,
               "a row of a numbered table begins with its id");

enum as_waits_for { AS_WAITS_FOR_NOTHING, AS_WAITS_FOR_MESSAGE, AS_WAITS_FOR_COLLECTIVE };

struct as_rank_state {
    int64_t now_ns;
    double speed;           /* of its CPU */
    uint32_t node, machine; /* machine: its first node */
    uint32_t sequence;      /* of its next message */
    uint32_t item;          /* that it waits for */
    uint32_t comm;          /* of the collective that it waits for */
    uint32_t next_waiting;
    uint8_t waits_for; /* as_waits_for */
    bool is_over;
    uint32_t action_at, action_n;
    struct as_action *action; /* as_replay.read_n of them */
};

/* Messages in queues are sorted by when they were ready, then sender, then the sender's order. */

/* A network of a node, of a machine (at its first node), or of all (at node 0). */
struct as_network_state {
    uint32_t bus_n; /* buses in use */
    bool is_changed;
    struct as_due_heap queue; /* that may begin if a bus is free */
};
/* Links of a node in one direction. */
struct as_links_state {
    uint32_t used_n;
    struct as_due_heap queue; /* that found all of these links in use */
};
struct as_node_state {
    struct as_links_state in[AS_NETWORKS_N], out[AS_NETWORKS_N];
    struct as_network_state network[AS_NETWORKS_N];
};
struct as_changed_network {
    uint32_t node;
    uint8_t network; /* as_network_kind */
};

struct as_replay {
    struct as_simulated_program *program;
    const struct as_machine_model *model;
    struct as_simulated *out;
    struct as_error *err;
    struct as_rank_state *rank;
    struct as_node_state *node;
    struct as_simulated_comm *comm;
    double *name_speed; /* by as_action.name */
    uint32_t node_n;
    uint32_t read_n; /* actions of a rank that are read at once */
    bool is_limited[AS_NETWORKS_N], is_ordered;
    struct as_due_heap timers; /* of ranks that are ready to run */
    struct as_due_heap ends;   /* of transfers that hold resources */
    struct as_due_heap ready;  /* messages that will be ready for a limited network */
    AS_VEC(struct as_changed_network) changed;
    AS_VEC(struct as_in_flight) message;
    uint32_t free_message;
    uint64_t message_n;     /* in flight */
    struct as_chain *chain; /* unmatched messages by hash */
    size_t chain_n, unmatched_n;
    AS_VEC(struct as_pending_collective) meeting;
    uint32_t free_meeting;
    struct as_numbered_table requests, counts;
};

/* flight.c. The rank waits afterwards if `waits_for` says so. */
void as_sim_wait_message(struct as_replay *sim, uint32_t rank, uint32_t message, bool is_sender);
/* The end of the transfer is known: waiting sides go on. */
int as_sim_transferred(struct as_replay *sim, uint32_t message);
void as_sim_drop(struct as_replay *sim, uint32_t message); /* one reference */
/* queue.c: the message becomes ready then. */
int as_sim_transfer(struct as_replay *sim, uint32_t message, int64_t ready_ns);
int as_sim_release(struct as_replay *sim, int64_t ns);
int as_sim_begin_ready(struct as_replay *sim, int64_t ns);
/* transfer.c */
int as_sim_send(struct as_replay *sim, uint32_t rank, const struct as_action *action);
int as_sim_receive(struct as_replay *sim, uint32_t rank, const struct as_action *action);
int as_sim_forget(struct as_replay *sim, uint32_t rank, const struct as_action *action);
/* meeting.c */
int as_sim_collective(struct as_replay *sim, uint32_t rank, const struct as_action *action);
void as_sim_wait_collective(struct as_replay *sim, uint32_t rank, uint32_t comm, uint32_t meeting);
/* Writes what a waiting rank waits for. */
void as_sim_explain_wait(const struct as_replay *sim, uint32_t rank, char *text, size_t text_b);

#endif
