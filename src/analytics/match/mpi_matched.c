/* SPDX-License-Identifier: Apache-2.0 */
/* Turns matched messages and collectives into wait states; begin and end of matching. */
#include "analytics/match/channels.h"
#include "analytics/match/groups.h"
#include "analytics/match/windows.h"
#include "analytics/state/walking.h"
#include "base/error.h"

/* Returns true if a receive has more bytes than were sent, or ends before the send begins. */
static bool is_no_pair(const struct as_message *message)
{
    return message->received_b > message->sent_b ||
           message->receive.leave_ns < message->send.begin_ns;
}

/* MPIs have a limit for eager messages within a machine and another between machines. */
static enum as_eager_path path_of(const struct as_trace_walk *walk,
                                  const struct as_message *message)
{
    const struct as_trace_process *all = walk->trace->process.at;
    const uint32_t from = walk->out->location.at[message->send.location].process;
    const uint32_t to = walk->out->location.at[message->receive.location].process;
    return as_trace_is_one_machine(&all[from], &all[to]) ? AS_EAGER_NEAR : AS_EAGER_FAR;
}

/* By clocks of two machines a send may seem to end too early: it must be so by this much. */
#define FAR_PROOF_NS 1000000

static void note_eager(struct as_trace_walk *walk, const struct as_message *message,
                       enum as_eager_path path)
{
    const int64_t before_ns = message->receive.begin_ns - message->send.leave_ns;
    const uint64_t sent_b = message->sent_b > 0 ? (uint64_t)message->sent_b : 0;
    uint32_t *eager_b = &walk->out->eager_b[path];
    if (sent_b > *eager_b && !walk->was_off && as_waits_prove_eager(message) &&
        (path == AS_EAGER_NEAR || before_ns >= FAR_PROOF_NS))
        *eager_b = sent_b < UINT32_MAX ? (uint32_t)sent_b : UINT32_MAX - 1;
}

int as_mpi_matched(struct as_trace_walk *walk, const struct as_message *message)
{
    if (walk->was_off && is_no_pair(message)) {
        walk->out->doubtful_n++;
        return 0;
    }
    walk->out->violated_n += message->receive.leave_ns < message->send.begin_ns;
    if (walk->watch && walk->watch->message)
        AS_TRY(walk->watch->message(walk->watch->context, message));
    if (walk->is_watched)
        return 0;
    const enum as_eager_path path = path_of(walk, message);
    note_eager(walk, message, path);
    return as_waits_of_message(message, path, &walk->walker.at[message->receive.location].recent,
                               &walk->out->waits);
}

static int message_matched(void *context, const struct as_message *message)
{
    return as_mpi_matched(context, message);
}

static int on_matched_collective(void *context, const struct as_collective *collective)
{
    struct as_trace_walk *walk = context;
    struct as_collective met = *collective;
    met.first_n = as_groups_first_n(walk->groups, met.comm, met.member_n);
    if (met.kind == AS_COLLECTIVE_KIND_NEIGHBOURHOOD)
        AS_TRY(as_neighbours_of(walk->near, met.comm, met.member_n, &met.near));
    return as_waits_of_collective(&met, &walk->out->waits);
}

int as_mpi_new(struct as_trace_walk *walk)
{
    AS_TRY(as_messages_new(&walk->messages, message_matched, walk));
    AS_TRY(as_neighbours_new(&walk->near, walk->trace));
    AS_TRY(as_groups_new(&walk->groups, walk->trace));
    AS_TRY(as_windows_new(walk));
    AS_TRY(as_channels_new(&walk->channels));
    return as_collectives_new(&walk->collectives, on_matched_collective, walk);
}

int as_mpi_end(struct as_trace_walk *walk)
{
    walk->out->unmet_n = as_collectives_unmatched(walk->collectives);
    return as_messages_finish(walk->messages, &walk->out->messages);
}
