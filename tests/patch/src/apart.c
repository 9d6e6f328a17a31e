/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Effects of a ptrace tracer that a program can notice: its signals, job control, children in its
 * memory, executions. Prints how often its loop ran.
 */
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile sig_atomic_t handled;

__attribute__((noinline)) unsigned long work(unsigned long n)
{
    unsigned long s = 1;
    for (unsigned long i = 0; i < n; i++)
        s = s * 5 ^ i;
    __asm__ volatile("" : "+r"(s)); /* called although its result is not needed */
    return s;
}

static void on_signal(int signal)
{
    handled += signal;
    work(10);
}

static void *one_thread(void *unused)
{
    (void)unused;
    work(100);
    return NULL;
}

static void run_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, one_thread, NULL);
    pthread_join(thread, NULL);
}

/* A trap that is ignored stays so, and one that is handled, or blocked. */
static void check_traps(void)
{
    struct sigaction action;
    sigset_t set;
    signal(SIGTRAP, SIG_IGN);
    run_thread();
    sigaction(SIGTRAP, NULL, &action);
    printf("ignored: %d\n", action.sa_handler == SIG_IGN);
    raise(SIGTRAP);
    signal(SIGTRAP, on_signal);
    run_thread();
    raise(SIGTRAP);
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    run_thread();
    raise(SIGTRAP);
    sigaction(SIGTRAP, NULL, &action);
    printf("handled: %d %d\n", action.sa_handler == on_signal, (int)handled);
    sigpending(&set);
    printf("pending: %d\n", sigismember(&set, SIGTRAP));
}

/* A child stops, begins a thread when it goes on, and ends by a signal. */
static void check_stops(void)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        run_thread();
        raise(SIGTSTP);
        raise(SIGKILL);
    }
    for (int i = 0; i < 2; i++) {
        waitpid(child, &status, WUNTRACED);
        printf("stopped: %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status));
        kill(child, SIGCONT);
    }
    waitpid(child, &status, 0);
    printf("killed by %d\n", WTERMSIG(status));
}

static void check_children(const char *self)
{
    int status;
    pid_t child = vfork();
    if (child == 0) {
        work(1000);
        _exit(3);
    }
    waitpid(child, &status, 0);
    printf("vfork: %d\n", WEXITSTATUS(status));
    char *const again[] = {(char *)(unsigned long)self, (char[]){"again"}, NULL};
    fflush(stdout);
    if (posix_spawn(&child, self, NULL, NULL, again, environ) == 0)
        waitpid(child, &status, 0);
    printf("spawned: %d\n", WEXITSTATUS(status));
    char *const other[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, (char[]){"exit 7"}, NULL};
    if (posix_spawn(&child, other[0], NULL, NULL, other, environ) == 0)
        waitpid(child, &status, 0);
    printf("a shell: %d\n", WEXITSTATUS(status));
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        work(20);
        return 5;
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 50; i++)
        raise(SIGUSR1);
    printf("signals: %d\n", (int)handled);
    handled = 0;
    check_traps();
    check_stops();
    check_children(argv[0]);
    work(1);
    /* 51 handlers and 2 of traps, 3 threads and the child's, the second execution, the last */
    printf("truth work %d %d\n", 50 + 1 + 3 + 1 + 1 + 1, 510 + 300 + 100 + 20 + 1);
    return 0;
}
