/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attached THREADS [ROUNDS...]: threads enter a loop again and again, with varying trip counts.
 * They write time and trip count to the file ATTACHED_LOG, until a byte comes on standard input.
 * Prints the rounds and the result of each thread; the same ROUNDS give the same results.
 * Short-lived threads run the loop, too, and so do handlers, in the first thread and in each
 * fourth. Another fourth of the threads waits in between in a system call that restarts.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define LOG_MOST 400000

struct entry {
    uint64_t tid, t0, t1, trips, number;
};
struct worker {
    pthread_t thread;
    unsigned number;
    long rounds, asked; /* asked below 0: until it is over */
    uint64_t sum;
    struct entry *log;
    size_t log_n;
};
static _Atomic int is_over;
static _Atomic uint64_t handled;

static inline uint64_t ticks(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    return low | (uint64_t)high << 32;
}

__attribute__((noinline)) static uint64_t mix(uint64_t s, long n)
{
    for (long i = 0; i < n; i++)
        s = s * 6364136223846793005u + (uint64_t)i;
    return s;
}

/* Calls in a nest: a thread in the callee during patching returns into the clone. */
__attribute__((noinline)) static uint64_t nest(uint64_t s, long n)
{
    for (long i = 0; i < n; i++)
        s += mix(s, 3 + i % 5);
    return s;
}

static void on_timer(int number)
{
    handled += mix((uint64_t)number, 50) & 1;
}

static void *work(void *argument)
{
    struct worker *w = argument;
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(w->number % 4 == 1 ? SIG_UNBLOCK : SIG_BLOCK, &alarm, NULL);
    const uint64_t tid = (uint64_t)syscall(SYS_gettid);
    uint64_t s = w->number + 1;
    while (w->asked >= 0 ? w->rounds < w->asked : !is_over) {
        const long trips = 200 + (long)(s >> 33) % 120000;
        const uint64_t t0 = ticks();
        s = mix(s, trips);
        const uint64_t t1 = ticks();
        if (w->log_n < LOG_MOST)
            w->log[w->log_n++] = (struct entry){tid, t0, t1, (uint64_t)trips, w->number};
        if (w->rounds % 16 == 0) /* seldom, so that all records are kept */
            s = nest(s, 3);
        if (w->number % 4 == 3) {
            const struct timespec time = {0, 2000000};
            nanosleep(&time, NULL);
        }
        w->rounds++;
    }
    w->sum = s;
    return NULL;
}

static void *pass(void *argument)
{
    *(uint64_t *)argument ^= mix(7, 5000);
    return NULL;
}

static void *make_passing(void *argument)
{
    const struct worker *w = argument;
    uint64_t sum = 0;
    while (!is_over) {
        pthread_kill(w->thread, SIGALRM);
        const struct timespec time = {0, 3000000};
        pthread_t thread;
        if (pthread_create(&thread, NULL, pass, &sum) == 0)
            pthread_join(thread, NULL);
        nanosleep(&time, NULL);
    }
    return NULL;
}

#ifdef CONFINED
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
static void restrict_self(void)
{
    struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog filter = {1, &all};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}
#elif defined SEGMENT
#include <asm/prctl.h>
static void restrict_self(void)
{
    static uint64_t own;
    syscall(SYS_arch_prctl, ARCH_SET_GS, &own);
}
#else
static void restrict_self(void)
{
}
#endif

struct all {
    struct worker *worker;
    unsigned n;
    bool asked; /* how many rounds each makes */
};

static void *finish(void *argument)
{
    const struct all *all = argument;
    pthread_t passing;
    char byte;
    if (!all->asked) {
        pthread_create(&passing, NULL, make_passing, &all->worker[all->n > 1]);
        fputs("ready\n", stderr);
        while (read(0, &byte, 1) < 0)
            ;
        is_over = 1;
        pthread_join(passing, NULL);
    }
    for (unsigned i = 0; i < all->n; i++)
        pthread_join(all->worker[i].thread, NULL);
    for (unsigned i = 0; i < all->n; i++)
        printf("%ld %llx\n", all->worker[i].rounds, (unsigned long long)all->worker[i].sum);
    FILE *log = !all->asked && getenv("ATTACHED_LOG") ? fopen(getenv("ATTACHED_LOG"), "wb") : NULL;
    for (unsigned i = 0; log && i < all->n; i++)
        fwrite(all->worker[i].log, sizeof *all->worker[i].log, all->worker[i].log_n, log);
    if (log)
        fclose(log);
    exit(0);
}

#ifdef FIRST_ENDS
/* The first thread ends when a file with the name of the log and ".end" exists. */
static void finish_without(struct all *all)
{
    char end[4096];
    const char *log = getenv("ATTACHED_LOG");
    pthread_t other;
    pthread_create(&other, NULL, finish, all);
    snprintf(end, sizeof end, "%s.end", log ? log : "");
    while (!all->asked && access(end, F_OK) < 0)
        usleep(1000);
    pthread_exit(NULL);
}
#else
static void finish_without(struct all *all)
{
    finish(all);
}
#endif

int main(int argc, char **argv)
{
    const unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
    const struct itimerval often = {{0, 1000}, {0, 1000}};
    struct worker *worker = calloc(n, sizeof *worker);
    static struct all all;
    all = (struct all){worker, n, argc > 2};
    restrict_self();
    signal(SIGALRM, on_timer);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; i < n; i++) {
        worker[i].number = i;
        worker[i].asked = argc > 2 + (int)i ? atol(argv[2 + i]) : -1;
        worker[i].log = malloc(LOG_MOST * sizeof *worker[i].log);
        pthread_create(&worker[i].thread, NULL, work, &worker[i]);
    }
    finish_without(&all);
}
