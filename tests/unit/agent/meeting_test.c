/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that synchronise through files, as threads. The ranks that return with a list are exactly
 * those on it. Ranks may be missing or slow, or left over from an earlier job. Otherwise a job
 * would hang.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/tracer/rendezvous.h"
#include "directory.h"

#define RANKS 8
/* Limit for a member that waits for a missing one while others arrive: counted in looks of all, see
 * below. */
#define LIMIT_NS INT64_C(15000000000)
#define LOOK_NS  INT64_C(100000000)
#define LONG_NS  INT64_C(300000000000) /* for a member that waits for all, if all arrive */
#define SHORT_NS INT64_C(75000000)     /* where each answer is right, if it is one */

struct member {
    struct as_rank_rendezvous meeting;
    int64_t late_ns;
    const struct member *behind; /* comes when that one has its answer */
    _Atomic bool is_over;
    bool is_absent;
    bool is_held; /* the answer */
    int rank[RANKS], n;
    int64_t look_n; /* -1: it has no part in the clock of looks */
    struct member *next;
    pthread_t thread;
};

/* ---- A clock of looks ------------------------------------------------------------------------ */

/* Time advances by LOOK_NS when each present member has looked once more: a member without a CPU
 * does not miss it. */
static struct {
    pthread_mutex_t lock;
    struct member *first;
} clock_of_looks = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local struct member *self;

static int64_t least_look_n(void)
{
    int64_t least = INT64_MAX;
    for (const struct member *it = clock_of_looks.first; it; it = it->next)
        least = it->look_n < least ? it->look_n : least;
    return least == INT64_MAX ? 0 : least;
}

static void join_clock(struct member *member)
{
    pthread_mutex_lock(&clock_of_looks.lock);
    member->look_n = least_look_n();
    member->next = clock_of_looks.first;
    clock_of_looks.first = member;
    pthread_mutex_unlock(&clock_of_looks.lock);
}

static void leave_clock(struct member *member)
{
    pthread_mutex_lock(&clock_of_looks.lock);
    struct member **at = &clock_of_looks.first;
    while (*at != member)
        at = &(*at)->next;
    *at = member->next;
    pthread_mutex_unlock(&clock_of_looks.lock);
}

/* In place of the C library's. */
int clock_gettime(clockid_t id, struct timespec *t)
{
    if (id != CLOCK_MONOTONIC || !self || self->look_n < 0)
        return (int)syscall(SYS_clock_gettime, id, t);
    pthread_mutex_lock(&clock_of_looks.lock);
    if (self->look_n == least_look_n())
        self->look_n++;
    const int64_t ns = least_look_n() * LOOK_NS;
    pthread_mutex_unlock(&clock_of_looks.lock);
    *t = (struct timespec){ns / 1000000000, ns % 1000000000};
    return 0;
}

/* ---- Members --------------------------------------------------------------------------------- */

/* `machines`: a letter for each rank; the first of each speaks, or all where `all` is true. */
static int make_members(struct member member[RANKS], const char *machines, bool all,
                        int64_t limit_ns)
{
    const int n = (int)strlen(machines);
    for (int i = 0; i < n; i++) {
        memset(&member[i], 0, sizeof member[i]);
        struct as_rank_rendezvous *m = &member[i].meeting;
        snprintf(m->directory, sizeof m->directory, "%s/meeting", directory);
        m->rank = (uint32_t)i;
        m->size = (uint32_t)n;
        m->machine = (uint64_t)machines[i];
        m->limit_ns = limit_ns;
        member[i].look_n = -1;
        m->role = all || strchr(machines, machines[i]) == machines + i ? AS_RENDEZVOUS_SPEAKS
                                                                       : AS_RENDEZVOUS_PRESENT;
    }
    return n;
}

static void *take_part(void *context)
{
    struct member *member = context;
    const struct timespec late = {member->late_ns / 1000000000, member->late_ns % 1000000000};
    const struct timespec look = {0, 1000000};
    nanosleep(&late, NULL);
    while (member->behind && !member->behind->is_over)
        nanosleep(&look, NULL);
    self = member;
    member->is_held = as_rendezvous_hold(&member->meeting, member->rank, &member->n);
    if (member->look_n >= 0)
        leave_clock(member);
    member->is_over = true;
    return NULL;
}

static void begin(struct member *member, int n)
{
    for (int i = 0; i < n; i++)
        if (!member[i].is_absent)
            assert_int_equal(pthread_create(&member[i].thread, NULL, take_part, &member[i]), 0);
}

static void end(struct member *member, int n)
{
    for (int i = 0; i < n; i++)
        if (!member[i].is_absent)
            pthread_join(member[i].thread, NULL);
}

static void hold(struct member *member, int n)
{
    begin(member, n);
    end(member, n);
}

