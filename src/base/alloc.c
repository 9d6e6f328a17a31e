/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and friends with overflow checks, and the countdown by which tests make them fail. */
#include "base/alloc.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

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

void *as_malloc_large(size_t count, size_t size_b)
{
    size_t total_b;
    if (__builtin_mul_overflow(count, size_b, &total_b))
        return NULL;
    char *p = as_malloc(total_b);
    if (!p || total_b < 2 * LARGE_PAGE_B)
        return p;
    size_t before_b = (LARGE_PAGE_B - (uintptr_t)p % LARGE_PAGE_B) % LARGE_PAGE_B;
    size_t inside_b = (total_b - before_b) / LARGE_PAGE_B * LARGE_PAGE_B;
    (void)madvise(p + before_b, inside_b, MADV_HUGEPAGE); /* advice: refusing it changes nothing */
    return p;
}

void as_free(void *p)
{
    free(p);
}
