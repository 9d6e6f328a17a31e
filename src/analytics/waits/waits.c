/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/waits/waits.h"

#include <stdbool.h>

#include "base/error.h"
#include "base/sort.h"

#define NAMED(name, word, title) {word, title},
static const struct {
    const char *word, *title;
} kinds[AS_WAIT_KINDS_N] = {AS_WAITS(NAMED)};
#undef NAMED

const char *as_wait_word(enum as_wait_kind kind)
{
    return (unsigned)kind < AS_WAIT_KINDS_N ? kinds[kind].word : "?";
}

const char *as_wait_title(enum as_wait_kind kind)
{
    return (unsigned)kind < AS_WAIT_KINDS_N ? kinds[kind].title : "?";
}

static int64_t earlier_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int add_wait(struct as_wait_list *out, struct as_wait wait)
{
    return wait.end_ns > wait.begin_ns ? as_vec_push(&out->wait, wait) : 0;
}

/* ---- Each moment once ------------------------------------------------------------------------ */

/* Messages in wrong order are a variant of late senders. */
static unsigned main_kind(const struct as_wait *wait)
{
    return wait->kind == AS_WAIT_WRONG_ORDER ? AS_WAIT_LATE_SENDER : wait->kind;
}

/* Returns whether the first of two waits has the moments that both cover. */
static bool has_moment(const struct as_wait *a, const struct as_wait *b)
{
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns;
    if (main_kind(a) != main_kind(b))
        return main_kind(a) < main_kind(b);
    if (a->cause != b->cause)
        return a->cause < b->cause;
    return a->cause_site < b->cause_site;
}

/* Places of all waits, by thread and then by their begin. */
static int order_waits(const struct as_wait_list *list, struct as_sort_key *key)
{
    const uint32_t n = (uint32_t)list->wait.n;
    for (uint32_t i = 0; i < n; i++)
        key[i] = (struct as_sort_key){(uint64_t)list->wait.at[i].begin_ns ^ (uint64_t)1 << 63, i};
    AS_TRY(as_sort_keys(key, n));
    for (uint32_t i = 0; i < n; i++)
        key[i].key = list->wait.at[key[i].at].location;
    return as_sort_keys(key, n);
}

/* Cuts each wait at the begin of a later one that has the moments behind it. Drops those without a
 * moment. The rest of a wait is one piece from its begin. */
static void trim_waits(struct as_wait_list *list, const struct as_sort_key *key)
{
    struct as_wait *last = NULL; /* of its thread: the one that has the latest moments */
    for (size_t i = 0; i < list->wait.n; i++) {
        struct as_wait *wait = &list->wait.at[key[i].at];
        if (last && last->location == wait->location && last->end_ns > wait->begin_ns) {
            if (!has_moment(wait, last)) {
                wait->end_ns = wait->begin_ns;
                continue;
            }
            last->end_ns = wait->begin_ns;
        }
        last = wait;
    }
}

int as_waits_once(struct as_wait_list *list)
{
    struct as_sort_key *key = as_malloc_large(list->wait.n + 1, sizeof *key);
    const int rc = key ? order_waits(list, key) : AS_ERR_NOMEM;
    size_t kept = 0;
    if (rc == 0)
        trim_waits(list, key);
    as_free(key);
    for (size_t i = 0; rc == 0 && i < list->wait.n; i++)
        if (list->wait.at[i].end_ns > list->wait.at[i].begin_ns)
            list->wait.at[kept++] = list->wait.at[i];
    if (rc == 0)
        list->wait.n = kept;
    return rc;
}

