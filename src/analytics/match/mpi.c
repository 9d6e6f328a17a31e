/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns records of MPI calls into messages and collectives. The records of a call count when it is
 * left: its begin, its end and the operations that it completed are known then.
 */
#include <stdlib.h>
#include <string.h>

#include "analytics/match/channels.h"
#include "analytics/match/groups.h"
#include "analytics/match/windows.h"
#include "analytics/state/walking.h"
#include "base/error.h"

#define NONE UINT32_MAX

/* ---- Requests -------------------------------------------------------------------------------- */

static struct as_request *find_request(struct as_trace_walk *walk, uint32_t process, int64_t number)
{
    return as_numbered_find(&walk->requests, sizeof(struct as_request), process, number);
}

static int store_mpi_request(struct as_trace_walk *walk, struct as_request request)
{
    return as_numbered_put(&walk->requests, sizeof request, &request);
}

/* It is done; one that can be started again stays. */
static void end_request(struct as_trace_walk *walk, struct as_request *request)
{
    request->is_active = false;
    if (!request->is_persistent)
        as_numbered_drop(&walk->requests, sizeof *request, request);
}

/* ---- Transfers ------------------------------------------------------------------------------- */

/* A collective in which this rank has bytes: others only wait, or make something. */
static bool has_bytes(const struct as_call_record *record)
{
    return record->collective.sent_b > 0 || record->collective.received_b > 0;
}

static bool ends_accesses(int64_t sync)
{
    return sync == AS_TRACE_FENCE || sync == AS_TRACE_COMPLETED || sync == AS_TRACE_AWAITED ||
           sync == AS_TRACE_UNLOCKED || sync == AS_TRACE_FLUSHED;
}

static bool is_transfer(struct as_trace_walk *walk, uint32_t process,
                        const struct as_call_record *record)
{
    const struct as_request *request;
    switch (record->kind) {
    case AS_TRACE_SEND:
        return record->message.partner != AS_TRACE_NO_RANK &&
               !(record->message.bits & AS_TRACE_PERSISTENT);
    case AS_TRACE_RECEIVE:
        return record->message.partner != AS_TRACE_NO_RANK;
    case AS_TRACE_START:
    case AS_TRACE_DONE:
        request = find_request(walk, process, record->request);
        return request && request->moves_data &&
               (record->kind == AS_TRACE_START ? request->id.kind != AS_TRACE_POST
                                               : request->is_active);
    case AS_TRACE_COLLECTIVE:
        return has_bytes(record) && !(record->collective.bits & AS_TRACE_PERSISTENT);
    case AS_TRACE_SYNC:
        return ends_accesses(record->sync.kind);
    case AS_TRACE_RMA:
    case AS_TRACE_PARTS:
        return true;
    default:
        return false;
    }
}

bool as_mpi_moves_data(struct as_trace_walk *walk, struct as_walker *walker,
                       const struct as_open_call *frame)
{
    if (walk->is_file.at[frame->routine])
        return true;
    as_vec_foreach (&walker->record, record)
        if (is_transfer(walk, walker->process, record))
            return true;
    return false;
}

/* ---- Communicators --------------------------------------------------------------------------- */

struct comm_place {
    uint64_t global;
    int64_t self; /* world rank of the process */
    uint32_t rank, size;
    bool is_known;
    const struct as_trace_comm *comm;
};

static struct comm_place place_of(const struct as_trace_walk *walk, uint32_t process, int64_t comm)
{
    const struct as_trace_process *p = &walk->trace->process.at[process];
    const struct as_trace_comm *c = as_trace_comm_of(p, comm);
    struct comm_place place = {.self = p->rank, .comm = c};
    if (!c || c->rank < 0 || c->size > UINT32_MAX || (uint64_t)c->rank >= c->size)
        return place;
    place.global = c->global;
    place.rank = (uint32_t)c->rank;
    place.size = (uint32_t)c->size;
    place.is_known = c->global != 0 && p->rank >= 0;
    return place;
}

/* Adds the size of the other group; the ranks of the first group come first. Returns false if the
 * members of the other group are not all known. */
