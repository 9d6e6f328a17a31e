/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is compiled with -finstrument-functions and logs its own calls: a line "DEPTH NAME" each, in
 * order. usage: functions LOG CASE [NUMBER]
 */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNSEEN     __attribute__((no_instrument_function))
#define CALLS_MOST 20000

static __thread struct {
    int depth;
    const char *name;
} call[CALLS_MOST];
static __thread int calls, depth;
static volatile int sink;

UNSEEN static void seen(const char *name)
{
    if (calls < CALLS_MOST) {
        call[calls].depth = depth;
        call[calls++].name = name;
    }
    depth++;
}

UNSEEN static void left(int *unused)
{
    (void)unused;
    depth--;
}
#define CALL __attribute__((cleanup(left))) int guard = (seen(__func__), 0)

UNSEEN static void write_log(const char *path)
{
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < calls; i++)
        fprintf(file, "%d %s\n", call[i].depth, call[i].name);
    if (!file || fclose(file) != 0)
        exit(3);
}

__attribute__((noinline)) static int leaf(int x)
{
    CALL;
    return sink += x;
}

static inline int inlined(int x)
{
    CALL;
    return leaf(x) + 1;
}

/* Its stack pointer is another when it ends. */
__attribute__((noinline)) static int varying(int n)
{
    CALL;
    char *room = alloca((size_t)n + 100);
    room[0] = (char)n;
    if (n > 0)
        varying(n - 1);
    return leaf(room[0]) + inlined(n);
}

__attribute__((noinline)) static int again(int n)
{
    CALL;
    return n == 0 ? leaf(1) : 1 + again(n - 1);
}

static jmp_buf target;

__attribute__((noinline)) static void jumps(int n)
{
    CALL;
    leaf(n);
    if (n == 0)
        longjmp(target, 1);
    jumps(n - 1);
    sink++;
}

__attribute__((noinline)) static void lands(int n)
{
    CALL;
    const int here = depth;
    if (setjmp(target) == 0)
        jumps(n);
    depth = here;
    leaf(2);
}

__attribute__((noinline)) static int last_call(int n)
{
    CALL;
    return leaf(n);
}

static void handled(int number)
{
    CALL;
    (void)number;
    last_call(3);
}

__attribute__((noinline)) static void on_another_stack(void)
{
    CALL;
    static char room[1 << 16];
    const stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = handled, .sa_flags = SA_ONSTACK};
    if (sigaltstack(&stack, NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0)
        exit(4);
    raise(SIGUSR1);
    leaf(1);
}

UNSEEN static void run_nested(int n)
{
    for (int i = 0; i < 3; i++)
        varying(i + n);
    again(5 + n);
    for (int i = 0; i < 3; i++)
        lands(i + n);
    last_call(1);
    on_another_stack();
    last_call(2);
}

UNSEEN static void *run_thread(void *path)
{
    run_nested(1);
    write_log(path);
    return NULL;
}

UNSEEN static void run_threads(const char *path)
{
    pthread_t thread[3];
    char name[3][4096];
    for (int i = 0; i < 3; i++) {
        snprintf(name[i], sizeof name[i], "%s.%d", path, i);
        if (pthread_create(&thread[i], NULL, run_thread, name[i]) != 0)
            exit(5);
        pthread_join(thread[i], NULL);
    }
}

UNSEEN static void run_child(const char *path)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.child", path);
    again(2);
    const pid_t child = fork();
    if (child == 0) {
        calls = 0;
        last_call(4);
        again(3);
        write_log(name);
        _exit(0);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        exit(6);
    again(1);
}

#ifdef WITH_ASSAY
#include <assay/assay.h>

__attribute__((noinline)) static void is_off_within(void)
{
    CALL;
    leaf(1);
    assay_off();
    leaf(2);
    last_call(1);
}

__attribute__((noinline)) static void is_on_within(void)
{
    CALL;
    leaf(3);
    assay_on();
    leaf(4);
}

__attribute__((noinline)) static void around(void)
{
    CALL;
    is_off_within();
    leaf(5);
    is_on_within();
    leaf(6);
}

UNSEEN static void run_switched(void)
{
    around();
    leaf(7);
}
#endif

UNSEEN int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const int n = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
    if (strcmp(argv[2], "nested") == 0)
        run_nested(n);
    else if (strcmp(argv[2], "threads") == 0)
        run_threads(argv[1]);
    else if (strcmp(argv[2], "fork") == 0)
        run_child(argv[1]);
    else if (strcmp(argv[2], "deep") == 0)
        again(n);
#ifdef WITH_ASSAY
    else if (strcmp(argv[2], "switched") == 0)
        run_switched();
#endif
    else
        return 2;
    write_log(argv[1]);
    return 0;
}