void as_waits_drop_eager(struct as_wait_list *list, const uint32_t eager_b[AS_EAGER_PATHS_N])
{
    size_t kept = 0;
    as_vec_foreach (&list->wait, wait)
        if (wait->eager == AS_EAGER_NEVER || wait->sent_b > eager_b[wait->eager])
            list->wait.at[kept++] = *wait;
    list->wait.n = kept;
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* A message that was sent earlier is taken after the wait for another has ended. */
static bool is_wrong_order(const struct as_wait *wait, int64_t sent_ns, int64_t enter_ns)
{
    return sent_ns < wait->cause_ns && enter_ns >= wait->end_ns;
}

static uint32_t recent_n(uint32_t n)
{
    return n < AS_WAIT_RECENT_N ? n : AS_WAIT_RECENT_N;
}

/* Marks waits for messages that were sent later than this one. */
static void find_wrong_order(const struct as_message *message, struct as_wait_recent *recent,
                             struct as_wait_list *list)
{
    const int64_t sent_ns = message->send.begin_ns, enter_ns = message->receive.enter_ns;
    for (uint32_t i = 0; i < recent_n(recent->n); i++)
        if (is_wrong_order(&list->wait.at[recent->wait[i]], sent_ns, enter_ns))
            list->wait.at[recent->wait[i]].kind = AS_WAIT_WRONG_ORDER;
    const uint32_t at = recent->messages_n++ % AS_WAIT_RECENT_N;
    recent->message[at].sent_ns = sent_ns;
    recent->message[at].enter_ns = enter_ns;
}

/* A new wait, against messages that are known already. */
static void add_recent_wait(struct as_wait_list *list, uint32_t at, struct as_wait_recent *recent)
{
    for (uint32_t i = 0; i < recent_n(recent->messages_n); i++)
        if (is_wrong_order(&list->wait.at[at], recent->message[i].sent_ns,
                           recent->message[i].enter_ns))
            list->wait.at[at].kind = AS_WAIT_WRONG_ORDER;
    recent->wait[recent->n++ % AS_WAIT_RECENT_N] = at;
}

unsigned as_size_class_of(int64_t size_b)
{
    return size_b > 0 ? 64u - (unsigned)__builtin_clzll((unsigned long long)size_b) : 0;
}

/* Only sends in standard mode may be eager. */
static bool is_standard(const struct as_message *message)
{
    return !(message->send.bits & (AS_MESSAGE_SYNCHRONOUS | AS_MESSAGE_LOCAL));
}

bool as_waits_prove_eager(const struct as_message *message)
{
    return is_standard(message) && message->send.leave_ns <= message->receive.begin_ns;
}

int as_waits_of_message(const struct as_message *message, enum as_eager_path path,
                        struct as_wait_recent *receiver, struct as_wait_list *out)
{
    const struct as_message_side *send = &message->send, *receive = &message->receive;
    const uint64_t sent_b = message->sent_b > 0 ? (uint64_t)message->sent_b : 0;
    find_wrong_order(message, receiver, out);
    if (send->begin_ns > receive->enter_ns) {
        size_t n = out->wait.n;
        AS_TRY(add_wait(out, (struct as_wait){
                                 .kind = AS_WAIT_LATE_SENDER,
                                 .moves_data = true,
                                 .size_class = (uint8_t)as_size_class_of(message->received_b),
                                 .location = receive->location,
                                 .site = receive->site,
                                 .cause = send->location,
                                 .cause_site = send->arrival_site,
                                 .begin_ns = receive->enter_ns,
                                 .end_ns = earlier_of(send->begin_ns, receive->leave_ns),
                                 .cause_ns = send->begin_ns,
                             }));
        if (out->wait.n > n)
            add_recent_wait(out, (uint32_t)n, receiver);
        return 0;
    }
    /* A send that is done before its receive is asked for did not wait for it. */
    if (receive->begin_ns >= send->leave_ns || (send->bits & AS_MESSAGE_LOCAL))
        return 0;
    return add_wait(out, (struct as_wait){
                             .kind = AS_WAIT_LATE_RECEIVER,
                             .moves_data = true,
                             .eager = (uint8_t)(is_standard(message) ? path : AS_EAGER_NEVER),
                             .sent_b = sent_b < UINT32_MAX ? (uint32_t)sent_b : UINT32_MAX,
                             .location = send->location,
                             .site = send->site,
                             .cause = receive->location,
                             .cause_site = receive->arrival_site,
                             .begin_ns = send->enter_ns,
                             .end_ns = receive->begin_ns,
                             .cause_ns = receive->begin_ns,
                         });
}

/* ---- Collectives ----------------------------------------------------------------------------- */

struct member_range {
    uint32_t from, to;
};

static uint32_t latest_in(const struct as_collective *collective, struct member_range range)
{
    uint32_t latest = range.from;
    for (uint32_t r = range.from + 1; r < range.to; r++)
        if (collective->member[r].begin_ns > collective->member[latest].begin_ns)
            latest = r;
    return latest;
}

static int wait_for_member(const struct as_collective *collective, uint32_t who, uint32_t cause,
                           enum as_wait_kind kind, struct as_wait_list *out)
{
    const struct as_collective_member *m = &collective->member[who],
                                      *c = &collective->member[cause];
    if (who == cause)
        return 0;
    return add_wait(out, (struct as_wait){
                             .kind = (uint8_t)kind,
                             .moves_data = m->moves_data,
                             .location = m->location,
                             .site = m->site,
                             .cause = c->location,
                             .cause_site = c->arrival_site,
                             .begin_ns = m->enter_ns,
                             .end_ns = earlier_of(c->begin_ns, m->leave_ns),
                             .cause_ns = c->begin_ns,
                         });
}

/* Adds waits of the members of one range for the last of another, which may be the same range. Adds
 * `completion` waits for members that leave later than the first. */
static int wait_for_range(const struct as_collective *collective, struct member_range waiting,
                          struct member_range awaited, enum as_wait_kind kind,
                          enum as_wait_kind completion, struct as_wait_list *out)
{
    uint32_t latest = latest_in(collective, awaited);
    int64_t done_ns = collective->member[waiting.from].leave_ns;
    for (uint32_t r = waiting.from + 1; r < waiting.to; r++)
        done_ns = earlier_of(done_ns, collective->member[r].leave_ns);
    if (done_ns < collective->member[latest].begin_ns)
        done_ns = collective->member[latest].begin_ns;
    for (uint32_t r = waiting.from; r < waiting.to; r++) {
        const struct as_collective_member *m = &collective->member[r];
        AS_TRY(wait_for_member(collective, r, latest, kind, out));
        if (completion == AS_WAIT_KINDS_N)
            continue;
        AS_TRY(add_wait(out, (struct as_wait){
                                 .kind = (uint8_t)completion,
                                 .moves_data = m->moves_data,
                                 .location = m->location,
                                 .site = m->site,
                                 .cause = AS_WAIT_UNKNOWN,
                                 .cause_site = AS_WAIT_UNKNOWN,
                                 .begin_ns = done_ns > m->enter_ns ? done_ns : m->enter_ns,
                                 .end_ns = m->leave_ns,
                                 .cause_ns = done_ns,
                             }));
    }
    return 0;
}

/* All wait for the last; of two groups, for the last of the other one. */
static int wait_for_all(const struct as_collective *collective, enum as_wait_kind kind,
                        enum as_wait_kind completion, struct as_wait_list *out)
{
    const struct member_range all = {0, collective->member_n};
    const struct member_range first = {0, collective->first_n};
    const struct member_range second = {collective->first_n, collective->member_n};
    if (first.to == 0 || second.from >= second.to)
        return wait_for_range(collective, all, all, kind, completion, out);
    AS_TRY(wait_for_range(collective, first, second, kind, completion, out));
    return wait_for_range(collective, second, first, kind, completion, out);
}

static bool root_is_known(const struct as_collective *collective)
{
    return collective->root >= 0 && collective->root < collective->member_n;
}

/* Returns whether two members depend on each other: with two groups, members of different
 * groups. */
static bool needs_each_other(const struct as_collective *collective, uint32_t a, uint32_t b)
{
    const uint32_t first_n = collective->first_n;
    return first_n ? (a < first_n) != (b < first_n) : a != b;
}

/* The root is done when it has the last contribution. Ranks that contribute no byte (MPI_Gatherv)
 * are not waited for, unless no rank has bytes. */
static int wait_of_root(const struct as_collective *collective, struct as_wait_list *out)
{
    const uint32_t root = (uint32_t)collective->root;
    uint32_t latest = root;
    for (uint32_t r = 0; r < collective->member_n; r++) {
        const struct as_collective_member *m = &collective->member[r];
        const struct as_collective_member *l = &collective->member[latest];
        if (needs_each_other(collective, r, root) &&
            (latest == root ||
             (m->is_empty == l->is_empty ? m->begin_ns > l->begin_ns : l->is_empty)))
            latest = r;
    }
    return wait_for_member(collective, root, latest, AS_WAIT_EARLY_REDUCE, out);
}

/* Each waits for the last of those that it gets something from. */
static int wait_for_neighbours(const struct as_collective *collective, struct as_wait_list *out)
{
    const struct as_neighbours *near = collective->near;
    for (uint32_t r = 0; near && r < collective->member_n; r++) {
        uint32_t latest = r;
        for (uint32_t i = near->first[r]; i < near->first[r + 1]; i++)
            if (near->in[i] != r && (latest == r || collective->member[near->in[i]].begin_ns >
                                                        collective->member[latest].begin_ns))
                latest = near->in[i];
        AS_TRY(wait_for_member(collective, r, latest, AS_WAIT_NEIGHBOURS, out));
    }
    return 0;
}

int as_waits_of_threads(const struct as_collective *collective, enum as_wait_kind kind,
                        struct as_wait_list *out)
{
    return wait_for_all(collective, kind, AS_WAIT_KINDS_N, out);
}

int as_waits_of_collective(const struct as_collective *collective, struct as_wait_list *out)
{
    uint32_t n = collective->member_n;
    switch (collective->kind) {
    case AS_COLLECTIVE_KIND_BARRIER:
        return wait_for_all(collective, AS_WAIT_BARRIER, AS_WAIT_BARRIER_COMPLETION, out);
    case AS_COLLECTIVE_KIND_ALL_TO_ALL:
        return wait_for_all(collective, AS_WAIT_ALL, AS_WAIT_ALL_COMPLETION, out);
    case AS_COLLECTIVE_KIND_ONE_TO_ALL:
        for (uint32_t r = 0; root_is_known(collective) && r < n; r++)
            if (needs_each_other(collective, r, (uint32_t)collective->root))
                AS_TRY(wait_for_member(collective, r, (uint32_t)collective->root,
                                       AS_WAIT_LATE_BROADCAST, out));
        return 0;
    case AS_COLLECTIVE_KIND_ALL_TO_ONE:
        return root_is_known(collective) ? wait_of_root(collective, out) : 0;
    case AS_COLLECTIVE_KIND_SCAN:
        for (uint32_t r = 1; r < n; r++)
            AS_TRY(wait_for_member(collective, r,
                                   latest_in(collective, (struct member_range){0, r}),
                                   AS_WAIT_EARLY_SCAN, out));
        return 0;
    case AS_COLLECTIVE_KIND_FENCE:
        return wait_for_all(collective, AS_WAIT_FENCE, AS_WAIT_KINDS_N, out);
    case AS_COLLECTIVE_KIND_WINDOW:
        return wait_for_all(collective, AS_WAIT_WINDOW, AS_WAIT_KINDS_N, out);
    case AS_COLLECTIVE_KIND_NEIGHBOURHOOD:
        return wait_for_neighbours(collective, out);
    default:
        return 0;
    }
}