static bool count_both_groups(struct comm_place *place)
{
    const struct as_trace_comm *c = place->comm;
    const uint64_t all_n = c->size + c->member_n;
    if (!(c->bits & AS_TRACE_INTER))
        return true;
    if ((c->bits & AS_TRACE_CUT) || all_n > UINT32_MAX)
        return false;
    place->size = (uint32_t)all_n;
    place->rank += c->bits & AS_TRACE_SECOND ? (uint32_t)c->member_n : 0;
    return true;
}

/* Among both groups; -1: this process does not know it, or there is none. */
static int64_t root_among_both(const struct comm_place *place, int64_t root)
{
    const struct as_trace_comm *c = place->comm;
    if (!(c->bits & AS_TRACE_INTER))
        return root;
    if (root == AS_TRACE_IS_ROOT)
        return place->rank;
    if (root < 0)
        return -1;
    return c->bits & AS_TRACE_SECOND ? root : root + (int64_t)c->size;
}

/* World rank of a rank in a communicator; negative ones stay. -3: not known. */
#define UNKNOWN_RANK (-3)
static int64_t world_rank(const struct comm_place *place, int64_t rank)
{
    if (rank < 0)
        return rank;
    return place->comm && (uint64_t)rank < place->comm->member_n
               ? (int64_t)place->comm->member[rank]
               : UNKNOWN_RANK;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* A rank of which so much was missed that nothing is known of the rest. */
static bool is_doubted(const struct as_trace_walk *walk, int64_t rank)
{
    const size_t n = walk->is_doubted.n;
    for (size_t p = 0; walk->has_doubts && p < n; p++)
        if (walk->is_doubted.at[p] && walk->trace->process.at[p].rank == rank)
            return true;
    return false;
}

struct leaving {
    struct as_trace_walk *walk;
    struct as_walker *walker;
    const struct as_open_call *frame;
    uint32_t site;
    int64_t leave_ns;
};

/* Makes the side that the call completes, and that a call at `site` asked for. */
static struct as_message_side side_of(const struct leaving *l, uint32_t site, int64_t begin_ns)
{
    return (struct as_message_side){.location = l->walker->location,
                                    .site = l->site,
                                    .arrival_site = site,
                                    .begin_ns = begin_ns,
                                    .enter_ns = l->frame->enter_ns,
                                    .leave_ns = l->leave_ns};
}

int as_mpi_add_traffic(struct as_trace_walk *walk, int64_t from, int64_t to, int64_t size_b,
                       int64_t sent_ns)
{
    uint64_t hash = as_hash_mix((uint64_t)from, (uint64_t)to);
    struct as_message_traffic *traffic = NULL;
    uint32_t at;
    if (walk->is_watched || !as_moment_is_in(sent_ns, &walk->out->range))
        return 0;
    for (struct as_probe probe = as_index_probe(&walk->traffics, hash);
         !traffic && (at = as_index_next(&walk->traffics, &probe)) != AS_INDEX_NONE;)
        if (walk->out->traffic.at[at].from == from && walk->out->traffic.at[at].to == to)
            traffic = &walk->out->traffic.at[at];
    if (!traffic) {
        AS_TRY(as_vec_push(&walk->out->traffic, (struct as_message_traffic){from, to, 0, 0}));
        AS_TRY(as_index_add(&walk->traffics, hash, (uint32_t)(walk->out->traffic.n - 1)));
        traffic = &walk->out->traffic.at[walk->out->traffic.n - 1];
    }
    traffic->messages_n++;
    traffic->size_b += (uint64_t)(size_b > 0 ? size_b : 0);
    return 0;
}

static uint64_t channel_of(const struct comm_place *place, const struct as_request *r)
{
    return r->channel ? r->channel : place->global;
}

/* Its place among the messages of its channel is that of its begin, whenever it is complete. */
static int begin_send(const struct leaving *l, struct as_request *r)
{
    const struct comm_place place = place_of(l->walk, l->walker->process, (int64_t)r->comm);
    r->has_begun = !is_doubted(l->walk, place.self) && !is_doubted(l->walk, r->partner);
    return r->has_begun ? as_match_begin_send(l->walk, channel_of(&place, r), place.self,
                                              r->partner, r->tag, &r->send)
                        : 0;
}

/* It is complete, by a call that blocks or for one that has begun before. */
static int send_message(const struct leaving *l, const struct comm_place *place,
                        const struct as_request *r, int64_t begin_ns)
{
    struct as_message_side side = side_of(l, r->site, begin_ns);
    side.bits = r->bits;
    AS_TRY(as_mpi_add_traffic(l->walk, place->self, r->partner, r->size_b, begin_ns));
    const bool is_known = !is_doubted(l->walk, place->self) && !is_doubted(l->walk, r->partner);
    if (r->has_begun)
        return is_known ? as_match_sent(l->walk, r->send, r->partner, r->size_b, &side)
                        : as_match_cancel_send(l->walk, r->send, r->partner);
    return is_known && r->id.number == 0 ? as_match_send(l->walk, channel_of(place, r), place->self,
                                                         r->partner, r->tag, r->size_b, &side)
                                         : 0;
}

/* The number that both sides of a partitioned message know; 0 of others. */
static int find_channel(const struct leaving *l, const struct comm_place *place,
                        const struct as_call_record *record, int64_t partner, uint64_t *out)
{
    const bool is_send = record->kind == AS_TRACE_SEND;
    *out = 0;
    if (!(record->message.bits & AS_TRACE_PARTITIONED))
        return 0;
    return as_channels_make(l->walk->channels,
                            &(struct as_channel_side){.comm = place->global,
                                                      .from = is_send ? place->self : partner,
                                                      .to = is_send ? partner : place->self,
                                                      .tag = record->message.tag,
                                                      .is_send = is_send},
                            out);
}

/* Parts of a message go by an agreement of both sides, whatever their size. */
static uint32_t send_bits_of(const struct leaving *l, const struct as_call_record *record,
                             const struct as_open_call *frame)
{
    if (record->message.bits & (AS_TRACE_SYNCHRONOUS | AS_TRACE_PARTITIONED))
        return AS_MESSAGE_SYNCHRONOUS;
    return record->message.bits & (AS_TRACE_BUFFERED | AS_TRACE_READY)
               ? AS_MESSAGE_LOCAL
               : l->walk->send_bits.at[frame->routine];
}

static void add_sent(struct as_open_call *frame, int64_t size_b)
{
    frame->sent_b += (uint64_t)(size_b > 0 ? size_b : 0);
}

static void add_received(struct as_open_call *frame, int64_t size_b)
{
    frame->received_b += (uint64_t)(size_b > 0 ? size_b : 0);
}

static int on_send_record(const struct leaving *l, const struct as_call_record *record)
{
    struct comm_place place = place_of(l->walk, l->walker->process, record->message.comm);
    int64_t to = world_rank(&place, record->message.partner);
    struct as_open_call *frame = as_walk_outermost(l->walker);
    if (record->message.partner == AS_TRACE_NO_RANK) /* nothing is sent */
        return 0;
    const bool is_persistent = record->message.bits & AS_TRACE_PERSISTENT;
    if (!is_persistent)
        add_sent(frame, record->message.size_b);
    if (!place.is_known || to < 0)
        return 0;
    struct as_request request = {.id = {l->walker->process, AS_TRACE_SEND, record->message.request},
                                 .is_persistent = is_persistent,
                                 .is_active = !is_persistent,
                                 .site = l->site,
                                 .begin_ns = l->frame->enter_ns,
                                 .partner = to,
                                 .tag = record->message.tag,
                                 .size_b = record->message.size_b,
                                 .bits = send_bits_of(l, record, frame),
                                 .moves_data = true,
                                 .comm = (uint64_t)record->message.comm};
    if (record->message.request == 0)
        return send_message(l, &place, &request, request.begin_ns);
    AS_TRY(find_channel(l, &place, record, to, &request.channel));
    if (!is_persistent)
        AS_TRY(begin_send(l, &request));
    return store_mpi_request(l->walk, request);
}

static int post_receive(const struct leaving *l, struct as_request *request)
{
    struct comm_place place = place_of(l->walk, l->walker->process, (int64_t)request->comm);
    request->begin_ns = l->frame->enter_ns;
    request->is_active = true;
    return as_match_post(l->walk, request->channel ? request->channel : place.global, place.self,
                         request->partner, request->tag, &request->post);
}

static int on_post_record(const struct leaving *l, const struct as_call_record *record)
{
    struct comm_place place = place_of(l->walk, l->walker->process, record->message.comm);
    int64_t from = record->message.partner == AS_TRACE_ANY
                       ? AS_MESSAGE_ANY
                       : world_rank(&place, record->message.partner);
    /* That of a call that blocks is done when it is left: on_receive_record posts it. */
    if (record->message.request == 0 || !place.is_known || (from < 0 && from != AS_MESSAGE_ANY))
        return 0;
    struct as_request request = {.id = {l->walker->process, AS_TRACE_POST, record->message.request},
                                 .moves_data = true,
                                 .is_persistent = record->message.bits & AS_TRACE_PERSISTENT,
                                 .site = l->site,
                                 .partner = from,
                                 .tag = record->message.tag == AS_TRACE_ANY ? AS_MESSAGE_ANY
                                                                            : record->message.tag,
                                 .size_b = record->message.size_b,
                                 .comm = (uint64_t)record->message.comm};
    AS_TRY(find_channel(l, &place, record, from, &request.channel));
    request.is_active = !request.is_persistent;
    if (request.is_active)
        AS_TRY(post_receive(l, &request));
    return store_mpi_request(l->walk, request);
}

/* Done by a call that asked for it, or by one that waits for or looks at a request. */
static int on_receive_record(const struct leaving *l, const struct as_call_record *record)
{
    struct comm_place place = place_of(l->walk, l->walker->process, record->message.comm);
    int64_t from = world_rank(&place, record->message.partner);
    struct as_open_call *frame = as_walk_outermost(l->walker);
    add_received(frame, record->message.size_b);
    if (!place.is_known || from < 0 || is_doubted(l->walk, from) || is_doubted(l->walk, place.self))
        return 0;
    int64_t begin_ns = l->frame->enter_ns;
    uint32_t post, site = l->site;
    struct as_request *request =
        record->message.request ? find_request(l->walk, l->walker->process, record->message.request)
                                : NULL;
    if (request && request->id.kind == AS_TRACE_POST && request->is_active) {
        begin_ns = request->begin_ns;
        site = request->site;
        post = request->post;
        end_request(l->walk, request);
    } else if (record->message.request == 0 ||
               l->walker->was_off) { /* it may have been asked for then */
        AS_TRY(as_match_post(l->walk, place.global, place.self, from, record->message.tag, &post));
    } else {
        l->walk->out->broken_n++;
        return 0;
    }
    const struct as_message_side side = side_of(l, site, begin_ns);
    return as_match_receive(l->walk, post, from, record->message.tag, record->message.size_b,
                            &side);
}

/* ---- Collectives ----------------------------------------------------------------------------- */

static int leave_collective(const struct leaving *l, const struct as_request *r)
{
    struct as_collective_member member = {.location = l->walker->location,
                                          .site = l->site,
                                          .arrival_site = r->site,
                                          .is_empty = r->is_empty,
                                          .moves_data = l->frame->moves_data,
                                          .begin_ns = r->begin_ns,
                                          .enter_ns = l->frame->enter_ns,
                                          .leave_ns = l->leave_ns};
    int rc = as_match_leave(l->walk, r->comm, r->collective, r->rank, &member);
    if (rc == AS_ERR_CORRUPT) {
        l->walk->out->broken_n++;
        rc = 0;
    }
    return rc;
}

static int on_collective_record(const struct leaving *l, const struct as_call_record *record)
{
    struct comm_place place = place_of(l->walk, l->walker->process, record->collective.comm);
    struct as_open_call *frame = as_walk_outermost(l->walker);
    uint8_t kind = l->walk->collective.at[frame->routine];
    const bool is_persistent = record->collective.bits & AS_TRACE_PERSISTENT;
    if (!is_persistent) {
        add_sent(frame, record->collective.sent_b);
        add_received(frame, record->collective.received_b);
    }
    if (!place.is_known || !count_both_groups(&place) || place.size < 2 ||
        is_doubted(l->walk, place.self) || l->walk->is_watched)
        return 0;
    const int64_t root = root_among_both(&place, record->collective.root);
    uint64_t number = 0;
    if (!is_persistent) {
        int rc = as_match_begin(l->walk, place.global, place.size, place.rank,
                                (enum as_collective_kind)kind, root, &number);
        if (rc == AS_ERR_CORRUPT)
            l->walk->out->broken_n++;
        if (rc < 0)
            return rc == AS_ERR_CORRUPT ? 0 : rc;
    }
    const struct as_request request = {
        .id = {l->walker->process, AS_TRACE_COLLECTIVE, record->collective.request},
        .is_persistent = is_persistent,
        .is_active = !is_persistent,
        .site = l->site,
        .begin_ns = l->frame->enter_ns,
        .partner = root,
        .tag = kind,
        .comm = place.global,
        .collective = number,
        .size_b = place.size,
        .rank = place.rank,
        .is_empty = record->collective.sent_b <= 0,
        .sent_b = record->collective.sent_b,
        .received_b = record->collective.received_b,
        .moves_data = has_bytes(record)};
    return record->collective.request ? store_mpi_request(l->walk, request)
                                      : leave_collective(l, &request);
}

/* ---- Beginning and end of requests ----------------------------------------------------------- */

static int on_start_record(const struct leaving *l, const struct as_call_record *record)
{
    struct as_request *request = find_request(l->walk, l->walker->process, record->request);
    if (!request || request->is_active)
        return 0;
    request->site = l->site;
    request->begin_ns = request->ready_ns = l->frame->enter_ns;
    request->is_active = true;
    if (request->id.kind == AS_TRACE_POST)
        return post_receive(l, request);
    if (request->id.kind == AS_TRACE_SEND)
        add_sent(as_walk_outermost(l->walker), request->size_b);
    if (request->id.kind == AS_TRACE_SEND)
        return begin_send(l, request);
    add_sent(as_walk_outermost(l->walker), request->sent_b);
    add_received(as_walk_outermost(l->walker), request->received_b);
    if (request->id.kind == AS_TRACE_COLLECTIVE)
        return as_match_begin(l->walk, request->comm, (uint32_t)request->size_b, request->rank,
                              (enum as_collective_kind)request->tag, request->partner,
                              &request->collective);
    return 0;
}

static int on_parts_record(const struct leaving *l, const struct as_call_record *record)
{
    struct as_request *request = find_request(l->walk, l->walker->process, record->request);
    if (request && request->is_active)
        request->ready_ns = l->frame->enter_ns;
    return 0;
}

/* Completes a partitioned message: its send when its last partition was ready, or its receive. */
static int parts_done(const struct leaving *l, const struct as_request *r)
{
    struct comm_place place = place_of(l->walk, l->walker->process, (int64_t)r->comm);
    const struct as_message_side side = side_of(l, r->site, r->begin_ns);
    if (r->id.kind == AS_TRACE_SEND)
        return send_message(l, &place, r, r->ready_ns);
    add_received(as_walk_outermost(l->walker), r->size_b);
    return as_match_receive(l->walk, r->post, r->partner, r->tag, r->size_b, &side);
}

/* Completes a send or a collective. */
static int on_done_record(const struct leaving *l, const struct as_call_record *record)
{
    struct as_request *request = find_request(l->walk, l->walker->process, record->request);
    if (!request || !request->is_active)
        return 0;
    const struct as_request r = *request;
    end_request(l->walk, request);
    if (r.channel)
        return parts_done(l, &r);
    if (r.id.kind == AS_TRACE_SEND) {
        struct comm_place place = place_of(l->walk, l->walker->process, (int64_t)r.comm);
        AS_TRY(send_message(l, &place, &r, r.begin_ns));
    } else if (r.id.kind == AS_TRACE_COLLECTIVE) {
        AS_TRY(leave_collective(l, &r));
    }
    return 0;
}

/* Completes a send at its begin: the program waits for no end of it. */
static int let_go(struct as_trace_walk *walk, const struct as_walker *walker,
                  const struct as_request *request)
{
    struct comm_place place = place_of(walk, walker->process, (int64_t)request->comm);
    struct as_message_side side = {.location = walker->location,
                                   .site = request->site,
                                   .arrival_site = request->site,
                                   .bits = AS_MESSAGE_LOCAL,
                                   .begin_ns = request->begin_ns,
                                   .enter_ns = request->begin_ns,
                                   .leave_ns = request->begin_ns};
    AS_TRY(
        as_mpi_add_traffic(walk, place.self, request->partner, request->size_b, request->begin_ns));
    return request->has_begun
               ? as_match_sent(walk, request->send, request->partner, request->size_b, &side)
               : 0;
}

/* A send that is freed goes its way all the same. */
static int on_cancel_record(const struct leaving *l, const struct as_call_record *record)
{
    struct as_request *request = find_request(l->walk, l->walker->process, record->request);
    const bool is_freed = record->kind == AS_TRACE_FREED;
    if (!request)
        return 0;
    const struct as_request r = *request;
    request->is_persistent &= !is_freed;
    if (r.is_active || is_freed)
        end_request(l->walk, request);
    if (!r.is_active)
        return 0;
    if (r.id.kind == AS_TRACE_POST)
        return as_match_cancel_post(l->walk, r.post);
    if (r.id.kind != AS_TRACE_SEND)
        return 0;
    if (is_freed)
        return let_go(l->walk, l->walker, &r);
    return r.has_begun ? as_match_cancel_send(l->walk, r.send, r.partner) : 0;
}

/* ---- While nothing is recorded --------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int cancel_request(struct as_trace_walk *walk, const struct as_walker *walker,
                          int64_t number)
{
    struct as_request *request = find_request(walk, walker->process, number);
    const struct as_request r = *request;
    end_request(walk, request);
    if (r.id.kind == AS_TRACE_POST)
        return as_match_cancel_post(walk, r.post);
    return r.id.kind == AS_TRACE_SEND ? let_go(walk, walker, &r) : 0;
}

/* How the requests of its process end is not seen. In the order in which they were made. */
int as_mpi_off(struct as_trace_walk *walk, const struct as_walker *walker)
{
    AS_VEC(int64_t) number = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < walk->requests.place_n; i++) {
        const struct as_request *request = as_numbered_at(&walk->requests, sizeof *request, i);
        if (request->id.kind && request->is_active && request->id.process == walker->process)
            rc = as_vec_push(&number, request->id.number);
    }
    if (number.n)
        qsort(number.at, number.n, sizeof *number.at, compare_numbers);
    for (size_t i = 0; rc == 0 && i < number.n; i++)
        rc = cancel_request(walk, walker, number.at[i]);
    as_vec_fini(&number);
    return rc;
}

