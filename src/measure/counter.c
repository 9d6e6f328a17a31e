/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts user cycles with perf_event_open(2). Reads them with rdpmc where the kernel permits it, as
 * the comment of perf_event_mmap_page describes; otherwise with read(2).
 */
#include "measure/counter.h"

#include <cpuid.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "machine/pmu.h"
#include "measure/chain.h"

#define DIFFERS 0.05

uint64_t as_counter_sum(int64_t offset, uint64_t raw, unsigned width)
{
    const unsigned above = width > 0 && width < 64 ? 64 - width : 0;

    return (uint64_t)(offset + ((int64_t)(raw << above) >> above));
}

bool as_counter_agrees(uint64_t counted, double cycles)
{
    const double share = cycles > 0 ? (double)counted / cycles : 0;

    return share > 1 - DIFFERS && share < 1 + DIFFERS;
}

static uint64_t read_by_kernel(const struct as_counter *counter)
{
    uint64_t count = 0;

    return read(counter->fd, &count, sizeof count) == (ssize_t)sizeof count ? count : 0;
}

static uint64_t read_cycles(struct as_counter *counter)
{
    const volatile struct perf_event_mmap_page *page = counter->page;
    uint32_t lock;
    uint64_t count;

    _mm_lfence();
    if (!page || !page->cap_user_rdpmc || page->index == 0) {
        count = read_by_kernel(counter);
    } else {
        do {
            lock = page->lock;
            __asm__ volatile("" ::: "memory");
            const uint32_t index = page->index;
            count = index ? as_counter_sum(page->offset, __rdpmc((int)index - 1), page->pmc_width)
                          : (uint64_t)page->offset;
            __asm__ volatile("" ::: "memory");
        } while (page->lock != lock);
    }
    _mm_lfence();
    return count;
}

static bool open_cycles(struct as_counter *counter)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_HW_CPU_CYCLES,
                                   .pinned = 1, /* never multiplexed */
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};

    counter->fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (counter->fd < 0)
        return false;
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, counter->fd, 0);
    counter->page = page == MAP_FAILED ? NULL : page;
    return true;
}

static int paranoid_here(void)
{
    char text[32] = "";
    FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    const bool known = f && fgets(text, sizeof text, f);

    if (f)
        fclose(f);
    return known ? (int)strtol(text, NULL, 10) : -99;
}

static bool is_guest(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && c >> 31;
}

/* Returns true if a chain has the expected count. Tries several times, because of external load. */
static bool counts_chains(struct as_counter *counter, double cycles)
{
    for (unsigned i = 0; i < 20; i++) {
        const uint64_t from = counter->read(counter);
        as_chain_ticks();
        if (as_counter_agrees(counter->read(counter) - from, cycles))
            return true;
    }
    return false;
}

static void close_cycles(struct as_counter *counter)
{
    if (counter->page)
        munmap((void *)(uintptr_t)counter->page, (size_t)sysconf(_SC_PAGESIZE));
    close(counter->fd);
    counter->page = NULL;
    counter->fd = -1;
}

bool as_counter_find(struct as_counter *counter, double chain_cycles, char *why, size_t why_b)
{
    *counter = (struct as_counter){.open = open_cycles, .read = read_cycles, .fd = -1};
    *why = 0;
    if (!open_cycles(counter)) {
        as_pmu_words(errno, paranoid_here(), is_guest() ? "of this machine" : NULL, 0, why, why_b);
        return false;
    }
    const bool counts = counts_chains(counter, chain_cycles);
    close_cycles(counter); /* it counts this process; the measured one opens its own */
    if (!counts)
        snprintf(why, why_b, "none: what the kernel counts are not the cycles of a chain");
    return counts;
}
