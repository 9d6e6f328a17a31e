/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A counter of core cycles of the calling process, where the kernel lets it have one: then the
 * chain of multiplications need not stand for the clock. Opened in the process that is measured.
 */
#ifndef AS_MEASURE_COUNTER_H
#define AS_MEASURE_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct as_counter {
    bool (*open)(struct as_counter *counter); /* false: there is none after all */
    uint64_t (*read)(struct as_counter *counter);
    void *context; /* of a counter that tests make */
    int fd;
    const volatile struct perf_event_mmap_page *page; /* NULL: read by the kernel */
};

/* That of the processor. False: there is none, and `why` says so in words. */
bool as_counter_find(struct as_counter *counter, double chain_cycles, char *why, size_t why_b);

/* What the kernel's page and the counter behind it say together; `raw` are `width` bits. */
uint64_t as_counter_sum(int64_t offset, uint64_t raw, unsigned width);
/* Whether counts of a chain are its length: a counter of something else is none (5 %). */
bool as_counter_agrees(uint64_t counted, double cycles);

#endif
