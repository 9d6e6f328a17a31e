/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling of programs with known results: shares of functions, stacks of difficult code, forks,
 * threads, an unloaded library. Skipped with the reason if perf events are not permitted.
 */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session.h"

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/*
 * Expects as many samples as the CPU time of the target requires. They are at most those for the
 * kernel's account, and not much fewer than those for the target's account. A CPU that the host
 * takes away for a while misses the ticks in it.
 */
static void expect_rate(const struct session *s)
{
    const double got = (double)s->counts.samples, rate_hz = s->choice.rate_hz;
    const double most = (double)s->cpu_ns * 1e-9 * rate_hz,
                 least = (double)s->fair_ns * 1e-9 * rate_hz;
    print_message("# %.0f samples, %.1f to %.1f due\n", got, least, most);
    assert_true(least > 0);
    assert_true(got >= least / 2);
    if (s->choice.event == AS_EVENT_CPU_CLOCK) /* counters look for their rate first */
        assert_true(got <= most * 1.02 + 4);
}

/* Compares the share of spin_k among all samples in spin_* with k/10, within 4.5 standard
 * deviations. */
static bool has_shares(struct session *s)
{
    size_t n = 0, in[5] = {0};
    bool fits = true;
    as_vec_foreach (&s->sample, one) {
        if (begins(one->path, "spin_") && one->path[5] >= '1' && one->path[5] <= '4') {
            in[one->path[5] - '0']++;
            n++;
        }
    }
    expect_rate(s);
    assert_true(n > 300);
    assert_true((double)n >= 0.9 * (double)s->sample.n); /* the rest is start-up */
    for (int k = 1; k <= 4; k++) {
        double p = k / 10.0, got = (double)in[k] / (double)n;
        double bound = 4.5 * sqrt(p * (1 - p) / (double)n) + 0.005;
        print_message("# spin_%d: %.2f %% of %zu, due %.0f +- %.2f\n", k, 100 * got, n, 100 * p,
                      100 * bound);
        fits &= fabs(got - p) < bound;
    }
    return fits;
}

/* By chance, one of 150,000 right shares is further off. Then the target is recorded once more.
 * Four right targets with four shares each fail with 4 (4 / 150,000)^2 = 3e-9. */
static void run_with_shares(struct session *out, const struct as_sample_options *options,
                            const char *const *argv)
{
    session_run(out, options, 0, argv);
    if (has_shares(out))
        return;
    session_fini(out);
    session_run(out, options, 0, argv);
    assert_true(has_shares(out));
}

static void test_shares(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    struct session s;
    const struct as_sample_options options = {.rate_hz = 997};
    run_with_shares(&s, &options, (const char *const[]){TARGETS "/sample-spin", "1", "700", NULL});
    print_message("# event %s; %s\n", as_sample_event_name(s.choice.event), s.choice.reason);
    print_message("# %.1f bytes a sample\n", (double)s.bytes / (double)s.sample.n);
    assert_true(s.bytes <= 64 * s.sample.n + 16384);
    /* Only a record with a stopped CPU in the middle of it may be out of order. */
    assert_true(s.counts.late <= 1 + s.counts.samples / 100);
    session_fini(&s);
}

/* Expects `threads` threads, each alternately entering and leaving a CPU. The main thread was on
 * one at first. */
static void expect_turns(const struct session *s, size_t threads)
{
    struct turn last[16];
    size_t n = 0;
    for (size_t k = 0; k < s->turn.n; k++) {
        struct turn now = s->turn.at[k];
        size_t i = 0;
        while (i < n && last[i].tid != now.tid)
            i++;
        if (i == n) {
            assert_true(n < 16);
            assert_true(now.main || !now.out);
            n++;
        } else {
            assert_true(now.out != last[i].out);
        }
        last[i] = now;
    }
    assert_int_equal(n, threads);
}

