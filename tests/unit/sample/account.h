/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Account of a target of its own CPU time, in memory shared with a test. A test compares samples
 * with the real time, not with that of a calm machine. For C and C++.
 *
 * A host may take a CPU from its guest for a while. That while is in the guest's CPU time, but its
 * ticks never come. Iterations of one loop take equal times. So an iteration that takes many times
 * the best was interrupted, and counts as `fair` only up to that limit.
 */
#ifndef TEST_SAMPLE_ACCOUNT_H
#define TEST_SAMPLE_ACCOUNT_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ACCOUNT_VARIABLE "SAMPLE_TEST_ACCOUNT" /* a file that has one, or is not there */
#define ACCOUNT_PARTS    16

struct target_account {
    uint64_t used_ns[ACCOUNT_PARTS]; /* by what the target calls part k, all threads together */
    uint64_t fair_ns;                /* of all parts, without what the host took away */
};

/* Turns of a loop, of one thread. */
struct account_turns {
    uint64_t last_ns, used_ns, fair_ns;
    double best_ns; /* a turn */
};

/* In main, before all; without the variable the account is not read. */
static inline struct target_account *account_open(void)
{
    static struct target_account nobodys;
    const char *path = getenv(ACCOUNT_VARIABLE);
    const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof nobodys, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return at == MAP_FAILED ? &nobodys : (struct target_account *)at;
}

static inline uint64_t account_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* `n` turns were made since the last call or account_begin: returns what counts of their time. */
static inline uint64_t account_take(struct account_turns *it, double n)
{
    const uint64_t now_ns = account_now(), took_ns = now_ns - it->last_ns;
    const double turn_ns = (double)took_ns / n;
    if (it->best_ns <= 0 || turn_ns < it->best_ns)
        it->best_ns = turn_ns;
    const double most_ns = 4 * it->best_ns * n; /* a slower clock, a neighbour: all that is calm */
    const uint64_t fair_ns = (double)took_ns > most_ns ? (uint64_t)most_ns : took_ns;
    it->last_ns = now_ns;
    it->used_ns += took_ns;
    it->fair_ns += fair_ns;
    return fair_ns;
}

static inline void account_begin(struct account_turns *it)
{
    it->last_ns = account_now();
    it->used_ns = it->fair_ns = 0;
}

static inline void account_add(uint64_t *to, uint64_t ns)
{
    __atomic_fetch_add(to, ns, __ATOMIC_RELAXED);
}

#endif
