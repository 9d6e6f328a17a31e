/* SPDX-License-Identifier: Apache-2.0 */
/* Wait states, the critical path and delay costs of programs with made-up times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analytics/match/collectives.h"
#include "analytics/waits/delay_costs.h"
#include "analytics/waits/waits.h"

#define NOBODY AS_WAIT_UNKNOWN

static void assert_wait(const struct as_wait *w, enum as_wait_kind kind, uint32_t location,
                        uint32_t cause, int64_t begin_ns, int64_t end_ns)
{
    assert_string_equal(as_wait_word((enum as_wait_kind)w->kind), as_wait_word(kind));
    assert_int_equal(w->location, location);
    assert_int_equal(w->cause, cause);
    assert_int_equal(w->begin_ns, begin_ns);
    assert_int_equal(w->end_ns, end_ns);
}

/* ---- Messages -------------------------------------------------------------------------------- */

/* From location 0 to 1. */
static struct as_message message_of(int64_t send_begin, int64_t send_enter, int64_t send_leave,
                                    int64_t post, int64_t enter, int64_t leave)
{
    return (struct as_message){.send = {0, 10, 10, 0, send_begin, send_enter, send_leave},
                               .receive = {1, 11, 11, 0, post, enter, leave},
                               .from = 0,
                               .to = 1};
}

static void test_late_sender(void **state)
{
    (void)state;
    struct as_wait_list list = {0};
    struct as_wait_recent recent = {.n = 0};
    struct as_message m = message_of(100, 100, 105, 20, 20, 110);
    assert_int_equal(as_waits_of_message(&m, AS_EAGER_NEVER, &recent, &list), 0);
    /* Posted long before, completed in a call that begins after the send: without a wait. */
    m = message_of(100, 100, 105, 20, 101, 103);
    assert_int_equal(as_waits_of_message(&m, AS_EAGER_NEVER, &recent, &list), 0);
    /* A clock that is off: the receive was left before the message was sent. */
    m = message_of(100, 100, 105, 20, 20, 90);
    assert_int_equal(as_waits_of_message(&m, AS_EAGER_NEVER, &recent, &list), 0);
    assert_int_equal(list.wait.n, 2);
    assert_wait(&list.wait.at[0], AS_WAIT_LATE_SENDER, 1, 0, 20, 100);
    assert_int_equal(list.wait.at[0].site, 11);
    assert_int_equal(list.wait.at[0].cause_site, 10);
    assert_wait(&list.wait.at[1], AS_WAIT_LATE_SENDER, 1, 0, 20, 90);
    as_vec_fini(&list.wait);
}

static void test_late_receiver(void **state)
{
    (void)state;
    struct as_wait_list list = {0};
    struct as_wait_recent recent = {.n = 0};
    struct as_message m = message_of(100, 100, 200, 180, 180, 201);
    assert_int_equal(as_waits_of_message(&m, AS_EAGER_NEVER, &recent, &list), 0);
    /* The send was done before: a buffer took the message. */
    m = message_of(100, 100, 110, 180, 180, 201);
    assert_int_equal(as_waits_of_message(&m, AS_EAGER_NEVER, &recent, &list), 0);
    /* It does not block, and is waited for from 150 on. */
    m = message_of(100, 150, 200, 180, 180, 201);
    assert_int_equal(as_waits_of_message(&m, AS_EAGER_NEVER, &recent, &list), 0);
    assert_int_equal(list.wait.n, 2);
    assert_wait(&list.wait.at[0], AS_WAIT_LATE_RECEIVER, 0, 1, 100, 180);
    assert_wait(&list.wait.at[1], AS_WAIT_LATE_RECEIVER, 0, 1, 150, 180);
    as_vec_fini(&list.wait);
}

static void test_wrong_order(void **state)
{
    (void)state;
    struct as_wait_list list = {0};
    struct as_wait_recent recent = {.n = 0};
    struct as_message second = message_of(100, 100, 101, 20, 20, 102);
    struct as_message first = message_of(10, 10, 11, 103, 103, 104);
    struct as_message later = message_of(150, 150, 151, 120, 120, 152);
    assert_int_equal(as_waits_of_message(&second, AS_EAGER_NEVER, &recent, &list), 0);
    assert_int_equal(as_waits_of_message(&first, AS_EAGER_NEVER, &recent, &list), 0);
    assert_int_equal(as_waits_of_message(&later, AS_EAGER_NEVER, &recent, &list), 0);
    assert_int_equal(list.wait.n, 2);
    assert_wait(&list.wait.at[0], AS_WAIT_WRONG_ORDER, 1, 0, 20, 100);
    assert_wait(&list.wait.at[1], AS_WAIT_LATE_SENDER, 1, 0, 120, 150);
    as_vec_fini(&list.wait);
}

/* ---- Collectives ----------------------------------------------------------------------------- */

static struct as_wait_list met;

static int keep_waits(void *context, const struct as_collective *gathering)
{
    (void)context;
    return as_waits_of_collective(gathering, &met);
}