static void expect_threads(bool few_events)
{
    struct session s;
    const struct as_sample_options options = {
        .rate_hz = 997, .switches = true, .few_events = few_events};
    run_with_shares(&s, &options, (const char *const[]){TARGETS "/sample-spin", "8", "90", NULL});
    assert_int_equal(s.forks, 7);
    assert_int_equal(s.exits, 8);
    expect_turns(&s, 8);
    uint32_t tid[16];
    size_t tids = 0;
    uint64_t last_ns = 0;
    as_vec_foreach (&s.sample, one) {
        size_t i = 0;
        while (i < tids && tid[i] != one->tid)
            i++;
        if (i == tids && tids < 16)
            tid[tids++] = one->tid;
        assert_true(one->time_ns >= last_ns);
        last_ns = one->time_ns;
    }
    assert_int_equal(tids, 8);
    session_fini(&s);
}

/* As with few CPUs, and as with many. */
static void test_threads(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    expect_threads(false);
    expect_threads(true);
}

/* Expects that a target pinned to one CPU has run there and left there. */
static void expect_processor(int cpu, bool few_events)
{
    const struct as_sample_options options = {
        .rate_hz = 997, .switches = true, .few_events = few_events};
    struct session s;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    session_run(&s, &options, 0, (const char *const[]){TARGETS "/sample-spin", "2", "60", NULL});
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_true(s.sample.n > 30 && s.turn.n > 2);
    as_vec_foreach (&s.sample, sample)
        assert_int_equal(sample->cpu, cpu);
    as_vec_foreach (&s.turn, turn)
        assert_int_equal(turn->cpu, cpu);
    session_fini(&s);
}

static void test_processors(void **state)
{
    (void)state;
    cpu_set_t allowed;
    if (!session_has_events())
        return;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (int cpu = 0, tried = 0; cpu < CPU_SETSIZE && tried < 2; cpu++) {
        if (!CPU_ISSET(cpu, &allowed))
            continue;
        expect_processor(cpu, tried++ > 0);
    }
}

/* Events that are open, for a child that waits to be started. */
static unsigned events_for(pid_t pid, bool few_events)
{
    const struct as_sample_options options = {
        .switches = true, .on_exec = true, .few_events = few_events};
    struct as_sampler *sampler;
    struct as_error err;
    unsigned n = 0;
    assert_int_equal(as_sampler_open(pid, &options, &sampler, &err), 0);
    for (int fd = 3; fd < 1024; fd++) {
        char link[64], target[64] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        n += readlink(link, target, sizeof target - 1) > 0 && strstr(target, "perf_event");
    }
    as_sampler_close(&sampler);
    return n;
}

/* One event less per CPU, if events are expensive. */
static void test_few_events(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    const pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    const unsigned all = events_for(pid, false), few = events_for(pid, true);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(few >= 2 && (all == few || all * 2 == few * 3));
    assert_true(all > few || sysconf(_SC_NPROCESSORS_ONLN) > 16);
}

static void test_many_threads(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    struct session s;
    session_run(&s, NULL, 0, (const char *const[]){TARGETS "/sample-spin", "500", "1", NULL});
    assert_int_equal(s.forks, 499);
    assert_int_equal(s.exits, 500);
    session_fini(&s);
}

static int count(void *counts, const struct as_sample_record *record, struct as_error *err)
{
    size_t *n = counts;
    (void)err;
    n[record->kind] += record->kind == AS_SAMPLE_LOST ? (size_t)record->lost : 1;
    return 0;
}

/* The stream is not read while the target runs. Nearly all stacks are lost, each is counted, and
 * threads are not lost with them. */
