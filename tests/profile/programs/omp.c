/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two parallel regions; each thread measures its part of each. Prints {"total_ns", "threads":
 * [{"tid", "omp", "ns": [of each region]}]}. Usage: omp SECONDS
 */
#define _GNU_SOURCE
#include "truth.h"

#include <omp.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 64, REGIONS = 2 };
static struct {
    long tid;
    uint64_t ns[REGIONS];
} threads[MOST];

static NOINLINE void region_one(uint64_t n)
{
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        uint64_t begin = thread_ns();
        SPIN(n * (uint64_t)(me + 1));
        threads[me].tid = syscall(SYS_gettid);
        threads[me].ns[0] += thread_ns() - begin;
    }
}
static NOINLINE void region_two(uint64_t n)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 100; i++) {
        uint64_t begin = thread_ns();
        SPIN(n / 20);
        threads[omp_get_thread_num()].ns[1] += thread_ns() - begin;
    }
}

int main(int argc, char **argv)
{
    uint64_t end = (uint64_t)(1e9 * (argc > 1 ? atof(argv[1]) : 0.3));
    omp_set_num_threads(3);
    while (thread_ns() < end) {
        region_one(300000);
        region_two(300000);
    }
    printf("{\"total_ns\": %llu, \"threads\": [", (unsigned long long)process_ns());
    for (int i = 0; i < 3; i++)
        printf("%s{\"tid\": %ld, \"omp\": %d, \"ns\": [%llu, %llu]}", i ? ", " : "", threads[i].tid,
               i, (unsigned long long)threads[i].ns[0], (unsigned long long)threads[i].ns[1]);
    printf("]}\n");
    return 0;
}
