/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that live for a moment, four at a time. Usage: many THREADS SPINS
 */
#include "truth.h"

#include <pthread.h>

static uint64_t spins;
static NOINLINE void moment(void)
{
    SPIN(spins);
}
static void *work(void *context)
{
    uint64_t *ns = context, begin = thread_ns();
    moment();
    *ns = thread_ns() - begin;
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
    spins = argc > 2 ? (uint64_t)atoll(argv[2]) : 100000;
    for (unsigned i = 0; i < n; i += 4) {
        pthread_t thread[4];
        uint64_t ns[4];
        for (unsigned k = 0; k < 4; k++)
            if (pthread_create(&thread[k], NULL, work, &ns[k]) != 0)
                return 1;
        for (unsigned k = 0; k < 4; k++) {
            pthread_join(thread[k], NULL);
            truth_add("moment", ns[k]);
        }
    }
    truth_print(stdout);
    return 0;
}
