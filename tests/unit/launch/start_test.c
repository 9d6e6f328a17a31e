/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting and following: the program gets what its user gave, notices nothing, and ends as it
 * would without us; signals reach it once.
 */
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "place.h"

/* ---- One program --------------------------------------------------------------------------- */

static struct as_launch *start(const char *const *argv, const struct as_launch_options *options)
{
    struct as_launch_plan *plan = NULL;
    struct as_launch *launch = NULL;
    fine(as_launch_plan(argv, &plan, err));
    fine(as_launch_start(plan, options, &launch, err));
    as_launch_plan_free(&plan); /* not needed any more */
    return launch;
}

/* Runs `script` by sh to its end. */
static struct as_launch_outcome run_sh(const char *script, const struct as_launch_options *options)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct as_launch *launch = start(argv, options);
    fine(as_launch_go(launch, err));
    const struct as_launch_outcome outcome = *to_end(launch);
    as_launch_close(&launch);
    assert_null(launch);
    return outcome;
}

static void test_exit_codes(void **state)
{
    (void)state;
    static const int codes[] = {0, 1, 7, 125, 127, 255};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char script[32];
        snprintf(script, sizeof script, "exit %d", codes[i]);
        const struct as_launch_outcome o = run_sh(script, NULL);
        assert_true(o.over && o.exited);
        assert_false(o.signalled || o.interrupted || o.left);
        assert_int_equal(o.exit_code, codes[i]);
        assert_true(o.start_ns > 0 && o.end_ns > o.start_ns);
    }
}

/* The run-queue wait that a shell reads of itself lies between zero and the wait at its end. Its
 * account began before it executed. */
static void test_ready(void **state)
{
    (void)state;
    char text[64] = "";
    const bool is_counted = access("/proc/thread-self/schedstat", R_OK) == 0;
    const struct as_launch_outcome o = run_sh("read -r _ ready _ </proc/$$/schedstat; "
                                              "echo $ready >ready",
                                              NULL);
    assert_true(o.executed_ns >= o.start_ns && o.executed_ns <= o.end_ns);
    if (!is_counted) {
        assert_true(o.ready_begin_ns == -1 && o.ready_end_ns == -1);
        return;
    }
    FILE *file = fopen("ready", "re");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    const int64_t own_ns = strtoll(text, NULL, 10);
    assert_true(o.ready_begin_ns >= 0 && o.ready_begin_ns <= o.ready_end_ns);
    assert_true(o.ready_end_ns >= own_ns);
}

static void test_killed(void **state)
{
    (void)state;
    static const int signals[] = {SIGKILL, SIGTERM, SIGSEGV, SIGINT};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        char script[64];
        snprintf(script, sizeof script, "ulimit -c 0; kill -%d $$", signals[i]);
        const struct as_launch_outcome o = run_sh(script, NULL);
        assert_true(o.over && o.signalled);
        assert_false(o.exited || o.interrupted);
        assert_int_equal(o.exit_signal, signals[i]);
    }
}

/* The usage includes children that were waited for: 30 MiB and some CPU time. */
static void test_usage(void **state)
{
    (void)state;
    const struct as_launch_outcome o =
        run_sh("head -c 30000000 /dev/zero | tail -n 1 | wc -c >/dev/null", NULL);
    assert_true(o.resident_max_b > 25000000);
    assert_true(o.user_ns + o.system_ns > 0);
    assert_true(o.fault_minor_n > 1000);
    assert_true(o.switch_voluntary_n > 0);
}

/* Between start and go nothing of the program has run, and signals cannot end the child. */
static void test_gate(void **state)
{
    const struct place *place = *state;
    char script[256], link[64], ours[4096], theirs[4096];
    snprintf(script, sizeof script, "echo ran >%s", in(place, "mark"));
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct as_launch *launch = start(argv, NULL);
    const pid_t pid = as_launch_pid(launch);
    assert_true(pid > 0);
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    const ssize_t n = readlink("/proc/self/exe", ours, sizeof ours);
    assert_int_equal(readlink(link, theirs, sizeof theirs), n);
    assert_memory_equal(ours, theirs, (size_t)n);
    struct as_error why;
    assert_int_equal(as_launch_step(launch, &why), 1);
    fine(as_launch_go(launch, err));
    refused(as_launch_go(launch, err), AS_ERR_USAGE, "already");
    to_end(launch);
    assert_string_equal(text_of(place, "mark"), "ran\n");
    as_launch_close(&launch);
}

