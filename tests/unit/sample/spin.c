/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target with known shares: four functions of the same loop, run 1, 2, 3 and 4 times as long, in
 * as many threads as asked. Usage: spin THREADS ROUNDS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static long rounds;

#define SPIN(name, times)                                                                          \
    __attribute__((noinline)) uint64_t name(uint64_t x)                                            \
    {                                                                                              \
        for (long i = 0; i < 20000L * (times); i++)                                                \
            x = x * 6364136223846793005u + 1442695040888963407u;                                   \
        return x;                                                                                  \
    }
uint64_t spin_1(uint64_t x);
uint64_t spin_2(uint64_t x);
uint64_t spin_3(uint64_t x);
uint64_t spin_4(uint64_t x);
SPIN(spin_1, 1)
SPIN(spin_2, 2)
SPIN(spin_3, 3)
SPIN(spin_4, 4)

static void *work(void *context)
{
    uint64_t x = (uintptr_t)context;
    for (long i = 0; i < rounds; i++)
        x = spin_4(spin_3(spin_2(spin_1(x))));
    return (void *)(uintptr_t)x;
}

int main(int argc, char **argv)
{
    enum { MOST = 512 };
    static pthread_t thread[MOST];
    int n = argc > 1 ? atoi(argv[1]) : 1;
    rounds = argc > 2 ? atol(argv[2]) : 100;
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
