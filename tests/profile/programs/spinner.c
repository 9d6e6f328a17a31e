/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twelve functions that measure their shares while they run. Each thread (and each rank) calls them
 * at random, by weights of its own. Usage: spinner SECONDS [THREADS [SEED]], SECONDS of each
 * thread's CPU time. Prints {"total_ns", "threads": [{"tid", "ns": [of each function]}]}; with MPI
 * each rank writes truth-RANK.json instead.
 */
#define _GNU_SOURCE
#include "truth.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

enum { FUNCTIONS = 12, THREADS = 512 };

#define SPINNER(k)                                                                                 \
    static NOINLINE void spin_##k(uint64_t n)                                                      \
    {                                                                                              \
        SPIN(n);                                                                                   \
    }
SPINNER(00)
SPINNER(01)
SPINNER(02)
SPINNER(03)
SPINNER(04)
SPINNER(05)
SPINNER(06)
SPINNER(07)
SPINNER(08)
SPINNER(09)
SPINNER(10)
SPINNER(11)
static void (*const functions[FUNCTIONS])(uint64_t) = {
    spin_00, spin_01, spin_02, spin_03, spin_04, spin_05,
    spin_06, spin_07, spin_08, spin_09, spin_10, spin_11,
};

static struct worker {
    pthread_t thread;
    unsigned number;
    long tid;
    uint64_t ns[FUNCTIONS];
} workers[THREADS];
static uint64_t each_ns, first_seed;
static unsigned rank;

static NOINLINE void *work(void *context)
{
    struct worker *w = context;
    uint64_t seed = first_seed * 7919 + w->number * 104729u + rank * 15485863u;
    uint64_t last = thread_ns(), end = last + each_ns;

    w->tid = syscall(SYS_gettid);
    while (last < end) {
        /* Weights 1 to 12, turned by the number of the thread and the rank. */
        uint32_t ticket = truth_random(&seed) % (FUNCTIONS * (FUNCTIONS + 1) / 2);
        unsigned k = 0;
        while (ticket >= k + 1)
            ticket -= ++k;
        k = (k + 3 * w->number + 5 * rank) % FUNCTIONS;
        functions[k](100000 + truth_random(&seed) % 400000);
        uint64_t now = thread_ns();
        w->ns[k] += now - last;
        last = now;
    }
    return NULL;
}

static void print(FILE *to, unsigned n)
{
    fprintf(to, "{\"total_ns\": %llu, \"threads\": [", (unsigned long long)process_ns());
    for (unsigned i = 0; i < n; i++) {
        fprintf(to, "%s{\"tid\": %ld, \"ns\": [", i ? ",\n " : "", workers[i].tid);
        for (int k = 0; k < FUNCTIONS; k++)
            fprintf(to, "%s%llu", k ? ", " : "", (unsigned long long)workers[i].ns[k]);
        fprintf(to, "]}");
    }
    fprintf(to, "]}\n");
    fflush(to);
}

int main(int argc, char **argv)
{
    unsigned n = argc > 2 ? (unsigned)atoi(argv[2]) : 1;

    each_ns = (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 0.3));
    first_seed = argc > 3 ? (uint64_t)atoll(argv[3]) : 1;
    if (n < 1 || n > THREADS)
        return 2;
#ifdef WITH_MPI
    int number;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    rank = (unsigned)number;
#endif
    for (unsigned i = 0; i < n; i++)
        workers[i].number = i;
    for (unsigned i = 1; i < n; i++)
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    work(&workers[0]);
    for (unsigned i = 1; i < n; i++)
        pthread_join(workers[i].thread, NULL);
#ifdef WITH_MPI
    char name[32];
    snprintf(name, sizeof name, "truth-%u.json", rank);
    FILE *file = fopen(name, "w");
    if (!file)
        return 1;
    print(file, n);
    fclose(file);
    MPI_Finalize();
#else
    print(stdout, n);
#endif
    return 0;
}