/* Counts are foreign: more than a run can have are none. Those of many are kept one by one. */
#define MISSED_MOST         (UINT64_C(1) << 32)
#define MISSED_MOST_OF_MANY (UINT64_C(1) << 22)

static int missed_messages(struct as_trace_walk *walk, const struct as_walker *walker,
                           const struct as_trace_event *event, bool are_sends, uint64_t n)
{
    struct comm_place place = place_of(walk, walker->process, event->missed.comm);
    const int64_t partner = world_rank(&place, event->missed.partner);
    if (!place.is_known || partner < 0)
        return 0;
    return as_messages_missed(walk->messages, place.global, are_sends ? place.self : partner,
                              are_sends ? partner : place.self, event->missed.tag, are_sends, n);
}

static int missed_collectives(struct as_trace_walk *walk, const struct as_walker *walker,
                              int64_t comm, uint64_t n)
{
    struct comm_place place = place_of(walk, walker->process, comm);
    if (!place.is_known || !count_both_groups(&place) || place.size < 2)
        return 0;
    if (n > MISSED_MOST_OF_MANY) {
        walk->is_doubted.at[walker->process] = walk->has_doubts = true;
        return 0;
    }
    const int rc =
        as_collectives_missed(walk->collectives, place.global, place.size, place.rank, n);
    walk->out->broken_n += rc == AS_ERR_CORRUPT;
    return rc == AS_ERR_CORRUPT ? 0 : rc;
}

