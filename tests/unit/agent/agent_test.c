/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers in programs with known results: shares, stacks, threads, children, libraries. Also
 * programs that would notice any interference.
 */
#include "../sample/session.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TARGET TARGETS "/agent-target"

struct timed {
    struct session s;
    struct as_timer_facts facts;
    int status;
};

static char directory[64];

static void must(int rc, const struct as_error *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

static pid_t start(const struct as_timer_sampler *sampler, const char *const *argv)
{
    session_begin_account();
    pid_t pid = fork();
    if (pid == 0) {
        for (const char *const *word = as_timer_sampler_environment(sampler); *word; word++)
            putenv((char *)(uintptr_t)*word);
        setenv("LD_PRELOAD", as_timer_sampler_preload(sampler), 1);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

static struct timed run(const struct as_sample_options *options, const char *const *argv)
{
    struct timed t = {0};
    struct as_timer_sampler *sampler;
    struct as_recorder *recorder;
    struct as_error err = {0};
    const char *stream = session_stream();
    must(as_timer_sampler_open(directory, options, "because", &sampler, &err), &err);
    t.s.choice = *as_timer_sampler_choice(sampler);
    must(as_recorder_new(stream, &t.s.choice, 0, &recorder, &err), &err);
    pid_t pid = start(sampler, argv);
    while (waitpid(pid, &t.status, WNOHANG) == 0) {
        as_timer_sampler_wait(sampler, -1, 50);
        must(as_timer_sampler_pump(sampler, false, as_recorder_add, recorder, &err), &err);
    }
    must(as_timer_sampler_pump(sampler, true, as_recorder_add, recorder, &err), &err);
    t.facts = *as_timer_sampler_facts(sampler);
    must(as_recorder_finish(&recorder, as_timer_sampler_counts(sampler), &err), &err);
    as_timer_sampler_close(&sampler);
    session_read(&t.s, stream);
    assert_int_equal(t.s.sample.n, t.s.counts.samples);
    assert_int_equal(t.s.counts.damaged, 0);
    assert_int_equal(t.facts.threads_missed, 0);
    assert_int_equal(t.facts.processes_missed, 0);
    assert_int_equal(rmdir(directory), 0); /* nothing was left behind */
    return t;
}

static struct timed run_mode(const char *mode, const char *more)
{
    const struct as_sample_options options = {.stacks = AS_STACKS_DWARF};
    return run(&options, (const char *const[]){TARGET, mode, more, NULL});
}

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Parts of the target's account. */
enum { SPIN_1 = 1, SPIN_2, SPIN_3, SPIN_CHILD = 9, SPIN_EXECUTED, THREAD };

/* Returns the CPU time that the target reports, in milliseconds: of all threads, a function or a
 * thread. */
static double used_ms(int part)
{
    return (double)session_account()->used_ns[part] / 1e6;
}

/* Returns the time of the samples with this prefix of the path, in milliseconds. */
static double ms_of(struct timed *t, const char *prefix)
{
    double ns = 0;
    as_vec_foreach (&t->s.sample, one)
        if (begins(one->path, prefix))
            ns += (double)one->period;
    return ns / 1e6;
}

/* For when a test fails. */
static void print_paths(const struct timed *t)
{
    for (size_t i = 0; i < t->s.sample.n; i += t->s.sample.n / 4 + 1)
        print_message("# %s (end %d)\n", t->s.sample.at[i].path, t->s.sample.at[i].end);
}

/* Returns the number of equal samples with the same information as those of spin_*. If the host
 * takes CPUs away, one sample stands for the time of many. */
static double worth_n(struct timed *t)
{
    double sum = 0, squares = 0;
    as_vec_foreach (&t->s.sample, one) {
        const double period = begins(one->path, "spin_") ? (double)one->period : 0;
        sum += period;
        squares += period * period;
    }
    return squares > 0 ? sum * sum / squares : 0;
}

/* Three functions in three threads; each thread requests the same amount. The sum is the CPU time
 * that was available. A function reports its own CPU time: about 1 to 2 to 3 on an undisturbed
 * host. */
static bool has_shares(struct timed *t)
{
    bool fits = true;
    const double n = worth_n(t);
    const double all = ms_of(t, "spin_"),
                 used = used_ms(SPIN_1) + used_ms(SPIN_2) + used_ms(SPIN_3);
    print_message("# %zu samples, worth %.0f, %.0f ms of %.0f\n", t->s.sample.n, n, all, used);
    assert_true(used >= 2880);
    assert_true(t->s.sample.n > 100);
    assert_true(fabs(all - used) < 0.1 * used);
    for (int k = 1; k <= 3; k++) {
        char name[16];
        snprintf(name, sizeof name, "spin_%d", k);
        const double p = used_ms(k) / used, got = ms_of(t, name) / all;
        const double bound = 4.5 * sqrt(p * (1 - p) / n) + 0.005;
        print_message("# %s: %.2f %%, due %.2f +- %.2f\n", name, 100 * got, 100 * p, 100 * bound);
        fits &= fabs(got - p) < bound;
    }
    return fits;
}

/* By chance, one of 150,000 right shares is further off. Then the target runs once more. Right
 * shares of three fail twice with (3 / 150,000)^2 = 4e-10. */
static struct timed run_with_shares(void)
{
    struct timed t = run_mode("shares", NULL);
    if (has_shares(&t))
        return t;
    session_fini(&t.s);
    t = run_mode("shares", NULL);
    assert_true(has_shares(&t));
    return t;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/*
 * A sample stands for the CPU time since the one before, so a thread misplaces the periods at both
 * ends. These are about the longest, however long the host left the thread waiting.
 */
static double longest_ms(const struct timed *t)
{
    double longest = 0;
    as_vec_foreach (&t->s.sample, one)
        longest = fmax(longest, (double)one->period / 1e6);
    return longest;
}

/* By time: for a thread that waits for a CPU, one sample stands for several. */
static void expect_threads(const struct timed *t, double per_ms[3])
{
    double used[3];
    for (int i = 0; i < 3; i++)
        used[i] = used_ms(THREAD + i);
    qsort(used, 3, sizeof *used, by_size);
    qsort(per_ms, 3, sizeof *per_ms, by_size);
    for (int i = 0; i < 3; i++) {
        print_message("# a thread: %.0f ms of %.0f, the longest sample %.0f\n", per_ms[i], used[i],
                      longest_ms(t));
        assert_true(used[i] >= 960 && longest_ms(t) < used[i]);
        assert_true(fabs(per_ms[i] - used[i]) < 0.1 * used[i] + 2 * longest_ms(t));
    }
}

static void test_shares(void **state)
{
    (void)state;
    struct timed t = run_with_shares();
    assert_int_equal(t.status, 0);
    assert_int_equal(t.s.choice.event, AS_EVENT_TIMER);
    assert_true(strstr(t.s.choice.reason, "because"));
    assert_int_equal(t.s.forks, 2);
    assert_int_equal(t.s.exits, 3);
    size_t whole = 0, through = 0;
    double per_ms[3] = {0};
    uint32_t tid[3] = {0};
    as_vec_foreach (&t.s.sample, one) {
        whole += one->end == AS_STACK_COMPLETE;
        through += begins(one->path, "spin_") && strstr(one->path, "<work<") != NULL;
        for (int i = 0; i < 3; i++) {
            if (tid[i] == 0 || tid[i] == one->tid) {
                tid[i] = one->tid;
                per_ms[i] += (double)one->period / 1e6;
                break;
            }
        }
    }
    assert_true((double)whole >= 0.98 * (double)t.s.sample.n);
    assert_true((double)through >= 0.95 * (double)t.s.sample.n);
    expect_threads(&t, per_ms);
    session_fini(&t.s);
}

/* The other kinds of stacks; the rate that was asked for. */
static void test_kinds(void **state)
{
    (void)state;
    for (unsigned stacks = AS_STACKS_OFF; stacks <= AS_STACKS_FRAME; stacks++) {
        const struct as_sample_options options = {.stacks = (uint8_t)stacks, .rate_hz = 97};
        struct timed t = run(&options, (const char *const[]){TARGET "-fp", "shares", NULL});
        size_t through = 0;
        assert_int_equal(t.status, 0);
        as_vec_foreach (&t.s.sample, one)
            through += begins(one->path, "spin_") && strstr(one->path, "<work<") != NULL;
        print_message("# %zu samples, %zu through work\n", t.s.sample.n, through);
        const double used = used_ms(SPIN_1) + used_ms(SPIN_2) + used_ms(SPIN_3);
        assert_true(fabs(ms_of(&t, "spin_") - used) < 0.1 * used);
        const double due_n = used * 0.097, fair_n = (double)session_account()->fair_ns * 97e-9;
        assert_true((double)t.s.sample.n > fair_n / 3 && (double)t.s.sample.n < due_n * 1.3 + 20);
        if (stacks == AS_STACKS_OFF)
            assert_int_equal(through, 0);
        else
            assert_true((double)through >= 0.95 * (double)t.s.sample.n);
        session_fini(&t.s);
    }
}

/* Every mode: the program finds nothing changed, and its time is seen. */
static void expect_seen(const char *mode, const char *more, const char *const *prefix, double least)
{
    struct timed t = run_mode(mode, more);
    print_message("# %s: exit %d, signal %d, %zu samples\n", mode, WEXITSTATUS(t.status),
                  WTERMSIG(t.status), t.s.sample.n);
    print_paths(&t);
    assert_int_equal(t.status, 0);
    for (; *prefix; prefix++) {
        print_message("# %s: %.0f ms\n", *prefix, ms_of(&t, *prefix));
        assert_true(ms_of(&t, *prefix) >= least);
    }
    session_fini(&t.s);
}

static void test_signals(void **state)
{
    (void)state;
    expect_seen("signals", NULL, (const char *const[]){"spin_1", "spin_blocked", NULL}, 100);
}

static void test_closed(void **state)
{
    (void)state;
    expect_seen("closed", NULL, (const char *const[]){"spin_closed", NULL}, 300);
}

static void test_stacks(void **state)
{
    (void)state;
    expect_seen("stacks", NULL,
                (const char *const[]){"spin_alternate<on_alternate", "spin_deep<deep",
                                      "spin_context<in_context", NULL},
                300);
}

/* The time of a path is what its processes used. */
static void expect_used(struct timed *t, const char *path, double used, unsigned processes)
{
    print_message("# %s: %.0f ms of %.0f, the longest sample %.0f\n", path, ms_of(t, path), used,
                  longest_ms(t));
    assert_true(longest_ms(t) < used);
    assert_true(fabs(ms_of(t, path) - used) < 0.1 * used + 2 * processes * longest_ms(t));
}

static void test_forks(void **state)
{
    (void)state;
    struct timed t = run_mode("forks", NULL);
    assert_int_equal(t.status, 0);
    print_paths(&t);
    assert_int_equal(t.facts.processes, 5); /* one executed */
    assert_int_equal(t.s.forks, 3);
    assert_int_equal(t.s.exits, 4);
    const double child = used_ms(SPIN_CHILD), executed = used_ms(SPIN_EXECUTED);
    assert_true(child >= 900 && executed >= 300);
    expect_used(&t, "spin_child<forks<main", child, 3);
    expect_used(&t, "spin_executed<main", executed, 1);
    session_fini(&t.s);
}

static void test_library(void **state)
{
    (void)state;
    const char *const seen[] = {"spin_library<library<main", NULL};
    expect_seen("library", "libagent-loaded.so", seen, 300); /* by RUNPATH */
    expect_seen("library", LIBRARY, seen, 300);
}

static void test_many(void **state)
{
    (void)state;
    struct timed t = run_mode("many", NULL);
    assert_int_equal(t.status, 0);
    assert_int_equal(t.s.forks, 501);
    assert_int_equal(t.s.exits, 502);
    session_fini(&t.s);
}

/* Records from before the end stay. */
static void test_killed(void **state)
{
    (void)state;
    struct timed t = run_mode("killed", NULL);
    assert_true(WIFSIGNALED(t.status) && WTERMSIG(t.status) == SIGKILL);
    assert_true(ms_of(&t, "spin_1<main") > 300);
    assert_int_equal(t.s.exits, 1);
    session_fini(&t.s);
}

static void expect_refused(const char *path, int code, const char *part)
{
    struct as_error err = {0};
    assert_int_equal(as_timer_sampler_check(path, &err), code);
    print_message("# %s\n", err.text);
    assert_non_null(strstr(err.text, part));
    assert_null(strchr(err.text, '\n'));
}

static void test_refused(void **state)
{
    (void)state;
    struct as_error err = {0};
    struct as_timer_sampler *sampler;
    must(as_timer_sampler_check(TARGET, &err), &err);
    expect_refused(TARGETS "/agent-static", AS_ERR_UNSUPPORTED, "statically linked");
    expect_refused("/nowhere", AS_ERR_NOT_FOUND, "/nowhere");
    assert_int_equal(as_timer_sampler_open("/dev/null/x", NULL, NULL, &sampler, &err), AS_ERR_IO);
    assert_null(sampler);
    const struct as_sample_options fast = {.rate_hz = 2000000};
    assert_int_equal(as_timer_sampler_open(directory, &fast, NULL, &sampler, &err), AS_ERR_USAGE);
}

/* A set-user-ID file of another user: only root can make one. */
static void test_privileged(void **state)
{
    (void)state;
    char path[80];
    if (getuid() != 0) {
        print_message("# skipped: not root\n");
        return;
    }
    snprintf(path, sizeof path, "%s.suid", directory);
    char command[400];
    snprintf(command, sizeof command, "cp %s %s && chown 1 %s && chmod 4755 %s", TARGET, path, path,
             path);
    assert_int_equal(system(command), 0);
    expect_refused(path, AS_ERR_PERMISSION, "set-user-ID");
    unlink(path);
}

/* ---- Which files are mapped --------------------------------------------------------------- */

struct explanation {
    const char *path;
    struct as_sample_record map; /* the first of that path */
};

static int keep_map(void *context, const struct as_sample_record *record, struct as_error *err)
{
    struct explanation *told = context;
    (void)err;
    if (record->kind == AS_SAMPLE_MAP && strcmp(record->text, told->path) == 0 &&
        told->map.inode == 0)
        told->map = *record;
    return 0;
}

/* The process is gone when its records are read: the agent alone can have told of its files. */
static void expect_told(const char *path, bool has_build_id)
{
    struct explanation told = {.path = path};
    struct as_file_identity file;
    struct as_timer_sampler *sampler;
    struct as_error err = {0};
    int status, fd = open(path, O_RDONLY | O_CLOEXEC);
    must(as_timer_sampler_open(directory, NULL, NULL, &sampler, &err), &err);
    pid_t pid = start(sampler, (const char *const[]){path, "executed", NULL});
    assert_int_equal(waitpid(pid, &status, 0), pid);
    must(as_timer_sampler_pump(sampler, true, keep_map, &told, &err), &err);
    as_timer_sampler_close(&sampler);
    rmdir(directory);
    assert_true(as_file_identify(fd, &file));
    close(fd);
    assert_int_equal(told.map.inode, file.inode);
    assert_int_equal(told.map.build_id_b, has_build_id ? 20 : 0);
    assert_int_equal(file.build_id_b, has_build_id ? 20 : 0);
    assert_memory_equal(told.map.build_id, file.build_id, sizeof file.build_id);
    assert_int_equal(told.map.file_b, has_build_id ? 0 : file.size_b);
    assert_int_equal(told.map.mtime_ns, has_build_id ? 0 : file.mtime_ns);
}

static void test_files(void **state)
{
    (void)state;
    expect_told(TARGET, true);
    expect_told(TARGETS "/agent-plain", false);
}

/* The directory is removed: the program runs on, and the loss is reported. */
static void test_gone(void **state)
{
    (void)state;
    struct as_timer_sampler *sampler;
    struct as_error err = {0};
    char path[80];
    must(as_timer_sampler_open(directory, NULL, NULL, &sampler, &err), &err);
    snprintf(path, sizeof path, "%s/control", directory);
    assert_int_equal(unlink(path), 0);
    int status;
    pid_t pid = start(sampler, (const char *const[]){TARGET, "executed", NULL});
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    as_timer_sampler_close(&sampler);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),     cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_signals),    cmocka_unit_test(test_closed),
        cmocka_unit_test(test_stacks),     cmocka_unit_test(test_forks),
        cmocka_unit_test(test_library),    cmocka_unit_test(test_many),
        cmocka_unit_test(test_killed),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_privileged), cmocka_unit_test(test_gone),
        cmocka_unit_test(test_files),
    };
    setenv("ASSAY_AGENT_LIBRARY", AGENT, 1);
    snprintf(directory, sizeof directory, "agent-test-%d.dir", (int)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
