/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter of the core cycles of the calling process, if the kernel permits one. It replaces the
 * chain of multiplications as the clock. The measured process opens it.
 */
#ifndef AS_MEASURE_COUNTER_H
#define AS_MEASURE_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct as_counter {
    bool (*open)(struct as_counter *counter); /* false: not available */
    uint64_t (*read)(struct as_counter *counter);
    void *context; /* for simulated counters of tests */
    int fd;
    const volatile struct perf_event_mmap_page *page; /* NULL: read by a system call */
};

/* Finds the cycle counter of this CPU. Returns false and writes the reason to `why` if there is
 * none. */
bool as_counter_find(struct as_counter *counter, double chain_cycles, char *why, size_t why_b);

/* Returns the count from the offset in the page of the kernel and the hardware counter. `raw` has
 * `width` bits. */
uint64_t as_counter_sum(int64_t offset, uint64_t raw, unsigned width);
/* Returns true if the count of a chain is within 5 % of its length. Other counters count something
 * else. */
bool as_counter_agrees(uint64_t counted, double cycles);

#endif