/* Skips starts of a persistent request, made while tracing was on, that happened while it was
 * off. */
static int missed_starts(struct as_trace_walk *walk, const struct as_walker *walker, int64_t number,
                         uint64_t n)
{
    const struct as_request *request = find_request(walk, walker->process, number);
    if (!request || !request->is_persistent || n > MISSED_MOST_OF_MANY)
        return 0;
    if (request->id.kind == AS_TRACE_COLLECTIVE) {
        const int rc = as_collectives_missed(walk->collectives, request->comm,
                                             (uint32_t)request->size_b, request->rank, n);
        return rc == AS_ERR_CORRUPT ? 0 : rc;
    }
    struct comm_place place = place_of(walk, walker->process, (int64_t)request->comm);
    const bool is_send = request->id.kind == AS_TRACE_SEND;
    /* Receives count as they are done; but nothing is record of the end of one in parts. */
    if (!is_send && !request->channel)
        return 0;
    return as_messages_missed(walk->messages, request->channel ? request->channel : place.global,
                              is_send ? place.self : request->partner,
                              is_send ? request->partner : place.self, request->tag, is_send, n);
}

int as_mpi_missed(struct as_trace_walk *walk, struct as_walker *walker,
                  const struct as_trace_event *event)
{
    const uint64_t n = (uint64_t)event->missed.n;
    if (n > MISSED_MOST) {
        walk->out->broken_n++;
        return 0;
    }
    walk->out->missed_n += n;
    switch (event->missed.what) {
    case AS_TRACE_MISSED_SENDS:
    case AS_TRACE_MISSED_RECEIVES:
        return missed_messages(walk, walker, event, event->missed.what == AS_TRACE_MISSED_SENDS, n);
    case AS_TRACE_MISSED_COLLECTIVES:
        return missed_collectives(walk, walker, event->missed.comm, n);
    case AS_TRACE_MISSED_STARTS:
        return missed_starts(walk, walker, event->missed.comm, n);
    default:
        walk->is_doubted.at[walker->process] = walk->has_doubts = true;
        return 0;
    }
}

