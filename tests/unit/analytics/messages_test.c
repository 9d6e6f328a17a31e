/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which receive took which message, against a small MPI that does it by the rules of the standard:
 * messages travel in order, receives are posted with and without wildcards, and are completed in
 * any order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analytics/match/messages.h"

#define RANKS_N    3
#define MESSAGES_N 400

/* ---- The small MPI --------------------------------------------------------------------------- */

struct sent {
    int64_t from, to, tag;
    bool is_taken;
    bool is_told;
    uint32_t number;
};

struct posted {
    int64_t to, source, tag;
    int taken; /* message, -1: none yet */
    bool is_told;
    uint32_t number;
};

struct world {
    struct sent sent[MESSAGES_N];
    struct posted posted[MESSAGES_N];
    int sent_n, posted_n;
};

static bool would_take(const struct posted *p, const struct sent *s)
{
    return p->taken < 0 && !s->is_taken && p->to == s->to &&
           (p->source == AS_MESSAGE_ANY || p->source == s->from) &&
           (p->tag == AS_MESSAGE_ANY || p->tag == s->tag);
}

/* A message arrives: the first posted receive takes it, or it waits. */
static void world_send(struct world *w, int64_t from, int64_t to, int64_t tag)
{
    struct sent *s = &w->sent[w->sent_n++];
    *s = (struct sent){from, to, tag, false, false, 0};
    for (int i = 0; i < w->posted_n; i++)
        if (would_take(&w->posted[i], s)) {
            w->posted[i].taken = w->sent_n - 1;
            s->is_taken = true;
            return;
        }
}

/* A receive takes the first that waits. */
static void world_post(struct world *w, int64_t to, int64_t source, int64_t tag)
{
    struct posted *p = &w->posted[w->posted_n++];
    *p = (struct posted){to, source, tag, -1, false, 0};
    for (int i = 0; i < w->sent_n; i++)
        if (would_take(p, &w->sent[i])) {
            p->taken = i;
            w->sent[i].is_taken = true;
            return;
        }
}

/* ---- What is said of it ---------------------------------------------------------------------- */

struct explanation {
    struct world *world;
    int matched_n;
    bool is_wrong;
};

/* Sides carry the numbers of message and receive as their times. */
static int check_match(void *context, const struct as_message *message)
{
    struct explanation *told = context;
    int s = (int)message->send.begin_ns, p = (int)message->receive.begin_ns;
    told->matched_n++;
    if (told->world->posted[p].taken != s || message->tag != told->world->sent[s].tag)
        told->is_wrong = true;
    return 0;
}

static void tell_send(struct as_messages *m, struct world *w, int i)
{
    struct as_message_side side = {.begin_ns = i};
    w->sent[i].is_told = true;
    assert_int_equal(as_messages_sent(m, w->sent[i].number, 8, &side), 0);
}

/* The latest is sent. */
static void tell_begin(struct as_messages *m, struct world *w)
{
    struct sent *s = &w->sent[w->sent_n - 1];
    assert_int_equal(as_messages_begin(m, 1, s->from, s->to, s->tag, &s->number), 0);
}

static void tell_done(struct as_messages *m, struct world *w, int i)
{
    struct as_message_side side = {.begin_ns = i};
    const struct sent *s = &w->sent[w->posted[i].taken];
    w->posted[i].is_told = true;
    assert_int_equal(as_messages_receive(m, w->posted[i].number, s->from, s->tag, 8, &side), 0);
}

/* One of the first `most` that are done and not told; -1: there is none. */
static int pick_done(const struct world *w, int most)
{
    int found[MESSAGES_N], n = 0;
    for (int i = 0; i < w->posted_n && n < most; i++)
        if (w->posted[i].taken >= 0 && !w->posted[i].is_told)
            found[n++] = i;
    return n ? found[rand() % n] : -1;
}

/* One of the first sends that are not complete. */
static int pick_untold(const struct world *w)
{
    int found[6], n = 0;
    for (int i = 0; i < w->sent_n && n < 6; i++)
        if (!w->sent[i].is_told)
            found[n++] = i;
    return n ? found[rand() % n] : -1;
}

