/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which receive took which message. MPI keeps order (MPI 4.0, 3.5): between two processes and in
 * one communicator, a receive takes the first sent of the messages that it could take, and a
 * message goes to the first posted of the receives that could take it. So the n-th message of a
 * sender, a receiver, a communicator and a tag meets the n-th receive that was posted and took such
 * a one; which that was may be known late, where an earlier one with a wildcard is not done yet.
 *
 * Sides may come in any order: clocks of two machines differ. What found no partner is counted.
 */
#ifndef AS_ANALYTICS_MESSAGES_H
#define AS_ANALYTICS_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "base/vec.h"

#define AS_MESSAGE_ANY (-1) /* source, tag of a receive */

/* Bits of a side. */
enum as_message_bits {
    AS_MESSAGE_SYNCHRONOUS = 1, /* the send waits for its receive whatever its size */
    AS_MESSAGE_LOCAL = 2        /* the send is buffered or ready: it never waits for its receive */
};

/* One side of a message. Times in nanoseconds of the trace. */
struct as_message_side {
    uint32_t location, site; /* of the call that completed it */
    uint32_t arrival_site;   /* of the call that asked for it */
    uint32_t bits;           /* as_message_bits */
    int64_t begin_ns;        /* it was asked for: enter of the call that sends or posts */
    int64_t enter_ns; /* of the call in which it was completed; the same for one that blocks */
    int64_t leave_ns; /* of that call */
};

struct as_message {
    struct as_message_side send, receive;
    int64_t from, to; /* ranks in MPI_COMM_WORLD */
    int64_t tag, sent_b, received_b;
    uint64_t comm;
};

/* Called once for each pair, in the order in which they become known. */
typedef int as_message_matched(void *context, const struct as_message *message);

struct as_messages;

/* 0 or ASSAY_ERR_NOMEM. */
int as_messages_new(struct as_messages **out, as_message_matched *matched, void *context);
void as_messages_free(struct as_messages **messages);

/* A send is begun; answers the number under which it is completed or given up. Sends of a channel
 * are matched in the order in which they begin. 0 or ASSAY_ERR_NOMEM. */
int as_messages_begin(struct as_messages *messages, uint64_t comm, int64_t from, int64_t to,
                      int64_t tag, uint32_t *send);
/* It is complete. 0, ASSAY_ERR_NOMEM, or what the caller's function answered; so too below. */
int as_messages_sent(struct as_messages *messages, uint32_t send, int64_t size_b,
                     const struct as_message_side *side);
/* It never takes place: cancelled. */
int as_messages_unsend(struct as_messages *messages, uint32_t send);
/* Both at once. */
int as_messages_send(struct as_messages *messages, uint64_t comm, int64_t from, int64_t to,
                     int64_t tag, int64_t size_b, const struct as_message_side *side);

/* A receive is asked for; answers the number under which it is completed or given up. */
int as_messages_post(struct as_messages *messages, uint64_t comm, int64_t to, int64_t source,
                     int64_t tag, uint32_t *post);
/* It is done; `source` and `tag` are the message's. */
int as_messages_receive(struct as_messages *messages, uint32_t post, int64_t source, int64_t tag,
                        int64_t size_b, const struct as_message_side *side);
/* So many messages were sent, or received, and are not in the trace: who meets one of them has no
 * partner, and those after find theirs. */
int as_messages_missed(struct as_messages *messages, uint64_t comm, int64_t from, int64_t to,
                       int64_t tag, bool are_sends, uint64_t n);
/* It will never be: cancelled. */
int as_messages_cancel_post(struct as_messages *messages, uint32_t post);

struct as_messages_count {
    uint64_t matched_n, sends_n, receives_n; /* the latter two: without a partner */
};
/* At the end: what is held for receives and sends that were never done is matched without them. */
int as_messages_finish(struct as_messages *messages, struct as_messages_count *out);
/* From now on pairs are said to another. */
void as_messages_listen(struct as_messages *messages, as_message_matched *matched, void *context);
#define AS_MESSAGES_BEHIND UINT32_MAX
/* While it finishes: the number of the receive that is being matched; AS_MESSAGES_BEHIND: one that
 * was held for a send. These come last, by the trace thread that receives. */
uint32_t as_messages_finishing(const struct as_messages *messages);

#endif