int as_mpi_left(struct as_trace_walk *walk, struct as_walker *walker,
                const struct as_open_call *frame, uint32_t site, int64_t leave_ns)
{
    const struct leaving l = {walk, walker, frame, site, leave_ns};
    as_vec_foreach (&walker->record, record) {
        switch (record->kind) {
        case AS_TRACE_SEND:
            AS_TRY(on_send_record(&l, record));
            break;
        case AS_TRACE_POST:
            AS_TRY(on_post_record(&l, record));
            break;
        case AS_TRACE_RECEIVE:
            AS_TRY(on_receive_record(&l, record));
            break;
        case AS_TRACE_COLLECTIVE:
            AS_TRY(on_collective_record(&l, record));
            break;
        case AS_TRACE_START:
            AS_TRY(on_start_record(&l, record));
            break;
        case AS_TRACE_DONE:
            AS_TRY(on_done_record(&l, record));
            break;
        case AS_TRACE_PARTS:
            AS_TRY(on_parts_record(&l, record));
            break;
        case AS_TRACE_RMA:
        case AS_TRACE_SYNC:
            AS_TRY(as_windows_left(walk, walker, frame, l.site, leave_ns, record));
            break;
        default:
            AS_TRY(on_cancel_record(&l, record));
            break;
        }
    }
    return 0;
}