/* Sends begin in their order; they and receives are complete in any order. */
static void play(unsigned seed, int wild_percent)
{
    static struct world w;
    memset(&w, 0, sizeof w);
    srand(seed);
    struct explanation told = {.world = &w};
    struct as_messages *m;
    assert_int_equal(as_messages_new(&m, check_match, &told), 0);
    for (int step = 0; step < 6 * MESSAGES_N; step++) {
        int what = rand() % 5, at;
        if (what == 0 && w.sent_n < MESSAGES_N) {
            world_send(&w, rand() % RANKS_N, rand() % RANKS_N, rand() % 2);
            tell_begin(m, &w);
        } else if (what == 1 && w.posted_n < MESSAGES_N) {
            bool any_source = rand() % 100 < wild_percent, any_tag = rand() % 100 < wild_percent;
            world_post(&w, rand() % RANKS_N, any_source ? AS_MESSAGE_ANY : rand() % RANKS_N,
                       any_tag ? AS_MESSAGE_ANY : rand() % 2);
            struct posted *p = &w.posted[w.posted_n - 1];
            assert_int_equal(as_messages_post(m, 1, p->to, p->source, p->tag, &p->number), 0);
        } else if (what == 2 && (at = pick_untold(&w)) >= 0) {
            tell_send(m, &w, at);
        } else if (what >= 3 && (at = pick_done(&w, 6)) >= 0) {
            tell_done(m, &w, at);
        }
    }
    for (int at; (at = pick_untold(&w)) >= 0;)
        tell_send(m, &w, at);
    for (int at; (at = pick_done(&w, MESSAGES_N)) >= 0;)
        tell_done(m, &w, at);
    struct as_messages_count count;
    assert_int_equal(as_messages_finish(m, &count), 0);
    int taken_n = 0;
    for (int i = 0; i < w.sent_n; i++)
        taken_n += w.sent[i].is_taken;
    assert_false(told.is_wrong);
    assert_int_equal(told.matched_n, taken_n);
    assert_int_equal(count.matched_n, taken_n);
    assert_int_equal(count.sends_n, w.sent_n - taken_n);
    assert_int_equal(count.receives_n, 0);
    assert_true(taken_n > MESSAGES_N / 4);
    as_messages_free(&m);
}

static void test_without_wildcards(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++)
        play(seed, 0);
}

static void test_with_wildcards(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++)
        play(seed, seed % 2 ? 20 : 70);
}

/* A receive that is cancelled lets those behind it go on. */
static void test_cancelled_receive(void **state)
{
    (void)state;
    static struct world w;
    memset(&w, 0, sizeof w);
    struct explanation told = {.world = &w};
    struct as_messages *m;
    struct as_messages_count count;
    uint32_t wild;
    assert_int_equal(as_messages_new(&m, check_match, &told), 0);
    assert_int_equal(as_messages_post(m, 1, 1, AS_MESSAGE_ANY, 5, &wild), 0);
    world_post(&w, 1, 0, 3);
    world_send(&w, 0, 1, 3);
    assert_int_equal(as_messages_post(m, 1, 1, 0, 3, &w.posted[0].number), 0);
    tell_begin(m, &w);
    tell_send(m, &w, 0);
    tell_done(m, &w, 0);
    assert_int_equal(told.matched_n, 1); /* the other asks for another tag: nothing is held */
    assert_int_equal(as_messages_cancel_post(m, wild), 0);
    assert_int_equal(as_messages_finish(m, &count), 0);
    assert_int_equal(count.matched_n, 1);
    as_messages_free(&m);
}

static void test_without_partner(void **state)
{
    (void)state;
    static struct world w;
    memset(&w, 0, sizeof w);
    struct explanation told = {.world = &w};
    struct as_messages *m;
    struct as_messages_count count;
    assert_int_equal(as_messages_new(&m, check_match, &told), 0);
    world_send(&w, 0, 1, 3);
    tell_begin(m, &w);
    tell_send(m, &w, 0);
    world_post(&w, 2, 1, 3);
    w.posted[0].taken = 0; /* the stream of its sender is lost */
    w.sent[0].from = 1;
    assert_int_equal(as_messages_post(m, 1, 2, 1, 3, &w.posted[0].number), 0);
    tell_done(m, &w, 0);
    assert_int_equal(as_messages_finish(m, &count), 0);
    assert_int_equal(count.matched_n, 0);
    assert_int_equal(count.sends_n, 1);
    assert_int_equal(count.receives_n, 1);
    as_messages_free(&m);
}

/* Messages behind a send that is never complete are matched at the end. Its receive has no partner.
 * A send that is cancelled takes no receive. */
static void test_sends_without_end(void **state)
{
    (void)state;
    static struct world w;
    memset(&w, 0, sizeof w);
    struct explanation told = {.world = &w};
    struct as_messages *m;
    struct as_messages_count count;
    uint32_t cancelled;
    assert_int_equal(as_messages_new(&m, check_match, &told), 0);
    assert_int_equal(as_messages_begin(m, 1, 0, 1, 3, &cancelled), 0);
    for (int i = 0; i < 3; i++) {
        world_send(&w, 0, 1, 3);
        tell_begin(m, &w);
        world_post(&w, 1, 0, 3);
        assert_int_equal(as_messages_post(m, 1, 1, 0, 3, &w.posted[i].number), 0);
        tell_done(m, &w, i);
    }
    tell_send(m, &w, 0);
    tell_send(m, &w, 2);
    assert_int_equal(told.matched_n, 0);
    assert_int_equal(as_messages_unsend(m, cancelled), 0);
    assert_int_equal(told.matched_n, 1);
    assert_int_equal(as_messages_finish(m, &count), 0); /* the second is not complete */
    assert_false(told.is_wrong);
    assert_int_equal(count.matched_n, 2);
    assert_int_equal(count.sends_n, 0);
    assert_int_equal(count.receives_n, 1);
    as_messages_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_wildcards), cmocka_unit_test(test_with_wildcards),
        cmocka_unit_test(test_cancelled_receive), cmocka_unit_test(test_without_partner),
        cmocka_unit_test(test_sends_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