static void test_loss(void **state)
{
    (void)state;
    struct utsname kernel;
    if (!session_has_events() || uname(&kernel) < 0 || strtol(kernel.release, NULL, 10) < 6)
        return; /* an older kernel does not count what it drops at the end */
    const struct as_sample_options options = {
        .rate_hz = 1999, .stacks = AS_STACKS_DWARF, .ring_b = 128 << 10, .on_exec = true};
    struct session s = {0};
    struct as_sampler *sampler;
    struct as_error err = {0};
    struct rusage usage;
    size_t n[AS_SAMPLE_THROTTLE + 1] = {0};
    int go, status;
    pid_t pid =
        session_start((const char *const[]){TARGETS "/sample-spin", "40", "20", NULL}, -1, &go);
    assert_int_equal(as_sampler_open(pid, &options, &sampler, &err), 0);
    session_release(go);
    assert_int_equal(wait4(pid, &status, 0, &usage), pid);
    assert_int_equal(as_sampler_pump(sampler, true, count, n, &err), 0);
    s.choice = *as_sampler_choice(sampler);
    s.counts = *as_sampler_counts(sampler);
    s.fair_ns = session_account()->fair_ns;
    s.cpu_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
               (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
    as_sampler_close(&sampler);
    print_message("# %zu samples, %zu lost\n", n[AS_SAMPLE_SAMPLE], n[AS_SAMPLE_LOST]);
    assert_int_equal(n[AS_SAMPLE_FORK], 39);
    assert_int_equal(n[AS_SAMPLE_EXIT], 40);
    assert_int_equal(n[AS_SAMPLE_SAMPLE], s.counts.samples);
    assert_int_equal(n[AS_SAMPLE_LOST], s.counts.lost);
    assert_int_equal(s.counts.lost_other, 0);
    assert_true(n[AS_SAMPLE_SAMPLE] > 0);
    assert_true(s.counts.lost > s.counts.samples);
    s.counts.samples += s.counts.lost;
    expect_rate(&s);
}

/* Most samples with the leaf burn_NAME must have exactly this path above it, and this end. */
static void expect_path(const char *name, uint8_t stacks, uint8_t end, const char *leaf,
                        const char *path)
{
    struct session s;
    const struct as_sample_options options = {.rate_hz = 997, .stacks = stacks};
    session_run(&s, &options, 0,
                (const char *const[]){stacks == AS_STACKS_FRAME ? TARGETS "/sample-stacks-fp"
                                                                : TARGETS "/sample-stacks",
                                      name, "200", NULL});
    size_t n = 0, good = 0, ended = 0;
    const char *bad = "none";
    as_vec_foreach (&s.sample, one) {
        if (!begins(one->path, leaf))
            continue;
        n++;
        ended += one->end == end;
        if (begins(one->path, path))
            good++;
        else
            bad = one->path;
    }
    print_message("# %s: %zu of %zu samples have the path, %zu end so; %.1f bytes each\n", name,
                  good, n, ended, (double)s.bytes / (double)s.sample.n);
    if (n < 50 || good * 100 < n * 98)
        fail_msg("%s: %zu of %zu; due %s, one of %zu is %s", name, good, n, path, s.sample.n,
                 n            ? bad
                 : s.sample.n ? s.sample.at[s.sample.n / 2].path
                              : "");
    if (stacks == AS_STACKS_DWARF)
        assert_true(ended * 100 >= n * 98);
    assert_true(s.bytes <= 64 * s.sample.n + 16384);
    session_fini(&s);
}

static char deep_path[2048];

static const struct {
    const char *name, *path;
    uint8_t end;
} paths[] = {
    {"leaf", "burn_leaf<case_leaf<main<", AS_STACK_COMPLETE},
    {"alloca", "burn_alloca<case_alloca<main<", AS_STACK_COMPLETE},
    {"deep", deep_path, AS_STACK_COMPLETE},
    {"wide", "burn_wide<wide_2<wide_1<case_wide<main<", AS_STACK_COMPLETE},
    {"tail", "burn_tail<case_tail<main<", AS_STACK_COMPLETE},
    {"throw", "burn_throw<thrower<case_throw<main<", AS_STACK_COMPLETE},
    {"aligned", "burn_aligned<case_aligned<main<", AS_STACK_COMPLETE},
    {"child", "burn_child<case_child<main<", AS_STACK_COMPLETE},
    {"assembly", "burn_assembly<case_assembly<main<", AS_STACK_COMPLETE},
    {"context", "burn_context<context_main<", AS_STACK_COMPLETE},
    {"alternate", "burn_alternate<on_alternate<__restore_rt<", AS_STACK_SWITCHED},
    {"generated", "burn_generated<", AS_STACK_BROKEN},
};

static void make_deep_path(void)
{
    strcpy(deep_path, "burn_deep<");
    for (int i = 0; i <= 60; i++)
        strcat(deep_path, "case_deep<");
    strcat(deep_path, "main<");
}

static void test_stacks(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    make_deep_path();
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char leaf[64];
        snprintf(leaf, sizeof leaf, "burn_%s", paths[i].name);
        expect_path(paths[i].name, AS_STACKS_DWARF, paths[i].end, leaf, paths[i].path);
    }
}

