/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait states of random programs against a plain analyser that was written from the definitions:
 * equal to the nanosecond, with their causes. In every trace no moment of a thread counts twice,
 * and waits lie in calls. Calls are waiting, transfer and overhead.
 *
 *   definitions_test [TRACES]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analytics/state/analysis.h"
#include "plain.h"

static uint64_t traces_n = 300;

struct found {
    struct as_trace trace;
    struct as_analysis a;
};

static void analyse(const char *directory, struct found *found)
{
    struct as_error err = {0};
    if (as_trace_open(directory, &found->trace, &err) < 0 ||
        as_analyse_trace(&found->trace, NULL, &found->a, &err) < 0)
        fail_msg("%s", err.text);
}

static int compare_waits(const void *a, const void *b, void *context)
{
    const struct as_wait *x = a, *y = b;
    const struct as_analysis *of = context;
    const int64_t rank_x = of->location.at[x->location].rank;
    const int64_t rank_y = of->location.at[y->location].rank;
    if (rank_x != rank_y)
        return rank_x < rank_y ? -1 : 1;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Messages in wrong order are a variant of late senders, which waits_test.c has. */
static enum as_wait_kind plain_kind(uint8_t kind)
{
    return kind == AS_WAIT_WRONG_ORDER ? AS_WAIT_LATE_SENDER : (enum as_wait_kind)kind;
}

static const char *routine_of(const struct as_analysis *a, uint32_t site)
{
    return site == AS_WAIT_UNKNOWN ? "nobody's" : a->site.at[site].routine;
}

static void put_wait(char *to, size_t n, int64_t rank, const char *kind, const char *in,
                     int64_t cause, const char *cause_in, int64_t begin_ns, int64_t end_ns)
{
    snprintf(to, n, "rank %ld %s in %s for %ld in %s: %ld to %ld", (long)rank, kind, in,
             (long)cause, cause_in, (long)begin_ns, (long)end_ns);
}

static void expect_same_waits(const struct made_program *p, const struct plain_waits *plain,
                              struct as_analysis *a, uint64_t seed)
{
    char want[300] = "", got[300] = "";
    if (a->waits.wait.n)
        qsort_r(a->waits.wait.at, a->waits.wait.n, sizeof *a->waits.wait.at, compare_waits, a);
    for (size_t i = 0; i < plain->wait.n || i < a->waits.wait.n; i++) {
        const bool is_even = i < plain->wait.n && plain->wait.at[i].is_even;
        if (i < plain->wait.n) {
            const struct plain_wait *w = &plain->wait.at[i];
            put_wait(want, sizeof want, w->rank, as_wait_word(w->kind),
                     made_text(p->call.at[w->call].routine),
                     w->cause == AS_WAIT_UNKNOWN ? -1 : (int64_t)w->cause,
                     is_even                       ? "one of two"
                     : w->cause == AS_WAIT_UNKNOWN ? "nobody's"
                                                   : made_text(w->cause_routine),
                     w->begin_ns, w->end_ns);
        }
        if (i < a->waits.wait.n) {
            const struct as_wait *w = &a->waits.wait.at[i];
            put_wait(got, sizeof got, a->location.at[w->location].rank,
                     as_wait_word(plain_kind(w->kind)), routine_of(a, w->site),
                     w->cause == AS_WAIT_UNKNOWN ? -1 : a->location.at[w->cause].rank,
                     is_even ? "one of two" : routine_of(a, w->cause_site), w->begin_ns, w->end_ns);
        }
        if (strcmp(want, got) != 0)
            fail_msg("trace %lu, wait %zu of %zu and %zu: %s, not %s", (unsigned long)seed, i,
                     a->waits.wait.n, plain->wait.n, got, want);
    }
}

/* ---- What holds of every trace --------------------------------------------------------------- */

/* Waits of a call never exceed it, and no moment is counted twice. In order of rank and time. */
static void expect_waits_in_calls(const struct made_program *p, const struct as_analysis *a)
{
    const struct as_wait *before = NULL;
    as_vec_foreach (&a->waits.wait, wait) {
        bool is_in_call = false;
        as_vec_foreach (&p->call, call)
            is_in_call |= call->rank == a->location.at[wait->location].rank &&
                          call->enter_ns <= wait->begin_ns && wait->end_ns <= call->leave_ns &&
                          strcmp(made_text(call->routine), routine_of(a, wait->site)) == 0;
        assert_true(is_in_call);
        assert_true(!before || before->location != wait->location ||
                    before->end_ns <= wait->begin_ns);
        before = wait;
    }
}

static void expect_same_split(const struct made_program *p, const struct plain_waits *plain,
                              const struct as_analysis *a)
{
    as_vec_foreach (&a->sum, sum) {
        int64_t time_ns = 0, waiting_ns = 0, transfer_ns = 0;
        for (uint32_t at = 0; at < p->call.n; at++) {
            const struct made_call *call = &p->call.at[at];
            const bool moves = plain_moves_data(p, at);
            if (call->rank != a->location.at[sum->location].rank ||
                strcmp(made_text(call->routine), routine_of(a, sum->site)) != 0)
                continue;
            time_ns += call->leave_ns - call->enter_ns;
            transfer_ns += moves ? call->leave_ns - call->enter_ns : 0;
            as_vec_foreach (&plain->wait, wait) {
                const int64_t ns = wait->call == at ? wait->end_ns - wait->begin_ns : 0;
                waiting_ns += ns;
                transfer_ns -= moves ? ns : 0;
            }
        }
        assert_int_equal(sum->time_ns, time_ns);
        assert_int_equal(sum->waiting_ns, waiting_ns);
        assert_int_equal(sum->transfer_ns, transfer_ns);
        assert_true(transfer_ns >= 0 && waiting_ns + transfer_ns <= time_ns);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void try_trace(const char *directory, uint64_t seed, uint64_t *waits_n)
{
    struct made_program program;
    struct plain_waits plain;
    struct found found;
    char path[300], command[320];
    snprintf(path, sizeof path, "%s/%lu", directory, (unsigned long)seed);
    assert_int_equal(mkdir(path, 0700), 0);
    made_program_new(&program, seed, 0);
    made_program_write(&program, path);
    analyse(path, &found);
    plain_waits_of(&program, &plain);
    assert_int_equal(found.a.broken_n + found.a.unmet_n, 0);
    assert_int_equal(found.a.messages.sends_n + found.a.messages.receives_n, 0);
    expect_same_waits(&program, &plain, &found.a, seed);
    expect_waits_in_calls(&program, &found.a);
    expect_same_split(&program, &plain, &found.a);
    as_vec_foreach (&plain.wait, wait)
        waits_n[wait->kind]++;
    as_vec_fini(&plain.wait);
    made_program_fini(&program);
    as_analysis_fini(&found.a);
    as_trace_close(&found.trace);
    snprintf(command, sizeof command, "rm -r %s", path);
    assert_int_equal(system(command), 0);
}

static void test_random_programs(void **state)
{
    static const enum as_wait_kind kinds[] = {
        AS_WAIT_LATE_SENDER,        AS_WAIT_LATE_RECEIVER, AS_WAIT_BARRIER,
        AS_WAIT_BARRIER_COMPLETION, AS_WAIT_ALL,           AS_WAIT_ALL_COMPLETION,
        AS_WAIT_LATE_BROADCAST,     AS_WAIT_EARLY_REDUCE,  AS_WAIT_EARLY_SCAN};
    uint64_t waits_n[AS_WAIT_KINDS_N] = {0};
    char directory[64] = "/tmp/assay-definitions-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(directory));
    for (uint64_t seed = 1; seed <= traces_n; seed++)
        try_trace(directory, seed, waits_n);
    assert_int_equal(rmdir(directory), 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        assert_true(waits_n[kinds[i]] >= traces_n / 10); /* each kind was met often */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
    if (argc > 1)
        traces_n = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
