/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that logs its regions and values in known numbers. Usage: named MODE. Its output must
 * not depend on whether it is observed.
 */
#include <assay/assay.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void repeat_region(const char *name, int n)
{
    for (int i = 0; i < n; i++) {
        assay_region_begin(name);
        assay_event("value", i);
        assay_region_end(name);
    }
}

static int recurse(int depth)
{
    assay_region_begin("recursion");
    const int sum = depth ? depth + recurse(depth - 1) : 0;
    assay_region_end("recursion");
    return sum;
}

static void *work(void *number)
{
    char name[32];
    snprintf(name, sizeof name, "thread %d", (int)(intptr_t)number);
    repeat_region(name, 100);
    repeat_region("shared", 1000 + (int)(intptr_t)number);
    return NULL;
}

static void threads(void)
{
    pthread_t thread[8];
    for (intptr_t i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, work, (void *)i);
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
}

static jmp_buf out;

static void jump(void)
{
    assay_region_begin("left by a jump");
    longjmp(out, 1);
}

static void counts(void)
{
    printf("%d\n", recurse(100));
    repeat_region("plain", 1000);
    assay_region_end("plain");
    assay_datum("residual", 1);
    assay_datum("residual", 0.125);
    if (setjmp(out) == 0)
        jump();
    assay_off();
    repeat_region("plain", 10);
    assay_on();
    repeat_region("plain", 1);
}

static void children(void)
{
    fflush(stdout);
    repeat_region("before", 3);
    const pid_t pid = fork();
    if (pid == 0) {
        repeat_region("before", 5);
        repeat_region("child", 7);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    repeat_region("before", 10);
}

static volatile sig_atomic_t handled;

static void on_signal(int signal)
{
    (void)signal;
    handled++;
}

static void signals(void)
{
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 100; i++) {
        assay_region_begin("signalled");
        raise(SIGUSR1);
        assay_region_end("signalled");
    }
    printf("%d\n", (int)handled);
}

static void many(void)
{
    char name[128];
    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof name, "name %d", i);
        repeat_region(name, 1);
    }
}

static void killed(void)
{
    repeat_region("whole", 12);
    assay_region_begin("cut");
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {{"threads", threads}, {"counts", counts}, {"children", children},
                 {"signals", signals}, {"many", many},     {"killed", killed}};
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            modes[i].run();
    puts("done");
    return 0;
}
