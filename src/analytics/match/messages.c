/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/match/messages.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/sort.h"

#define NONE UINT32_MAX

/* Sends that wait for a receive, or receives that wait for their send: one list a channel. */
struct message_half {
    struct as_message_side side;
    int64_t size_b;
    uint64_t missed_n; /* 0: it is one; else so many that were not recorded */
    uint32_t next, channel;
    bool is_open, is_gone; /* a send that is not complete yet; one that does not take place */
};

struct message_halves {
    uint32_t first, last;
};

struct post {
    uint64_t order; /* of posting, over all */
    int64_t source, tag, size_b;
    struct as_message_side side;
    uint32_t channel; /* done: of its message. Else that of its own words, or NONE with wildcards */
    uint32_t inbox;
    uint32_t next, previous; /* in the list of its channel's posts, or the inbox's wildcards */
    bool is_done;            /* but an earlier one may have to be matched first */
};

/* A communicator, sender, receiver and tag. */
struct channel {
    uint64_t comm;
    int64_t from, to, tag;
    struct message_halves sends, receives; /* one is empty, or the first send is open */
    uint32_t first_post, last_post;        /* those that name it, in order of posting */
};

/* A communicator and receiver. */
struct inbox {
    uint64_t comm;
    int64_t to;
    uint32_t first_wild, last_wild;
    uint32_t waiting_n; /* done, and waiting for earlier ones */
};

struct as_messages {
    as_message_matched *matched;
    void *context;
    AS_VEC(struct channel) channel;
    AS_VEC(struct inbox) inbox;
    AS_VEC(struct message_half) half;
    AS_VEC(struct post) post;
    AS_VEC(struct as_sort_key) waiting; /* posts that are done, by order of posting; unsorted */
    struct as_index channels, inboxes;
    uint32_t free_half, free_post;
    uint32_t finishing;
    uint64_t posted_n;
    struct as_messages_count count;
};

int as_messages_new(struct as_messages **out, as_message_matched *matched, void *context)
{
    struct as_messages *m = as_calloc(1, sizeof *m);
    *out = m;
    if (!m)
        return AS_ERR_NOMEM;
    m->matched = matched;
    m->context = context;
    m->free_half = m->free_post = NONE;
    return 0;
}

