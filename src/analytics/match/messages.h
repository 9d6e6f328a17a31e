/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches sends and receives of messages.
 *
 * MPI keeps order (MPI 4.0, 3.5) between two processes in one communicator. A receive matches the
 * first sent of its candidates. A message matches the first posted of its candidates. So per
 * channel (sender, receiver, communicator, tag) the n-th message matches the n-th posted receive of
 * that channel. An earlier receive with a wildcard may delay the match until it completes.
 *
 * Sides may arrive in any order, because clocks of two machines differ. Sides without a partner are
 * counted.
 */
#ifndef AS_ANALYTICS_MESSAGES_H
#define AS_ANALYTICS_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "base/vec.h"

#define AS_MESSAGE_ANY (-1) /* any source, or any tag, of a receive */

/* Bits of a side. */
enum as_message_bits {
    AS_MESSAGE_SYNCHRONOUS = 1, /* the send waits for its receive at every size */
    AS_MESSAGE_LOCAL = 2        /* buffered or ready send: it never waits for its receive */
};

/* One side of a message. Times in nanoseconds of the trace. */
struct as_message_side {
    uint32_t location, site; /* of the call that completed it */
    uint32_t arrival_site;   /* of the call that began it */
    uint32_t bits;           /* as_message_bits */
    int64_t begin_ns;        /* enter of the call that sends or posts */
    int64_t enter_ns;        /* enter of the call that completed it; a blocking call did both */
    int64_t leave_ns;        /* leave of the call that completed it */
};

struct as_message {
    struct as_message_side send, receive;
    int64_t from, to; /* ranks in MPI_COMM_WORLD */
    int64_t tag, sent_b, received_b;
    uint64_t comm;
};

/* Receives each matched pair, in order of discovery. */
typedef int as_message_matched(void *context, const struct as_message *message);

struct as_messages;

/* 0 or AS_ERR_NOMEM. */
int as_messages_new(struct as_messages **out, as_message_matched *matched, void *context);
void as_messages_free(struct as_messages **messages);

/* Begins a send. `*send` is its number until it is completed or cancelled. Sends of a channel match
 * in the order of their beginnings. Returns 0 or AS_ERR_NOMEM. */
int as_messages_begin(struct as_messages *messages, uint64_t comm, int64_t from, int64_t to,
                      int64_t tag, uint32_t *send);
/* Completes a send. Returns 0, AS_ERR_NOMEM, or the error of `matched`, as do the functions
 * below. */
int as_messages_sent(struct as_messages *messages, uint32_t send, int64_t size_b,
                     const struct as_message_side *side);
/* Cancels a send. */
int as_messages_unsend(struct as_messages *messages, uint32_t send);
/* Begins and completes a send. */
int as_messages_send(struct as_messages *messages, uint64_t comm, int64_t from, int64_t to,
                     int64_t tag, int64_t size_b, const struct as_message_side *side);

/* Posts a receive. `*post` is its number until it is completed or cancelled. */
int as_messages_post(struct as_messages *messages, uint64_t comm, int64_t to, int64_t source,
                     int64_t tag, uint32_t *post);
/* Completes a receive. `source` and `tag` are those of the message. */
int as_messages_receive(struct as_messages *messages, uint32_t post, int64_t source, int64_t tag,
                        int64_t size_b, const struct as_message_side *side);
/* Skips `n` sends, or receives, that are missing in the trace. Their partners stay without a match,
 * and later messages match theirs. */
int as_messages_missed(struct as_messages *messages, uint64_t comm, int64_t from, int64_t to,
                       int64_t tag, bool are_sends, uint64_t n);
/* Cancels a receive. */
int as_messages_cancel_post(struct as_messages *messages, uint32_t post);

struct as_messages_count {
    uint64_t matched_n, sends_n, receives_n; /* sends_n, receives_n: sides without a partner */
};
/* Ends matching: open sends and receives that still delay a match are ignored. Counts the sides
 * without a partner. */
int as_messages_finish(struct as_messages *messages, struct as_messages_count *out);
/* Replaces the receiver of matched pairs. */
void as_messages_listen(struct as_messages *messages, as_message_matched *matched, void *context);
#define AS_MESSAGES_BEHIND UINT32_MAX
/* Returns, during as_messages_finish, the number of the receive that is being matched.
 * AS_MESSAGES_BEHIND: a receive that an open send delayed. These come last, sorted by the trace
 * thread of the receive. */
uint32_t as_messages_finishing(const struct as_messages *messages);

#endif
