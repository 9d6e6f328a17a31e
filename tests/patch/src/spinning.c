/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library with a constructor that starts threads. These run its loop while dlopen has not
 * returned, so its code changes under them. It is loaded many times, because the position of the
 * threads is chance. Without -DLIBRARY, this is the program; its first argument is the path of the
 * library.
 *
 * - -DLIBRARY: this is the library
 * - -DBLOCKED: its threads block all signals, and cannot be stopped
 * - -DCONFINED: its threads restrict their system calls by seccomp, but allow those that they make
 * - -DFIRST_ENDED: the first thread of the program has ended; it stays in the process and cannot be
 *   stopped
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#define ALONE   __attribute__((noinline, noclone))
#define THREADS 3
#ifndef ROUNDS
#define ROUNDS 40
#endif

#ifdef LIBRARY
/* Its header is many short instructions, over which the jump comes to lie. */
ALONE static unsigned mix(unsigned n, unsigned x)
{
    unsigned s = x;
    __asm__ volatile("1:  inc %0\n"
                     "    dec %0\n"
                     "    inc %0\n"
                     "    xor %2, %0\n"
                     "    xor %2, %0\n"
                     "    dec %1\n"
                     "    jnz 1b\n"
                     : "+&r"(s), "+&r"(n)
                     : "r"(x));
    return s;
}

static pthread_t thread[THREADS];
static _Atomic int over;
static _Atomic long turns, wrong;

/* In no loop that is patched, most of the time. */
ALONE static void elsewhere(void)
{
    char room[32768];
    memset(room, 1, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
}

#ifdef CONFINED
static void confine(void)
{
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {1, &all};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    wrong += prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}
#endif

static void *spin(void *unused)
{
#ifdef CONFINED
    confine();
#endif
    while (!over) {
        wrong += mix(100, 7) != 107;
        turns++;
        elsewhere();
    }
    return unused;
}

__attribute__((constructor)) static void begin(void)
{
#ifdef BLOCKED
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, spin, NULL);
#ifdef BLOCKED
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
    while (turns < 2 * THREADS)
        ;
}

long finish(void)
{
    const long before = turns;
    while (turns < before + 50)
        ;
    over = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    return wrong;
}
#else
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static void await_end_of_first(void)
{
    char path[64], text[4096] = "";
    snprintf(path, sizeof path, "/proc/self/task/%ld/status", (long)getpid());
    while (!strstr(text, "State:\tZ")) {
        FILE *status = fopen(path, "r");
        text[status ? fread(text, 1, sizeof text - 1, status) : 0] = 0;
        if (status)
            fclose(status);
    }
}

static void *use_library(void *path)
{
    long good = 0;
#ifdef FIRST_ENDED
    await_end_of_first();
#else
    (void)await_end_of_first;
#endif
    for (int i = 0; i < ROUNDS; i++) {
        void *library = dlopen(path, RTLD_NOW);
        long (*finish)(void) = library ? (long (*)(void))(uintptr_t)dlsym(library, "finish") : NULL;
        good += finish && finish() == 0;
#if !defined BLOCKED && !defined CONFINED /* the code is checked while it is loaded */
        if (library)
            dlclose(library);
#endif
    }
    printf("%ld\n", good);
    exit(good != ROUNDS);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
#ifdef FIRST_ENDED
    pthread_t thread;
    pthread_create(&thread, NULL, use_library, argv[1]);
    pthread_exit(NULL);
#endif
    use_library(argv[1]);
}
#endif
