/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and friends with overflow checks, and the countdown by which tests make them fail. */
#include "base/alloc.h"

#include <limits.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define LARGE_PAGE_B ((size_t)2 * 1024 * 1024)

/* Allocations still allowed before failing; negative = no failing. Written by tests only. */
static int64_t allowed = -1;

void as_alloc_fail_after(int64_t after)
{
    allowed = after;
}

static bool is_refused(void)
{
    if (__builtin_expect(allowed < 0, 1))
        return false;
    if (allowed == 0)
        return true;
    allowed--;
    return false;
}

/* Tables up to this size come from the heap that grows, not from a mapping of their own. */
#define KEPT_MOST_B (1 << 30)
#define GROW_B      (4 << 20)

void as_alloc_keep(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, KEPT_MOST_B);
    (void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
    (void)mallopt(M_TOP_PAD, GROW_B);
}

void *as_malloc(size_t size_b)
{
    return is_refused() ? NULL : malloc(size_b ? size_b : 1);
}

void *as_calloc(size_t count, size_t size_b)
{
    /* Checked here as well as in calloc: the address sanitizer's ends the program instead. */
    size_t total_b;
    if (__builtin_mul_overflow(count, size_b, &total_b) || is_refused())
        return NULL;
    return calloc(1, total_b ? total_b : 1);
}

void *as_realloc(void *p, size_t count, size_t size_b)
{
    size_t total_b;
    if (__builtin_mul_overflow(count, size_b, &total_b) || is_refused())
        return NULL;
    return realloc(p, total_b ? total_b : 1);
}

/* The kernel clears a large page in some 50 us, and hands out as much in small ones in 500. */
#define SLOW_NS 300000

static atomic_bool large_is_slow; /* set once, by whoever meets it; a hint, so no order is needed */

static int64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static size_t to_large_page(uintptr_t address)
{
    return (LARGE_PAGE_B - address % LARGE_PAGE_B) % LARGE_PAGE_B;
}

void as_large_fetch(void *block, size_t size_b, size_t from_b, size_t to_b)
{
    char *p = block;
    from_b += to_large_page((uintptr_t)p + from_b);
    for (; from_b < to_b && size_b - from_b >= LARGE_PAGE_B; from_b += LARGE_PAGE_B) {
        if (atomic_load_explicit(&large_is_slow, memory_order_relaxed))
            return;
        const int64_t began_ns = thread_ns();
        *(volatile char *)(p + from_b) = 0;
        if (thread_ns() - began_ns < SLOW_NS)
            continue;
        const size_t rest_b = (size_b - from_b) / LARGE_PAGE_B * LARGE_PAGE_B;
        atomic_store_explicit(&large_is_slow, true, memory_order_relaxed);
        (void)madvise(p + from_b, rest_b, MADV_NOHUGEPAGE);
    }
}

void *as_malloc_large(size_t count, size_t size_b)
{
    size_t total_b;
    if (__builtin_mul_overflow(count, size_b, &total_b))
        return NULL;
    char *p = as_malloc(total_b);
    if (!p || total_b < 2 * LARGE_PAGE_B ||
        atomic_load_explicit(&large_is_slow, memory_order_relaxed))
        return p;
    const size_t before_b = to_large_page((uintptr_t)p);
    const size_t inside_b = (total_b - before_b) / LARGE_PAGE_B * LARGE_PAGE_B;
    (void)madvise(p + before_b, inside_b, MADV_HUGEPAGE); /* advice: refusing it changes nothing */
    as_large_fetch(p, total_b, 0, before_b + 1);
    return p;
}

void *as_malloc_table(size_t count, size_t size_b)
{
    void *p = as_malloc_large(count, size_b);
    if (p)
        as_large_fetch(p, count * size_b, 0, count * size_b);
    return p;
}

void as_free(void *p)
{
    free(p);
}