static void leave_at(struct as_collectives *g, uint64_t number, uint32_t rank, int64_t enter,
                     int64_t leave)
{
    struct as_collective_member m = {
        .location = rank, .begin_ns = enter, .enter_ns = enter, .leave_ns = leave};
    assert_int_equal(as_collectives_leave(g, 9, number, rank, &m), 0);
}

/* Ranks enter at 10, 50, 30 and leave at 60, 61, 64. */
static void gather_three(enum as_collective_kind kind, int64_t root)
{
    static const int64_t enter[] = {10, 50, 30}, leave[] = {60, 61, 64};
    struct as_collectives *g;
    met.wait.n = 0;
    assert_int_equal(as_collectives_new(&g, keep_waits, NULL), 0);
    for (uint32_t r = 0; r < 3; r++) {
        uint64_t number;
        assert_int_equal(as_collectives_begin(g, 9, 3, r, kind, root, &number), 0);
        assert_int_equal(number, 0);
        leave_at(g, number, r, enter[r], leave[r]);
    }
    assert_int_equal(as_collectives_unmatched(g), 0);
    as_collectives_free(&g);
}

static void test_barrier(void **state)
{
    (void)state;
    gather_three(AS_COLLECTIVE_KIND_BARRIER, -1);
    assert_int_equal(met.wait.n, 4);
    assert_wait(&met.wait.at[0], AS_WAIT_BARRIER, 0, 1, 10, 50);
    assert_wait(&met.wait.at[1], AS_WAIT_BARRIER_COMPLETION, 1, NOBODY, 60, 61);
    assert_wait(&met.wait.at[2], AS_WAIT_BARRIER, 2, 1, 30, 50);
    assert_wait(&met.wait.at[3], AS_WAIT_BARRIER_COMPLETION, 2, NOBODY, 60, 64);
}

static void test_rooted(void **state)
{
    (void)state;
    gather_three(AS_COLLECTIVE_KIND_ONE_TO_ALL, 1);
    assert_int_equal(met.wait.n, 2);
    assert_wait(&met.wait.at[0], AS_WAIT_LATE_BROADCAST, 0, 1, 10, 50);
    assert_wait(&met.wait.at[1], AS_WAIT_LATE_BROADCAST, 2, 1, 30, 50);
    gather_three(AS_COLLECTIVE_KIND_ONE_TO_ALL, 0);
    assert_int_equal(met.wait.n, 0);
    gather_three(AS_COLLECTIVE_KIND_ALL_TO_ONE, 0);
    assert_int_equal(met.wait.n, 1);
    assert_wait(&met.wait.at[0], AS_WAIT_EARLY_REDUCE, 0, 1, 10, 50);
    gather_three(AS_COLLECTIVE_KIND_SCAN, -1);
    assert_int_equal(met.wait.n, 1);
    assert_wait(&met.wait.at[0], AS_WAIT_EARLY_SCAN, 2, 1, 30, 50);
    gather_three(AS_COLLECTIVE_KIND_NEIGHBOURHOOD, -1);
    assert_int_equal(met.wait.n, 0);
}

/* One member is operations ahead; two that do not block are completed in the other order. */
static void test_members_ahead(void **state)
{
    (void)state;
    struct as_collectives *g;
    uint64_t number[2][2];
    met.wait.n = 0;
    assert_int_equal(as_collectives_new(&g, keep_waits, NULL), 0);
    for (uint32_t r = 0; r < 2; r++)
        for (unsigned i = 0; i < 2; i++) {
            uint64_t *to = &number[r][i];
            assert_int_equal(
                as_collectives_begin(g, 9, 2, r, AS_COLLECTIVE_KIND_ALL_TO_ALL, -1, to), 0);
        }
    leave_at(g, number[0][1], 0, 200, 260);
    leave_at(g, number[0][0], 0, 261, 261);
    assert_int_equal(as_collectives_unmatched(g), 2);
    leave_at(g, number[1][0], 1, 100, 150);
    leave_at(g, number[1][1], 1, 250, 260);
    assert_int_equal(as_collectives_unmatched(g), 0);
    assert_int_equal(met.wait.n, 2);
    assert_wait(&met.wait.at[0], AS_WAIT_ALL, 1, 0, 100, 150);
    assert_wait(&met.wait.at[1], AS_WAIT_ALL, 0, 1, 200, 250);
    as_collectives_free(&g);
}

/* ---- Causes ---------------------------------------------------------------------------------- */

/* Rank 0 computes until 100 and sends to 1, which computes until 150 more and sends to 2. */
static struct as_wait_list chain_of_three(void)
{
    static const struct as_wait waits[] = {
        {.kind = AS_WAIT_LATE_SENDER,
         .location = 1,
         .site = 5,
         .cause = 0,
         .cause_site = 6,
         .begin_ns = 10,
         .end_ns = 100,
         .cause_ns = 100},
        {.kind = AS_WAIT_LATE_SENDER,
         .location = 2,
         .site = 5,
         .cause = 1,
         .cause_site = 7,
         .begin_ns = 20,
         .end_ns = 250,
         .cause_ns = 250},
    };
    struct as_wait_list list = {0};
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(as_vec_push(&list.wait, waits[i]), 0);
    return list;
}