static void test_not_let_go(void **state)
{
    const struct place *place = *state;
    char script[256];
    snprintf(script, sizeof script, "echo ran >%s", in(place, "mark"));
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct as_launch *launch = start(argv, NULL);
    const pid_t pid = as_launch_pid(launch);
    as_launch_close(&launch);
    assert_int_equal(waitpid(pid, NULL, 0), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(access(in(place, "mark"), F_OK), -1);
    as_launch_close(&launch);
}

/* The kernel reports changes between plan and go. */
static void test_gone_before_go(void **state)
{
    const struct place *place = *state;
    const char *path = put_text(place, "script", "#!/bin/sh\n");
    const char *const argv[] = {path, NULL};
    struct as_launch *launch = start(argv, NULL);
    assert_int_equal(unlink(path), 0);
    refused(as_launch_go(launch, err), AS_ERR_NOT_FOUND, "is missing");
    assert_true(as_launch_outcome(launch)->over);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    as_launch_close(&launch);
    path = put_text(place, "script", "#!/bin/sh\n");
    launch = start(argv, NULL);
    assert_int_equal(chmod(path, 0644), 0);
    refused(as_launch_go(launch, err), AS_ERR_PERMISSION, "permissions");
    as_launch_close(&launch);
}

static void test_too_long(void **state)
{
    (void)state;
    char *word = malloc(200000); /* one word may have 128 KiB */
    assert_non_null(word);
    memset(word, 'x', 199999);
    word[199999] = 0;
    const char *const argv[] = {"/bin/true", word, NULL};
    struct as_launch *launch = start(argv, NULL);
    refused(as_launch_go(launch, err), AS_ERR_LIMIT, "too long");
    as_launch_close(&launch);
    free(word);
}

static void test_one_at_a_time(void **state)
{
    (void)state;
    const char *const argv[] = {"/bin/true", NULL};
    struct as_launch_plan *plan = NULL;
    struct as_launch *one = start(argv, NULL), *other = NULL;
    fine(as_launch_plan(argv, &plan, err));
    refused(as_launch_start(plan, NULL, &other, err), AS_ERR_USAGE, "watched already");
    assert_null(other);
    fine(as_launch_go(one, err));
    to_end(one);
    as_launch_close(&one);
    fine(as_launch_start(plan, NULL, &other, err));
    as_launch_close(&other);
    as_launch_plan_free(&plan);
}

static void test_signal(void **state)
{
    (void)state;
    const char *const argv[] = {"/bin/sleep", "60", NULL};
    struct as_launch *launch = start(argv, NULL);
    fine(as_launch_go(launch, err));
    fine(as_launch_signal(launch, SIGUSR1, err));
    assert_int_equal(to_end(launch)->exit_signal, SIGUSR1);
    fine(as_launch_signal(launch, SIGUSR1, err)); /* already ended */
    as_launch_close(&launch);
}

/* ---- What it is given ---------------------------------------------------------------------- */

static void test_environment(void **state)
{
    const struct place *place = *state;
    char script[512];
    const char *const add[] = {"ASSAY_TEST_A=new", "ASSAY_TEST_B=b=c", NULL};
    const struct as_launch_options options = {.environment = add, .preload = "libm.so.6"};
    setenv("ASSAY_TEST_A", "old", 1);
    setenv("ASSAY_TEST_C", "kept", 1);
    snprintf(script, sizeof script,
             "echo $ASSAY_TEST_A $ASSAY_TEST_B $ASSAY_TEST_C $LD_PRELOAD >%s", in(place, "out"));
    run_sh(script, &options);
    assert_string_equal(text_of(place, "out"), "new b=c kept libm.so.6\n");
    setenv("LD_PRELOAD", "libdl.so.2", 1);
    run_sh(script, &options);
    assert_string_equal(text_of(place, "out"), "new b=c kept libdl.so.2:libm.so.6\n");
    unsetenv("LD_PRELOAD");
    run_sh(script, NULL);
    assert_string_equal(text_of(place, "out"), "old kept\n");
}

/* The same report under us as without us, in settings of many kinds. */
static void expect_same(const struct place *place, const char *settings)
{
    put_text(place, "outcome", "");
    for (int i = 0; i < 2; i++) {
        char command[2048], way[512] = "";
        if (i == 1)
            snprintf(way, sizeof way, "%s %s/outcome ", DRIVE, place->dir);
        snprintf(command, sizeof command, "cd %s && sh -c '%s exec %s%s report %s/%d'", place->dir,
                 settings, way, PROBE, place->dir, i);
        if (system(command) != 0)
            fail_msg("%s", command);
    }
    const char *without = text_of(place, "0"), *with = text_of(place, "1");
    assert_true(strlen(without) > 1000);
    assert_string_equal(without, with);
}

static void test_settings(void **state)
{
    const struct place *place = *state;
    expect_same(place, "");
    expect_same(place, "trap \"\" HUP INT USR2 PIPE;");
    expect_same(place, "ulimit -n 77; ulimit -s 4096; ulimit -c 0; umask 027;");
    expect_same(place, "exec 5<outcome; exec 9>nine; cd /;");
    expect_same(place, "exec <&- 2>&-;");
    expect_same(place, "unset PATH HOME; X=\"a b\"; export X;");
    expect_same(place, "mkdir gone; cd gone; rmdir ../gone;");
}

/* Bytes and the end of input pass: 1 MiB through a pipe, its sum compared. */
static void test_streams(void **state)
{
    const struct place *place = *state;
    char command[1024];
    snprintf(command, sizeof command,
             "cd %s && head -c 1048576 /dev/urandom >a && "
             "cat a | %s outcome sh -c 'cat; echo error >&2; exit 3' 2>e | cmp - a",
             place->dir, DRIVE);
    assert_int_equal(system(command), 0);
    assert_string_equal(text_of(place, "e"), "error\n");
    assert_string_equal(text_of(place, "outcome"),
                        "exited 1 3 signalled 0 0 interrupted 0 interrupts 0 left 0\n");
}

static void test_bare(void **state)
{
    const struct place *place = *state;
    char command[1024];
    snprintf(command, sizeof command, "cd %s && %s outcome %s bare", place->dir, DRIVE, PROBE);
    const int status = system(command);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 6);
}

