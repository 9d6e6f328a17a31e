/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target with known shares: four functions of the same loop, run 1, 2, 3 and 4 times as long, in
 * as many threads as asked. Each thread ends once it has used its CPU time, whatever else runs on
 * the machine. Usage: spin THREADS CPU_MS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static uint64_t enough_ns;

#define SPIN(name, times)                                                                          \
    __attribute__((noinline)) uint64_t name(uint64_t x, long n)                                    \
    {                                                                                              \
        for (long i = 0; i < n * (times); i++)                                                     \
            x = x * 6364136223846793005u + 1442695040888963407u;                                   \
        return x;                                                                                  \
    }
uint64_t spin_1(uint64_t x, long n);
uint64_t spin_2(uint64_t x, long n);
uint64_t spin_3(uint64_t x, long n);
uint64_t spin_4(uint64_t x, long n);
SPIN(spin_1, 1)
SPIN(spin_2, 2)
SPIN(spin_3, 3)
SPIN(spin_4, 4)

static uint64_t used_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Rounds of changing length, so that none keeps step with the sampling. */
static void *work(void *context)
{
    uint64_t x = (uintptr_t)context;
    do {
        long n = 5000 + (long)(x >> 49); /* + 0 to 32767 */
        x = spin_4(spin_3(spin_2(spin_1(x, n), n), n), n);
    } while (used_ns() < enough_ns);
    return (void *)(uintptr_t)x;
}

int main(int argc, char **argv)
{
    enum { MOST = 512 };
    static pthread_t thread[MOST];
    int n = argc > 1 ? atoi(argv[1]) : 1;
    enough_ns = (argc > 2 ? strtoul(argv[2], NULL, 10) : 100) * 1000000u;
    if (n > MOST)
        n = MOST;
    for (int i = 1; i < n; i++)
        if (pthread_create(&thread[i], NULL, work, NULL) != 0)
            return 1;
    volatile uintptr_t keep = (uintptr_t)work(NULL);
    (void)keep;
    for (int i = 1; i < n; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