static void test_critical_path(void **state)
{
    (void)state;
    static const struct as_span span[] = {{0, 120, NOBODY}, {0, 260, NOBODY}, {0, 300, NOBODY}};
    struct as_wait_list list = chain_of_three();
    struct as_causes *causes;
    struct as_critical_path path = {0};
    assert_int_equal(as_causes_new(&causes, &list, span, 3), 0);
    assert_int_equal(as_causes_path(causes, &path), 0);
    static const struct as_path_piece pieces[] = {{2, 250, 300}, {1, 100, 250}, {0, 0, 100}};
    assert_int_equal(path.piece.n, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(path.piece.at[i].location, pieces[i].location);
        assert_int_equal(path.piece.at[i].begin_ns, pieces[i].begin_ns);
        assert_int_equal(path.piece.at[i].end_ns, pieces[i].end_ns);
    }
    as_causes_free(&causes);
    as_vec_fini(&path.piece);
    as_vec_fini(&list.wait);
}

/* Rank 2 waited 230, and 90 of these because rank 1 had waited for rank 0. */
static void test_costs_are_handed_on(void **state)
{
    (void)state;
    static const struct as_span span[] = {{0, 120, NOBODY}, {0, 260, NOBODY}, {0, 300, NOBODY}};
    struct as_wait_list list = chain_of_three();
    struct as_causes *causes;
    struct as_delay_cost_list blames = {0};
    assert_int_equal(as_causes_new(&causes, &list, span, 3), 0);
    assert_int_equal(as_causes_blame(causes, &blames), 0);
    assert_int_equal(blames.blame.n, 2);
    assert_int_equal(blames.blame.at[0].location, 0);
    assert_int_equal(blames.blame.at[0].site, 6);
    assert_int_equal(blames.blame.at[0].direct_ns, 90);
    assert_int_equal(blames.blame.at[0].total_ns, 180);
    assert_int_equal(blames.blame.at[1].location, 1);
    assert_int_equal(blames.blame.at[1].direct_ns, 230);
    assert_int_equal(blames.blame.at[1].total_ns, 140);
    as_causes_free(&causes);
    as_vec_fini(&blames.blame);
    as_vec_fini(&list.wait);
}

/* Random waits: pieces join and cover the run, no cost is lost. */
static void test_nothing_is_lost(void **state)
{
    (void)state;
    enum { LOCATIONS_N = 4, WAITS_N = 500 };
    struct as_span span[LOCATIONS_N];
    struct as_wait_list list = {0};
    struct as_causes *causes;
    struct as_delay_cost_list blames = {0};
    struct as_critical_path path = {0};
    int64_t now[LOCATIONS_N] = {0}, waited = 0, blamed = 0;
    srand(7);
    for (unsigned i = 0; i < WAITS_N; i++) {
        uint32_t who = (uint32_t)rand() % LOCATIONS_N, whom = (uint32_t)rand() % LOCATIONS_N;
        now[who] += rand() % 50;
        now[whom] += rand() % 50;
        if (who == whom || now[whom] <= now[who])
            continue;
        struct as_wait wait = {.kind = AS_WAIT_LATE_SENDER,
                               .location = who,
                               .site = 1,
                               .cause = whom,
                               .cause_site = whom,
                               .begin_ns = now[who],
                               .end_ns = now[whom],
                               .cause_ns = now[whom]};
        assert_int_equal(as_vec_push(&list.wait, wait), 0);
        waited += wait.end_ns - wait.begin_ns;
        now[who] = now[whom];
    }
    int64_t end = 0;
    for (uint32_t l = 0; l < LOCATIONS_N; l++) {
        span[l] = (struct as_span){0, now[l] + 10, NOBODY};
        end = now[l] + 10 > end ? now[l] + 10 : end;
    }
    assert_int_equal(as_causes_new(&causes, &list, span, LOCATIONS_N), 0);
    assert_int_equal(as_causes_path(causes, &path), 0);
    as_vec_foreach (&path.piece, piece) {
        assert_int_equal(piece->end_ns, end);
        end = piece->begin_ns;
    }
    assert_int_equal(end, 0);
    assert_int_equal(as_causes_blame(causes, &blames), 0);
    as_vec_foreach (&blames.blame, blame)
        blamed += blame->total_ns;
    assert_true(llabs(blamed - waited) <= (int64_t)list.wait.n);
    assert_true(list.wait.n > 100);
    as_causes_free(&causes);
    as_vec_fini(&blames.blame);
    as_vec_fini(&path.piece);
    as_vec_fini(&list.wait);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_sender),     cmocka_unit_test(test_late_receiver),
        cmocka_unit_test(test_wrong_order),     cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_rooted),          cmocka_unit_test(test_members_ahead),
        cmocka_unit_test(test_critical_path),   cmocka_unit_test(test_costs_are_handed_on),
        cmocka_unit_test(test_nothing_is_lost),
    };
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    as_vec_fini(&met.wait);
    return rc;
}