/* Copies by turns: with the smaller the stack is cut where it ends, and what there is of it is
 * right; with the larger it is whole. After a turn the other event goes on, in all threads. */
struct turning {
    struct as_sampler *sampler;
    struct as_recorder *recorder;
    uint64_t copies[2]; /* of the smaller size and of the larger */
    uint64_t since;
};

static int turn(void *turning, const struct as_sample_record *record, struct as_error *err)
{
    struct turning *t = turning;
    const struct as_sample_choice *choice = as_sampler_choice(t->sampler);
    if (record->kind == AS_SAMPLE_SAMPLE && record->stack) {
        assert_true(record->stack_b <= choice->deep_b);
        t->copies[record->stack_b > choice->stack_b]++;
        if (++t->since % 32 == 0)
            as_sampler_deepen(t->sampler, t->since / 32 % 2 == 0);
    }
    return as_recorder_add(t->recorder, record, err);
}

static void test_two_copies(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    const struct as_sample_options options = {
        .rate_hz = 997, .stacks = AS_STACKS_DWARF, .on_exec = true};
    struct turning t = {0};
    struct session s = {0};
    struct as_error err = {0};
    int go, status;
    pid_t pid = session_start(
        (const char *const[]){TARGETS "/sample-stacks", "wide", "100000", NULL}, -1, &go);
    assert_int_equal(as_sampler_open(pid, &options, &t.sampler, &err), 0);
    session_release(go);
    if (as_sampler_choice(t.sampler)->deep_b == 0) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        as_sampler_close(&t.sampler);
        print_message("# skipped: no memory may be locked for copies of two sizes\n");
        return;
    }
    const char *path = session_stream();
    assert_int_equal(as_recorder_new(path, as_sampler_choice(t.sampler), 0, &t.recorder, &err), 0);
    /* Until some of both exist: a reader that waits for a CPU asks for turns too slowly. */
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (t.copies[0] > 64 && t.copies[1] > 64)
            kill(pid, SIGKILL);
        as_sampler_wait(t.sampler, -1, 5);
        assert_int_equal(as_sampler_pump(t.sampler, false, turn, &t, &err), 0);
    }
    assert_true(WIFSIGNALED(status));
    assert_int_equal(as_sampler_pump(t.sampler, true, turn, &t, &err), 0);
    const struct as_stack_counts stacks = *as_recorder_stacks(t.recorder);
    assert_int_equal(as_recorder_finish(&t.recorder, as_sampler_counts(t.sampler), &err), 0);
    as_sampler_close(&t.sampler);
    session_read(&s, path);
    size_t cut = 0, whole = 0, all_cut = 0;
    as_vec_foreach (&s.sample, one) {
        all_cut += one->end == AS_STACK_CUT;
        if (!begins(one->path, "burn_wide"))
            continue;
        cut += one->end == AS_STACK_CUT;
        whole += one->end == AS_STACK_COMPLETE;
        assert_true(begins(one->path, one->end == AS_STACK_CUT
                                          ? "burn_wide<wide_2<wide_1"
                                          : "burn_wide<wide_2<wide_1<case_wide<main<"));
    }
    print_message("# %zu whole, %zu cut of %zu; copies of both sizes: %zu, %zu\n", whole, cut,
                  s.sample.n, (size_t)t.copies[0], (size_t)t.copies[1]);
    assert_true(whole > 0 && cut > 0);
    assert_int_equal(stacks.cut, all_cut);
    assert_true(stacks.deep >= whole + cut);
    assert_true(stacks.copied >= stacks.deep);
    session_fini(&s);
}

/* By frame pointers the caller of a leaf without frame is missing: that is their nature. */
static void test_frame_pointers(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    expect_path("deep", AS_STACKS_FRAME, AS_STACK_COMPLETE, "burn_deep",
                "burn_deep<case_deep<case_deep<case_deep<");
}

