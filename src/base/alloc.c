/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and friends with overflow checks, and the countdown by which tests make them fail. */
#include "base/alloc.h"

#include <limits.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/hugepage_policy.h"

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
    /* calloc checks too, but the address sanitizer's calloc ends the program. */
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

/* Extra cost of large pages over small ones in ns. The value is a hint: two concurrent losses may
 * count as one, so no memory order is needed. */
static _Atomic int64_t large_lost_ns;

static bool large_pays(void)
{
    const int64_t lost_ns = atomic_load_explicit(&large_lost_ns, memory_order_relaxed);
    return as_large_pays(lost_ns, 0) ||
           as_large_pays(lost_ns, as_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
}

static void large_took(int64_t took_ns)
{
    const int64_t lost_ns = atomic_load_explicit(&large_lost_ns, memory_order_relaxed);
    atomic_store_explicit(&large_lost_ns, as_large_lost(lost_ns, took_ns), memory_order_relaxed);
}

static size_t to_large_page(uintptr_t address)
{
    return (LARGE_PAGE_B - address % LARGE_PAGE_B) % LARGE_PAGE_B;
}

/* Advises the kernel to use large pages, or not, for the complete large pages in [from_b, to_b). A
 * refusal is harmless. */
static void advise_large(char *p, size_t from_b, size_t to_b, bool large)
{
    if (to_b > from_b && to_b - from_b >= LARGE_PAGE_B)
        (void)madvise(p + from_b, (to_b - from_b) / LARGE_PAGE_B * LARGE_PAGE_B,
                      large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

void as_large_fetch(void *block, size_t size_b, size_t from_b, size_t to_b)
{
    char *p = block;
    from_b += to_large_page((uintptr_t)p + from_b);
    for (; from_b < to_b && size_b - from_b >= LARGE_PAGE_B; from_b += LARGE_PAGE_B) {
        const bool pays = large_pays();
        advise_large(p, from_b, from_b + LARGE_PAGE_B, pays);
        if (!pays)
            continue;
        const int64_t began_ns = as_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        *(volatile char *)(p + from_b) = 0;
        large_took(as_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns);
    }
}

void *as_malloc_large(size_t count, size_t size_b)
{
    size_t total_b;
    if (__builtin_mul_overflow(count, size_b, &total_b))
        return NULL;
    char *p = as_malloc(total_b);
    if (!p || total_b < 2 * LARGE_PAGE_B || !large_pays())
        return p;
    const size_t first_b = to_large_page((uintptr_t)p);
    as_large_fetch(p, total_b, 0, first_b + 1);
    advise_large(p, first_b + LARGE_PAGE_B, total_b, large_pays());
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
