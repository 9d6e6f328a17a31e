/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target with known shares: four functions of the same loop, run 1, 2, 3 and 4 times as long, in
 * the given number of threads. Each thread ends after its CPU time, whatever else runs on the
 * machine. Its account: the CPU time of each thread. Usage: spin THREADS CPU_MS
 */
#include <pthread.h>

#include "account.h"

static struct target_account *account;
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

/* Rounds of changing length, so that none keeps step with the sampling. */
static void *work(void *context)
{
    uint64_t x = (uintptr_t)context;
    struct account_turns turns = {.best_ns = 0};
    account_begin(&turns);
    do {
        long n = 5000 + (long)(x >> 49); /* + 0 to 32767 */
        x = spin_4(spin_3(spin_2(spin_1(x, n), n), n), n);
        account_add(&account->fair_ns, account_take(&turns, (double)n));
    } while (turns.fair_ns < enough_ns);
    return (void *)(uintptr_t)x;
}

int main(int argc, char **argv)
{
    enum { MOST = 512 };
    static pthread_t thread[MOST];
    int n = argc > 1 ? atoi(argv[1]) : 1;
    account = account_open();
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