/* Through libc: names of its functions are not in a stripped library, so only the ends are held. */
static void expect_ends(const char *name, const char *library, const char *inner, const char *outer)
{
    struct session s;
    const struct as_sample_options options = {.rate_hz = 997, .stacks = AS_STACKS_DWARF};
    session_run(&s, &options, 0,
                (const char *const[]){TARGETS "/sample-stacks", name, "200", library, NULL});
    size_t n = 0, good = 0;
    const char *bad = "none";
    as_vec_foreach (&s.sample, one) {
        if (!begins(one->path, inner))
            continue;
        n++;
        if (strstr(one->path, outer) && one->end == AS_STACK_COMPLETE)
            good++;
        else
            bad = one->path;
    }
    print_message("# %s: %zu of %zu samples reach main\n", name, good, n);
    if (n < 50 || good * 100 < n * 98)
        fail_msg("%s: %zu of %zu; due %s...%s, one of %zu is %s", name, good, n, inner, outer,
                 s.sample.n,
                 n            ? bad
                 : s.sample.n ? s.sample.at[s.sample.n / 2].path
                              : "");
    session_fini(&s);
}

static void test_through_libc(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    expect_ends("signal", NULL, "burn_signal<on_signal<__restore_rt<", "<case_signal<main<");
    expect_ends("sort", NULL, "burn_sort<compare<", "<case_sort<main<");
}

/* The library is deleted right after it was loaded, and unwound through all the same. */
static void test_deleted_library(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    char command[512], copy[64];
    snprintf(copy, sizeof copy, "./sample-copy-%d.so", (int)getpid());
    snprintf(command, sizeof command, "cp '%s' %s", LIBRARY, copy);
    assert_int_equal(system(command), 0);
    expect_ends("library", copy, "?<?<", "<case_library<main<");
}

static void test_attach(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    struct session s;
    const struct as_sample_options options = {.rate_hz = 997, .stacks = AS_STACKS_DWARF};
    const char *const argv[] = {TARGETS "/sample-spin", "4", "600000", NULL};
    session_attach(&s, &options, argv, 4, 700);
    if (!has_shares(&s)) { /* as in run_with_shares() */
        session_fini(&s);
        session_attach(&s, &options, argv, 4, 700);
        assert_true(has_shares(&s));
    }
    assert_true(s.maps >= 3);
    assert_int_equal(s.forks, 3);
    size_t good = 0;
    as_vec_foreach (&s.sample, one)
        good += strstr(one->path, "<work") != NULL;
    assert_true(good * 100 >= s.sample.n * 98);
    session_fini(&s);
}

static void test_max_size(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    struct session s;
    const struct as_sample_options options = {.rate_hz = 1999};
    session_run(&s, &options, 2048,
                (const char *const[]){TARGETS "/sample-spin", "1", "700", NULL});
    assert_true(s.dropped > 0);
    assert_true(s.bytes < 2048 + 4096);
    session_fini(&s);
}

static void test_no_process(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    struct as_sampler *sampler;
    struct as_error err = {0};
    assert_int_equal(as_sampler_open(0x3ffffff, NULL, &sampler, &err), AS_ERR_NOT_FOUND);
    assert_null(sampler);
    const struct as_sample_options bad = {.stacks = 9};
    assert_int_equal(as_sampler_open(getpid(), &bad, &sampler, &err), AS_ERR_USAGE);
}

/* Without hardware counters the reason says so; with them cycles are used. */
static void test_choice(void **state)
{
    (void)state;
    if (!session_has_events())
        return;
    struct as_sampler *sampler;
    struct as_error err = {0};
    assert_int_equal(as_sampler_open(getpid(), NULL, &sampler, &err), 0);
    const struct as_sample_choice *choice = as_sampler_choice(sampler);
    assert_int_equal(choice->rate_hz, AS_RATE_MEDIUM);
    assert_int_equal(choice->event == AS_EVENT_CPU_CLOCK,
                     strstr(choice->reason, "no cycles: ") != NULL);
    as_sampler_close(&sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice),       cmocka_unit_test(test_shares),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_processors),
        cmocka_unit_test(test_few_events),   cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_stacks),       cmocka_unit_test(test_frame_pointers),
        cmocka_unit_test(test_through_libc), cmocka_unit_test(test_deleted_library),
        cmocka_unit_test(test_attach),       cmocka_unit_test(test_max_size),
        cmocka_unit_test(test_no_process),   cmocka_unit_test(test_loss),
        cmocka_unit_test(test_two_copies),
    };
    return cmocka_run_group_tests_name("sample/live", tests, NULL, NULL);
}
