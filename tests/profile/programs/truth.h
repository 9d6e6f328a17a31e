/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the programs: loops that burn time in place, and the CPU time of the thread around
 * them. Its sums are printed as JSON at the end. Knows nothing of assay: the output is the
 * program's own account of itself, in nanoseconds.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

/* Time in the function that has it: no call, nothing to optimise away. */
#define SPIN(times)                                                                                \
    do {                                                                                           \
        for (uint64_t x_ = (uint64_t)(times); x_; x_--)                                            \
            __asm__ volatile("" : "+r"(x_));                                                       \
    } while (0)

/* After a call that must not become a jump. */
#define STAY() __asm__ volatile("" ::: "memory")

static inline uint64_t truth_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#define thread_ns()  truth_clock(CLOCK_THREAD_CPUTIME_ID)
#define process_ns() truth_clock(CLOCK_PROCESS_CPUTIME_ID)
#define wall_ns()    truth_clock(CLOCK_MONOTONIC)

enum { TRUTHS = 64 };
static struct {
    char name[192];
    uint64_t ns;
} truth[TRUTHS];

static NOINLINE __attribute__((unused)) void truth_add(const char *name, uint64_t ns)
{
    for (int i = 0; i < TRUTHS; i++) {
        if (truth[i].name[0] == '\0')
            snprintf(truth[i].name, sizeof truth[i].name, "%s", name);
        if (strcmp(truth[i].name, name) == 0) {
            truth[i].ns += ns;
            return;
        }
    }
}

#define MEASURE(name, statement)                                                                   \
    do {                                                                                           \
        uint64_t begin_ = thread_ns();                                                             \
        statement;                                                                                 \
        truth_add(name, thread_ns() - begin_);                                                     \
    } while (0)

/* {"total_ns": of the process, "ns": {name: of MEASURE}} */
static inline void truth_print(FILE *to)
{
    fprintf(to, "{\"total_ns\": %llu, \"ns\": {", (unsigned long long)process_ns());
    for (int i = 0; i < TRUTHS && truth[i].name[0]; i++)
        fprintf(to, "%s\"%s\": %llu", i ? ", " : "", truth[i].name,
                (unsigned long long)truth[i].ns);
    fprintf(to, "}}\n");
    fflush(to);
}

/* Lengths that keep step with nothing. */
static inline uint32_t truth_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

#endif