/* `wanted`: ranks, rank 0 first; none: NULL. */
static void expect(const struct member *member, int n, const char *wanted)
{
    for (int i = 0; i < n; i++) {
        const bool is_in = wanted && strchr(wanted, '0' + i);
        if (member[i].is_held != is_in)
            fail_msg("rank %d of \"%s\": %d", i, wanted ? wanted : "", member[i].is_held);
        if (!is_in)
            continue;
        assert_int_equal(member[i].n, strlen(wanted));
        for (int k = 0; k < member[i].n; k++)
            assert_int_equal(member[i].rank[k], wanted[k] - '0');
    }
}

static void test_all_come(void **state)
{
    struct member member[RANKS];
    (void)state;
    int n = make_members(member, "aabbc", false, LONG_NS);
    hold(member, n);
    expect(member, n, "024");
    n = make_members(member, "abab", true, LONG_NS); /* launchers without the places of ranks */
    hold(member, n);
    expect(member, n, "01");
    n = make_members(member, "aaa", true, LONG_NS);
    hold(member, n);
    expect(member, n, NULL);
}

/* A rank that is not traced is waited for until the limit. A rank that arrives after the decision
 * is refused. The others go on without it. */
static void test_missing(void **state)
{
    struct member absent[RANKS], late[RANKS];
    (void)state;
    int n = make_members(absent, "abc", false, LIMIT_NS);
    absent[1].is_absent = true;
    make_members(late, "abc", false, LIMIT_NS);
    for (int i = 0; i < n; i++)
        strcat(late[i].meeting.directory, ".late");
    late[2].behind = &late[0];
    late[2].meeting.limit_ns = SHORT_NS;
    for (int i = 0; i < n; i++) {
        if (!absent[i].is_absent)
            join_clock(&absent[i]);
        if (!late[i].behind)
            join_clock(&late[i]);
    }
    begin(absent, n);
    hold(late, n);
    end(absent, n);
    expect(absent, n, "02");
    expect(late, n, "01");
}

/* A group with an absent member gets no answer, at any length of the wait. */
static void test_nobody(void **state)
{
    struct member member[RANKS];
    (void)state;
    int n = make_members(member, "abc", false, SHORT_NS);
    member[0].is_absent = true;
    hold(member, n);
    expect(member, n, NULL);
    n = make_members(member, "aabb", false, SHORT_NS);
    member[2].is_absent = true; /* the member that might have answered for it */
    hold(member, n);
    expect(member, n, NULL);
}

/* Rank 0 takes its time. */
static void test_late(void **state)
{
    struct member member[RANKS];
    (void)state;
    const int n = make_members(member, "abc", false, LONG_NS);
    member[0].late_ns = 100000000;
    hold(member, n);
    expect(member, n, "012");
}

/* Files of an earlier job, even one that would have ended alike, do not count: rank 0 of this one
 * is not traced. */
static void test_left_behind(void **state)
{
    struct member member[RANKS];
    (void)state;
    int n = make_members(member, "ab", false, LONG_NS);
    hold(member, n);
    expect(member, n, "01");
    n = make_members(member, "ab", false, SHORT_NS);
    member[0].is_absent = true;
    hold(member, n);
    expect(member, n, NULL);
    n = make_members(member, "ab", false, SHORT_NS);
    member[1].is_absent = true;
    hold(member, n);
    expect(member, n, NULL);
    n = make_members(member, "ab", false, LONG_NS);
    member[0].late_ns = 200000000;
    hold(member, n);
    expect(member, n, "01");
}

/* Whatever the order and the moments: all answers are one. */
static void test_at_random(void **state)
{
    struct member member[RANKS];
    unsigned seed = 12345;
    (void)state;
    for (int round = 0; round < 20; round++) {
        char machines[RANKS + 1] = "", in[RANKS + 1] = "";
        const int n = 2 + rand_r(&seed) % (RANKS - 1);
        for (int i = 0; i < n; i++)
            machines[i] = (char)('a' + rand_r(&seed) % 4);
        make_members(member, machines, round % 2, SHORT_NS);
        for (int i = 0; i < n; i++) {
            member[i].late_ns = rand_r(&seed) % (4 * SHORT_NS);
            member[i].is_absent = rand_r(&seed) % 8 == 0;
        }
        hold(member, n);
        for (int i = 0, k = 0; i < n; i++)
            if (member[i].is_held)
                in[k++] = (char)('0' + i);
        if (*in)
            assert_int_equal(in[0], '0');
        expect(member, n, *in ? in : NULL);
    }
}

static void test_refused(void **state)
{
    struct member member[RANKS];
    (void)state;
    const int n = make_members(member, "ab", false, SHORT_NS);
    for (int i = 0; i < n; i++)
        snprintf(member[i].meeting.directory, sizeof member[i].meeting.directory, "%s/none/meeting",
                 directory);
    hold(member, n);
    expect(member, n, NULL);
    make_members(member, "ab", false, SHORT_NS);
    member[0].meeting.role = member[1].meeting.role = AS_RENDEZVOUS_NONE;
    hold(member, n);
    expect(member, n, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_come, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_missing, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_nobody, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_late, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_left_behind, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_at_random, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_refused, make_place, remove_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