void as_messages_free(struct as_messages **messages)
{
    struct as_messages *m = *messages;
    if (!m)
        return;
    as_vec_fini(&m->channel);
    as_vec_fini(&m->inbox);
    as_vec_fini(&m->half);
    as_vec_fini(&m->post);
    as_vec_fini(&m->waiting);
    as_index_fini(&m->channels);
    as_index_fini(&m->inboxes);
    as_free(m);
    *messages = NULL;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static int find_channel(struct as_messages *m, uint64_t comm, int64_t from, int64_t to, int64_t tag,
                        uint32_t *out)
{
    uint64_t hash =
        as_hash_mix(as_hash_mix(as_hash_mix(comm, (uint64_t)from), (uint64_t)to), (uint64_t)tag);
    for (struct as_probe probe = as_index_probe(&m->channels, hash);
         (*out = as_index_next(&m->channels, &probe)) != AS_INDEX_NONE;) {
        const struct channel *c = &m->channel.at[*out];
        if (c->comm == comm && c->from == from && c->to == to && c->tag == tag)
            return 0;
    }
    AS_TRY(as_vec_push(&m->channel, (struct channel){.comm = comm,
                                                     .from = from,
                                                     .to = to,
                                                     .tag = tag,
                                                     .sends = {NONE, NONE},
                                                     .receives = {NONE, NONE},
                                                     .first_post = NONE,
                                                     .last_post = NONE}));
    *out = (uint32_t)(m->channel.n - 1);
    return as_index_add(&m->channels, hash, *out);
}

static int find_inbox(struct as_messages *m, uint64_t comm, int64_t to, uint32_t *out)
{
    uint64_t hash = as_hash_mix(comm, (uint64_t)to);
    for (struct as_probe probe = as_index_probe(&m->inboxes, hash);
         (*out = as_index_next(&m->inboxes, &probe)) != AS_INDEX_NONE;)
        if (m->inbox.at[*out].comm == comm && m->inbox.at[*out].to == to)
            return 0;
    AS_TRY(as_vec_push(&m->inbox, (struct inbox){comm, to, NONE, NONE, 0}));
    *out = (uint32_t)(m->inbox.n - 1);
    return as_index_add(&m->inboxes, hash, *out);
}

static int append_half(struct as_messages *m, uint32_t channel, bool is_send,
                       const struct message_half *it, uint32_t *out)
{
    struct channel *c = &m->channel.at[channel];
    struct message_halves *list = is_send ? &c->sends : &c->receives;
    uint32_t at = m->free_half;
    struct message_half half = *it;
    half.next = NONE;
    half.channel = channel;
    if (at != NONE) {
        m->free_half = m->half.at[at].next;
        m->half.at[at] = half;
    } else {
        AS_TRY(as_vec_push(&m->half, half));
        at = (uint32_t)(m->half.n - 1);
    }
    if (list->last == NONE)
        list->first = at;
    else
        m->half.at[list->last].next = at;
    list->last = at;
    if (out)
        *out = at;
    return 0;
}

static struct message_half pop_message_half(struct as_messages *m, struct message_halves *list)
{
    uint32_t at = list->first;
    struct message_half half = m->half.at[at];
    if (half.missed_n > 1) {
        m->half.at[at].missed_n--;
        return half;
    }
    list->first = half.next;
    if (list->first == NONE)
        list->last = NONE;
    m->half.at[at].next = m->free_half;
    m->free_half = at;
    return half;
}

/* ---- Two sides match ------------------------------------------------------------------------- */

static int report_message_match(struct as_messages *m, const struct channel *c,
                                const struct message_half *send, const struct message_half *receive)
{
    struct as_message message = {.send = send->side,
                                 .receive = receive->side,
                                 .from = c->from,
                                 .to = c->to,
                                 .tag = c->tag,
                                 .sent_b = send->size_b,
                                 .received_b = receive->size_b,
                                 .comm = c->comm};
    m->count.matched_n++;
    return m->matched(m->context, &message);
}

/* Matches the first of both sides. */
static int match_first(struct as_messages *m, const struct channel *c,
                       const struct message_half *send, const struct message_half *receive)
{
    m->count.sends_n += receive->missed_n > 0 && send->missed_n == 0;
    m->count.receives_n += send->missed_n > 0 && receive->missed_n == 0;
    return send->missed_n || receive->missed_n ? 0 : report_message_match(m, c, send, receive);
}

/* Sides of which neither was recorded: of counts the smaller one goes at once. */
static void pass_missed(struct as_messages *m, const struct channel *c)
{
    uint64_t *a = &m->half.at[c->sends.first].missed_n;
    uint64_t *b = &m->half.at[c->receives.first].missed_n;
    const uint64_t n = *a < *b ? *a : *b;
    if (n > 1) {
        *a -= n - 1;
        *b -= n - 1;
    }
}

/* Matches all that can be matched: up to a send that is not complete. */
static int match_channel(struct as_messages *m, uint32_t at)
{
    struct channel *c = &m->channel.at[at];
    while (c->sends.first != NONE) {
        const struct message_half *first = &m->half.at[c->sends.first];
        if (first->is_gone) {
            pop_message_half(m, &c->sends);
            continue;
        }
        if (first->is_open || c->receives.first == NONE)
            return 0;
        pass_missed(m, c);
        const struct message_half send = pop_message_half(m, &c->sends);
        const struct message_half receive = pop_message_half(m, &c->receives);
        AS_TRY(match_first(m, c, &send, &receive));
    }
    return 0;
}

int as_messages_begin(struct as_messages *m, uint64_t comm, int64_t from, int64_t to, int64_t tag,
                      uint32_t *send)
{
    const struct message_half half = {.is_open = true};
    uint32_t at;
    AS_TRY(find_channel(m, comm, from, to, tag, &at));
    return append_half(m, at, true, &half, send);
}

int as_messages_sent(struct as_messages *m, uint32_t send, int64_t size_b,
                     const struct as_message_side *side)
{
    struct message_half *half = &m->half.at[send];
    assert(send < m->half.n && half->is_open);
    half->is_open = false;
    half->side = *side;
    half->size_b = size_b;
    return match_channel(m, half->channel);
}

int as_messages_unsend(struct as_messages *m, uint32_t send)
{
    struct message_half *half = &m->half.at[send];
    assert(send < m->half.n && half->is_open);
    half->is_open = false;
    half->is_gone = true;
    return match_channel(m, half->channel);
}

int as_messages_send(struct as_messages *m, uint64_t comm, int64_t from, int64_t to, int64_t tag,
                     int64_t size_b, const struct as_message_side *side)
{
    const struct message_half send = {.side = *side, .size_b = size_b};
    uint32_t at;
    AS_TRY(find_channel(m, comm, from, to, tag, &at));
    AS_TRY(append_half(m, at, true, &send, NULL));
    return match_channel(m, at);
}

static int match_wild_receive(struct as_messages *m, const struct post *post)
{
    const struct message_half receive = {.side = post->side, .size_b = post->size_b};
    AS_TRY(append_half(m, post->channel, false, &receive, NULL));
    return match_channel(m, post->channel);
}

/* Both sides of some may not have been recorded. */
int as_messages_missed(struct as_messages *m, uint64_t comm, int64_t from, int64_t to, int64_t tag,
                       bool are_sends, uint64_t n)
{
    const struct message_half missed = {.missed_n = n};
    uint32_t at;
    if (n == 0)
        return 0;
    AS_TRY(find_channel(m, comm, from, to, tag, &at));
    AS_TRY(append_half(m, at, are_sends, &missed, NULL));
    return match_channel(m, at);
}

/* ---- Receives in order of posting ------------------------------------------------------------ */

static bool is_wild(const struct post *post)
{
    return post->source == AS_MESSAGE_ANY || post->tag == AS_MESSAGE_ANY;
}

static void link_post(struct as_messages *m, uint32_t at, uint32_t *first, uint32_t *last)
{
    assert(at < m->post.n);
    struct post *post = &m->post.at[at];
    post->previous = *last;
    post->next = NONE;
    if (*last == NONE)
        *first = at;
    else
        m->post.at[*last].next = at;
    *last = at;
}

static void drop_post(struct as_messages *m, uint32_t at, uint32_t *first, uint32_t *last)
{
    struct post *post = &m->post.at[at];
    if (post->previous == NONE)
        *first = post->next;
    else
        m->post.at[post->previous].next = post->next;
    if (post->next == NONE)
        *last = post->previous;
    else
        m->post.at[post->next].previous = post->previous;
    post->next = m->free_post;
    m->free_post = at;
}

/* The channel that a post's own words name: what stands in its lists. */
static int named_channel(struct as_messages *m, const struct post *post, uint32_t *out)
{
    const struct inbox *inbox = &m->inbox.at[post->inbox];
    return find_channel(m, inbox->comm, post->source, inbox->to, post->tag, out);
}

static int forget_post(struct as_messages *m, uint32_t at)
{
    assert(at < m->post.n);
    uint32_t channel;
    const struct post *post = &m->post.at[at];
    if (is_wild(post)) {
        struct inbox *inbox = &m->inbox.at[post->inbox];
        drop_post(m, at, &inbox->first_wild, &inbox->last_wild);
        return 0;
    }
    AS_TRY(named_channel(m, post, &channel));
    drop_post(m, at, &m->channel.at[channel].first_post, &m->channel.at[channel].last_post);
    return 0;
}

int as_messages_post(struct as_messages *m, uint64_t comm, int64_t to, int64_t source, int64_t tag,
                     uint32_t *out)
{
    struct post post = {.order = m->posted_n++, .source = source, .tag = tag, .channel = NONE};
    uint32_t channel = NONE;
    AS_TRY(find_inbox(m, comm, to, &post.inbox));
    if (!is_wild(&post))
        AS_TRY(named_channel(m, &post, &channel));
    if (m->free_post != NONE) {
        *out = m->free_post;
        m->free_post = m->post.at[*out].next;
        m->post.at[*out] = post;
    } else {
        AS_TRY(as_vec_push(&m->post, post));
        *out = (uint32_t)(m->post.n - 1);
    }
    if (channel == NONE)
        link_post(m, *out, &m->inbox.at[post.inbox].first_wild, &m->inbox.at[post.inbox].last_wild);
    else
        link_post(m, *out, &m->channel.at[channel].first_post, &m->channel.at[channel].last_post);
    return 0;
}

/* Returns whether an earlier receive has matched, or may match, a message of the same channel. */
static bool is_before(const struct as_messages *m, uint32_t first, const struct post *post)
{
    const struct channel *c = &m->channel.at[post->channel];
    for (uint32_t at = first; at != NONE; at = m->post.at[at].next) {
        const struct post *other = &m->post.at[at];
        if (other->order >= post->order)
            return false;
        if (other->is_done ? other->channel == post->channel
                           : (other->source == AS_MESSAGE_ANY || other->source == c->from) &&
                                 (other->tag == AS_MESSAGE_ANY || other->tag == c->tag))
            return true;
    }
    return false;
}

static bool is_receive_blocked(const struct as_messages *m, const struct post *post)
{
    return is_before(m, m->channel.at[post->channel].first_post, post) ||
           is_before(m, m->inbox.at[post->inbox].first_wild, post);
}

/* The first asked for of those that need wait no more: so what others hold changes no order. */
static size_t next_released(const struct as_messages *m, uint32_t inbox)
{
    size_t next = m->waiting.n;
    for (size_t i = 0; i < m->waiting.n; i++) {
        const struct post *post = &m->post.at[m->waiting.at[i].at];
        if (post->inbox == inbox &&
            (next == m->waiting.n || post->order < m->waiting.at[next].key) &&
            !is_receive_blocked(m, post))
            next = i;
    }
    return next;
}

/* Matches receives that waited for one that is done or cancelled, and those behind them. */
static int release_waiting(struct as_messages *m, uint32_t inbox)
{
    while (m->inbox.at[inbox].waiting_n > 0) {
        const size_t next = next_released(m, inbox);
        if (next == m->waiting.n)
            return 0;
        const struct post post = m->post.at[m->waiting.at[next].at];
        AS_TRY(forget_post(m, m->waiting.at[next].at));
        m->waiting.at[next] = m->waiting.at[--m->waiting.n];
        m->inbox.at[inbox].waiting_n--;
        AS_TRY(match_wild_receive(m, &post));
    }
    return 0;
}

int as_messages_receive(struct as_messages *m, uint32_t at, int64_t source, int64_t tag,
                        int64_t size_b, const struct as_message_side *side)
{
    assert(at < m->post.n && !m->post.at[at].is_done);
    struct post *post = &m->post.at[at];
    const struct inbox *inbox = &m->inbox.at[post->inbox];
    uint32_t channel;
    AS_TRY(find_channel(m, inbox->comm, source, inbox->to, tag, &channel));
    post->channel = channel;
    post->size_b = size_b;
    post->side = *side;
    post->is_done = true;
    if (is_receive_blocked(m, post)) {
        m->inbox.at[post->inbox].waiting_n++;
        return as_vec_push(&m->waiting, (struct as_sort_key){post->order, at});
    }
    const struct post done = *post;
    AS_TRY(forget_post(m, at));
    AS_TRY(match_wild_receive(m, &done));
    return release_waiting(m, done.inbox);
}

int as_messages_cancel_post(struct as_messages *m, uint32_t at)
{
    assert(at < m->post.n && !m->post.at[at].is_done);
    uint32_t inbox = m->post.at[at].inbox;
    AS_TRY(forget_post(m, at));
    return release_waiting(m, inbox);
}

/* ---- At the end ------------------------------------------------------------------------------ */

struct behind {
    AS_VEC(struct as_message) message;
};

static int queue_message(void *context, const struct as_message *message)
{
    struct behind *behind = context;
    return as_vec_push(&behind->message, *message);
}

static int compare_behind(const void *a, const void *b)
{
    const struct as_message *x = a, *y = b;
    const int64_t key[][2] = {{x->receive.location, y->receive.location},
                              {x->receive.begin_ns, y->receive.begin_ns},
                              {x->receive.leave_ns, y->receive.leave_ns},
                              {x->from, y->from},
                              {x->tag, y->tag},
                              {(int64_t)x->comm, (int64_t)y->comm},
                              {x->send.begin_ns, y->send.begin_ns}};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        if (key[i][0] != key[i][1])
            return key[i][0] < key[i][1] ? -1 : 1;
    return 0;
}

/* A send that was never complete went its way: its receive has no partner that is known. */
static int pass_open_sends(struct as_messages *m, struct as_messages_count *out)
{
    for (uint32_t at = 0; at < m->channel.n; at++) {
        struct channel *c = &m->channel.at[at];
        while (c->sends.first != NONE && c->receives.first != NONE) {
            pop_message_half(m, &c->sends); /* it is open */
            const struct message_half receive = pop_message_half(m, &c->receives);
            out->receives_n += receive.missed_n == 0;
            AS_TRY(match_channel(m, at));
        }
    }
    return 0;
}

/* Messages behind sends that were never complete, in an order that does not depend on channels. */
static int finish_behind(struct as_messages *m, struct as_messages_count *out)
{
    as_message_matched *const matched = m->matched;
    void *const context = m->context;
    struct behind behind = {.message = {.n = 0}};
    as_messages_listen(m, queue_message, &behind);
    int rc = pass_open_sends(m, out);
    as_messages_listen(m, matched, context);
    if (behind.message.n)
        qsort(behind.message.at, behind.message.n, sizeof *behind.message.at, compare_behind);
    m->finishing = AS_MESSAGES_BEHIND;
    for (size_t i = 0; rc == 0 && i < behind.message.n; i++)
        rc = matched(context, &behind.message.at[i]);
    as_vec_fini(&behind.message);
    return rc;
}

static uint64_t count_left(const struct as_messages *m, const struct message_halves *list)
{
    uint64_t n = 0;
    for (uint32_t at = list->first; at != NONE; at = m->half.at[at].next)
        n += m->half.at[at].missed_n == 0 && !m->half.at[at].is_open && !m->half.at[at].is_gone;
    return n;
}

int as_messages_finish(struct as_messages *m, struct as_messages_count *out)
{
    struct as_messages_count left = {0, 0, 0};
    AS_TRY(as_sort_keys(m->waiting.at, m->waiting.n));
    as_vec_foreach (&m->waiting, waiting) {
        m->finishing = waiting->at;
        AS_TRY(match_wild_receive(m, &m->post.at[waiting->at]));
    }
    m->waiting.n = 0;
    AS_TRY(finish_behind(m, &left));
    as_vec_foreach (&m->channel, c) {
        left.sends_n += count_left(m, &c->sends);
        left.receives_n += count_left(m, &c->receives);
    }
    *out = m->count;
    out->sends_n += left.sends_n;
    out->receives_n += left.receives_n;
    return 0;
}

uint32_t as_messages_finishing(const struct as_messages *m)
{
    return m->finishing;
}

void as_messages_listen(struct as_messages *m, as_message_matched *matched, void *context)
{
    m->matched = matched;
    m->context = context;
}
