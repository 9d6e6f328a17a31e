/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs with known times that the agent must not disturb. Their account (account.h) has the time
 * of each function and thread. Usage: target MODE [LIBRARY]
 * Exit status 0: what the program did for itself worked as it does alone; else the line that found
 * out that it did not.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../sample/account.h"

#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what))                                                                               \
            _exit(__LINE__ & 127 ? __LINE__ & 127 : 1);                                            \
    } while (0)

static volatile uint64_t keep;

#ifdef __clang__
#define PLAIN __attribute__((noinline))
#else
#define PLAIN __attribute__((noinline, noclone))
#endif

static struct target_account *account;

/* Parts of the account. */
enum part {
    spin_1_part = 1,
    spin_2_part,
    spin_3_part,
    spin_blocked_part,
    spin_closed_part,
    spin_alternate_part,
    spin_deep_part,
    spin_context_part,
    spin_child_part,
    spin_executed_part,
    thread_part /* and those behind it */
};

/* A function that uses so much CPU time, in itself. */
#define SPIN(name)                                                                                 \
    PLAIN void name(long ms);                                                                      \
    void name(long ms)                                                                             \
    {                                                                                              \
        uint64_t x = keep;                                                                         \
        static _Thread_local struct account_turns turns;                                           \
        account_begin(&turns);                                                                     \
        do {                                                                                       \
            for (int i = 0; i < 100000; i++)                                                       \
                x = x * 6364136223846793005u + 1442695040888963407u;                               \
            account_add(&account->fair_ns, account_take(&turns, 1));                               \
        } while (turns.fair_ns < (uint64_t)ms * 1000000u);                                         \
        account_add(&account->used_ns[name##_part], turns.used_ns);                                \
        keep = x;                                                                                  \
    }
SPIN(spin_1)
SPIN(spin_2)
SPIN(spin_3)
SPIN(spin_blocked)
SPIN(spin_closed)
SPIN(spin_alternate)
SPIN(spin_deep)
SPIN(spin_context)
SPIN(spin_child)
SPIN(spin_executed)

PLAIN void *work(void *number);
void *work(void *number)
{
    const uint64_t begin_ns = account_now();
    for (int i = 0; i < 40; i++) {
        spin_1(4);
        spin_2(8);
        spin_3(12);
    }
    account_add(&account->used_ns[thread_part + (intptr_t)number], account_now() - begin_ns);
    return number;
}

/* Three threads, three functions: 1 to 2 to 3. */
static void shares(void)
{
    pthread_t thread[2];
    prctl(PR_SET_NAME, "first");
    for (intptr_t i = 0; i < 2; i++)
        MUST(pthread_create(&thread[i], NULL, work, (void *)(i + 1)) == 0);
    work(NULL);
    for (int i = 0; i < 2; i++)
        MUST(pthread_join(thread[i], NULL) == 0);
}

/* ---- Signals ------------------------------------------------------------------------------ */

static volatile sig_atomic_t profiled;

static void on_prof(int signal)
{
    (void)signal;
    profiled++;
}

/* Has SIGPROF for itself, handles every signal that it can, and blocks all. */
static void signals(void)
{
    sigset_t all, now;
    struct sigaction action = {.sa_handler = on_prof, .sa_flags = SA_RESTART}, old;
    const struct itimerval often = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
    sigfillset(&action.sa_mask);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) {
        MUST(sigaction(signal, &action, NULL) == 0);
        MUST(sigaction(signal, NULL, &old) == 0 && old.sa_handler == on_prof);
        MUST(raise(signal) == 0);
    }
    MUST(profiled == SIGRTMAX - SIGRTMIN + 1);
    profiled = 0;
    MUST(sigaction(SIGPROF, &action, NULL) == 0);
    MUST(setitimer(ITIMER_PROF, &often, NULL) == 0);
    spin_1(200);
    MUST(setitimer(ITIMER_PROF, &never, NULL) == 0);
    MUST(profiled >= 5);
    sigfillset(&all);
    MUST(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
    MUST(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    MUST(sigismember(&now, SIGPROF) == 1 && sigismember(&now, SIGTERM) == 1);
    spin_blocked(400);
    raise(SIGUSR1);
    int got = 0;
    MUST(sigwait(&all, &got) == 0 && got == SIGUSR1);
}

/* ---- Descriptors, environment ------------------------------------------------------------- */

static void closed(void)
{
    long most = sysconf(_SC_OPEN_MAX);
    clearenv();
    for (int fd = 0; fd < (most > 65536 ? 65536 : most); fd++)
        close(fd);
    errno = 77;
    spin_closed(400);
    MUST(errno == 77);
    MUST(open("/dev/null", O_RDWR) == 0);
    MUST(getenv("PATH") == NULL);
}

/* ---- Stacks ------------------------------------------------------------------------------- */

static void on_alternate(int signal)
{
    (void)signal;
    spin_alternate(400);
    keep++; /* no tail call */
}

PLAIN int deep(int depth);
int deep(int depth)
{
    volatile char *room = alloca(65536);
    room[0] = (char)depth;
    if (depth == 0)
        spin_deep(400);
    else
        deep(depth - 1);
    return room[0];
}

static ucontext_t outside, inside;

PLAIN void in_context(void);
void in_context(void)
{
    spin_context(400);
    keep++;
}

static void stacks(void)
{
    stack_t alternate = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction action = {.sa_handler = on_alternate, .sa_flags = SA_ONSTACK};
    MUST(sigaltstack(&alternate, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    raise(SIGUSR1);
    alternate.ss_flags = SS_DISABLE;
    MUST(sigaltstack(&alternate, NULL) == 0);
    deep(100);
    MUST(getcontext(&inside) == 0);
    inside.uc_stack.ss_sp = malloc(65536);
    inside.uc_stack.ss_size = 65536;
    inside.uc_link = &outside;
    makecontext(&inside, in_context, 0);
    MUST(swapcontext(&outside, &inside) == 0);
}

/* ---- Processes, libraries, threads -------------------------------------------------------- */

PLAIN static void forks(const char *self)
{
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        MUST(pid >= 0);
        if (pid == 0) {
            spin_child(300);
            if (i == 0)
                execl(self, self, "executed", (char *)NULL);
            _exit(i == 0);
        }
    }
    for (int i = 0, status; i < 3; i++)
        MUST(wait(&status) > 0 && status == 0);
}

/* By a name that is found along this program's RUNPATH only. */
PLAIN static void library(const char *name)
{
    void *handle = dlopen(name, RTLD_NOW);
    MUST(handle);
    void (*function)(long) = (void (*)(long))dlsym(handle, "spin_library");
    MUST(function);
    function(400);
    MUST(dlclose(handle) == 0);
}

static int c11(void *context)
{
    (void)context;
    return 42;
}

static void *brief(void *context)
{
    spin_1(1);
    if (context)
        pthread_exit(context);
    return NULL;
}

static void many(void)
{
    pthread_attr_t small;
    MUST(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 65536) == 0);
    for (int i = 0; i < 500; i++) {
        pthread_t thread;
        void *got;
        MUST(pthread_create(&thread, i % 2 ? &small : NULL, brief,
                            i % 3 ? (void *)(uintptr_t)&keep : NULL) == 0);
        MUST(pthread_join(thread, &got) == 0 && got == (i % 3 ? (void *)(uintptr_t)&keep : NULL));
    }
    thrd_t thread;
    int got;
    MUST(thrd_create(&thread, c11, NULL) == thrd_success);
    MUST(thrd_join(thread, &got) == thrd_success && got == 42);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "shares";
    account = account_open();
    if (strcmp(mode, "shares") == 0)
        shares();
    else if (strcmp(mode, "signals") == 0)
        signals();
    else if (strcmp(mode, "closed") == 0)
        closed();
    else if (strcmp(mode, "stacks") == 0)
        stacks();
    else if (strcmp(mode, "forks") == 0)
        forks(argv[0]);
    else if (strcmp(mode, "executed") == 0)
        spin_executed(300);
    else if (strcmp(mode, "library") == 0)
        library(argv[2]);
    else if (strcmp(mode, "many") == 0)
        many();
    else if (strcmp(mode, "killed") == 0) {
        spin_1(400);
        raise(SIGKILL);
    } else
        return 2;
    return 0;
}