/* ---- Signals ------------------------------------------------------------------------------- */

/* Reads from `fd` until `text` came. */
static void await(int fd, const char *text)
{
    char got[4096];
    size_t n = 0;
    while (n + 1 < sizeof got) {
        struct pollfd one = {.fd = fd, .events = POLLIN};
        if (poll(&one, 1, 300000) != 1 || read(fd, got + n, 1) != 1)
            break;
        got[++n] = 0;
        if (strstr(got, text))
            return;
    }
    fail_msg("\"%s\" did not come", text);
}

/* Starts drive in a terminal of its own, with the probe that does `what`; returns its pid. It
 * receives Ctrl-C even if the caller of this test ignores it, as scripts do in the background. */
static pid_t in_terminal(const struct place *place, int *terminal, const char *what)
{
    const pid_t pid = forkpty(terminal, NULL, NULL, NULL);
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        if (chdir(place->dir) == 0)
            execl(DRIVE, DRIVE, "outcome", PROBE, what,
                  strcmp(what, "count") == 0 ? "counted" : NULL, NULL);
        _exit(120);
    }
    await(*terminal, "ready");
    return pid;
}

static int status_of(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Ctrl-C comes from the terminal to both: the program sees each once, and goes on if it likes. */
static void test_interrupt(void **state)
{
    const struct place *place = *state;
    int terminal;
    const pid_t pid = in_terminal(place, &terminal, "count");
    assert_int_equal(write(terminal, "\3", 1), 1);
    await(terminal, "1\r\n");
    assert_int_equal(write(terminal, "\3", 1), 1);
    await(terminal, "2\r\n");
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(status_of(pid), 42);
    assert_string_equal(text_of(place, "counted"), "2\n");
    const char *outcome = text_of(place, "outcome");
    assert_true(has(outcome, "exited 1 42 signalled 0 0 interrupted 1 "));
    assert_false(has(outcome, "interrupts 0")); /* 2, unless two seconds were between them */
    close(terminal);
}

/* A signal sent to us alone is passed on. */
static void test_forwarded(void **state)
{
    const struct place *place = *state;
    int terminal;
    const pid_t pid = in_terminal(place, &terminal, "count");
    assert_int_equal(kill(pid, SIGINT), 0);
    await(terminal, "1\r\n");
    assert_int_equal(kill(pid, SIGTERM), 0);
    assert_int_equal(status_of(pid), 42);
    assert_string_equal(text_of(place, "counted"), "1\n");
    close(terminal);
}

/* One that ends by Ctrl-C ends us with 128 + 2, as a shell has it, and its outcome was written. */
static void test_ended_by_interrupt(void **state)
{
    const struct place *place = *state;
    int terminal;
    const pid_t pid = in_terminal(place, &terminal, "wait");
    assert_int_equal(write(terminal, "\3", 1), 1);
    assert_int_equal(status_of(pid), 130);
    assert_string_equal(text_of(place, "outcome"),
                        "exited 0 0 signalled 1 2 interrupted 1 interrupts 1 left 0\n");
    close(terminal);
}

/* A signal that the user ignores (nohup) ends neither. */
static void test_ignored(void **state)
{
    const struct place *place = *state;
    char command[1024];
    snprintf(command, sizeof command,
             "cd %s && trap '' HUP && %s outcome sh -c 'kill -HUP $PPID; kill -HUP $$; exit 5'",
             place->dir, DRIVE);
    const int status = system(command);
    assert_int_equal(WEXITSTATUS(status), 5);
    assert_string_equal(text_of(place, "outcome"),
                        "exited 1 5 signalled 0 0 interrupted 0 interrupts 0 left 0\n");
}

/* Handlers are back as they were. */
static void test_restored(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
    const char *const argv[] = {"/bin/true", NULL};
    struct sigaction before[5]; /* of nohup, SIGHUP's is not the default */
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(sigaction(signals[i], NULL, &before[i]), 0);
    struct as_launch *launch = start(argv, NULL);
    fine(as_launch_go(launch, err));
    to_end(launch);
    as_launch_close(&launch);
    for (size_t i = 0; i < 5; i++) {
        struct sigaction action;
        assert_int_equal(sigaction(signals[i], NULL, &action), 0);
        assert_true(action.sa_handler == before[i].sa_handler);
    }
}

static volatile sig_atomic_t heard_n;

static void hear(int number)
{
    heard_n += number == SIGTERM;
}

/* The handler of the caller, restored at close, receives a signal after the last look. It receives
 * no signal that a look has seen. */
static void test_handed_back(void **state)
{
    (void)state;
    const struct sigaction action = {.sa_handler = hear};
    const char *const argv[] = {"/bin/true", NULL};
    struct sigaction before;
    for (int looks = 0; looks < 2; looks++) {
        assert_int_equal(sigaction(SIGTERM, &action, &before), 0);
        heard_n = 0;
        struct as_launch *launch = start(argv, NULL);
        fine(as_launch_go(launch, err));
        to_end(launch);
        raise(SIGTERM);
        assert_int_equal(heard_n, 0);
        if (looks)
            fine(as_launch_step(launch, err));
        assert_int_equal(as_launch_outcome(launch)->interrupted, looks);
        as_launch_close(&launch);
        assert_int_equal(heard_n, !looks);
        assert_int_equal(sigaction(SIGTERM, &before, NULL), 0);
    }
}

/* Without memory nothing is left behind. */
static void test_memory(void **state)
{
    (void)state;
    const char *const argv[] = {"/bin/true", NULL};
    struct as_launch_plan *plan = NULL;
    fine(as_launch_plan(argv, &plan, err));
    for (int n = 0; n < 2; n++) {
        struct as_launch *launch = NULL;
        struct as_error err = {0};
        as_alloc_fail_after(n);
        const int rc = as_launch_start(plan, NULL, &launch, &err);
        as_alloc_fail_after(-1);
        assert_int_equal(rc, AS_ERR_NOMEM);
        assert_int_equal(err.code, AS_ERR_NOMEM);
        assert_null(launch);
    }
    as_launch_plan_free(&plan);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* ---- Attaching ----------------------------------------------------------------------------- */

/* Starts a process that ends with the test, whatever happens to that. */
static pid_t sleeper(void)
{
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("/bin/sleep", "sleep", "1000", NULL);
        _exit(120);
    }
    return pid;
}

static void test_attach(void **state)
{
    (void)state;
    const pid_t pid = sleeper();
    struct as_launch *launch = NULL;
    struct as_error why;
    fine(as_launch_attach(pid, &launch, err));
    assert_int_equal(as_launch_pid(launch), pid);
    assert_int_equal(as_launch_step(launch, &why), 1);
    refused(as_launch_signal(launch, SIGTERM, err), AS_ERR_USAGE, "not started by assay");
    kill(pid, SIGKILL);
    const struct as_launch_outcome *o = to_end(launch);
    assert_true(o->over);
    assert_false(o->left || o->exited || o->signalled);
    assert_int_equal(o->exit_code, 0);
    as_launch_close(&launch);
    /* It is a zombie now, which cannot be attached. */
    refused(as_launch_attach(pid, &launch, err), AS_ERR_NOT_FOUND, "it has ended (a zombie)");
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    refused(as_launch_attach(pid, &launch, err), AS_ERR_NOT_FOUND, "no such process");
}

static void test_leave(void **state)
{
    (void)state;
    const pid_t pid = sleeper();
    struct as_launch *launch = NULL;
    fine(as_launch_attach(pid, &launch, err));
    kill(getpid(), SIGTERM);
    const struct as_launch_outcome *o = to_end(launch);
    assert_true(o->left && o->interrupted);
    as_launch_close(&launch);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0); /* it lives */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void *attach_own_thread(void *tid)
{
    *(pid_t *)tid = (pid_t)syscall(SYS_gettid);
    struct as_launch *launch = NULL;
    refused(as_launch_attach(*(pid_t *)tid, &launch, err), AS_ERR_USAGE, "is a thread of");
    return NULL;
}

static void test_attach_refused(void **state)
{
    (void)state;
    struct as_launch *launch = NULL;
    pid_t tid;
    pthread_t thread;
    refused(as_launch_attach(0, &launch, err), AS_ERR_USAGE, "invalid process number");
    refused(as_launch_attach(-5, &launch, err), AS_ERR_USAGE, "invalid process number");
    refused(as_launch_attach(getpid(), &launch, err), AS_ERR_USAGE, "assay itself");
    refused(as_launch_attach(0x7ffffffe, &launch, err), AS_ERR_NOT_FOUND, "no such process");
    assert_null(launch);
    assert_int_equal(pthread_create(&thread, NULL, attach_own_thread, &tid), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    FILE *f = fopen("/proc/2/comm", "r");
    char name[32] = "";
    if (f && fgets(name, sizeof name, f) && strcmp(name, "kthreadd\n") == 0)
        refused(as_launch_attach(2, &launch, err), AS_ERR_UNSUPPORTED, "kernel thread");
    else
        print_message("# no thread of the kernel is seen here\n");
    if (f)
        fclose(f);
}

/* A process of another user cannot be attached. */
static void test_attach_foreign(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("# not root: no process of another user can be made here\n");
        return;
    }
    const pid_t target = sleeper(), asker = fork();
    if (asker == 0) {
        struct as_launch *launch = NULL;
        struct as_error err = {0};
        if (setgid(65534) < 0 || setuid(65534) < 0)
            _exit(1);
        const int rc = as_launch_attach(target, &launch, &err);
        _exit(rc == AS_ERR_PERMISSION && has(err.text, "user root (0)") ? 0 : 2);
    }
    assert_int_equal(status_of(asker), 0);
    kill(target, SIGKILL);
    waitpid(target, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_ready),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_usage),
        place_test(test_gate),
        place_test(test_not_let_go),
        place_test(test_gone_before_go),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_signal),
        place_test(test_environment),
        place_test(test_settings),
        place_test(test_streams),
        place_test(test_bare),
        place_test(test_interrupt),
        place_test(test_forwarded),
        place_test(test_ended_by_interrupt),
        place_test(test_ignored),
        cmocka_unit_test(test_restored),
        cmocka_unit_test(test_handed_back),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_attach),
        cmocka_unit_test(test_leave),
        cmocka_unit_test(test_attach_refused),
        cmocka_unit_test(test_attach_foreign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
