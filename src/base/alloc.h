/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one door to the heap. Every allocation of the library passes here, so that running out of
 * memory is noticed in one place and tests can make the n-th allocation fail.
 */
#ifndef AS_BASE_ALLOC_H
#define AS_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* As malloc, calloc and realloc(array); NULL on failure or when count * size overflows. */
void *as_malloc(size_t size_b);
void *as_calloc(size_t count, size_t size_b);
void *as_realloc(void *p, size_t count, size_t size_b);
void as_free(void *p);

/* As as_malloc for a table that is about to be filled whole: asks the kernel for large pages, which
 * spares most of the page faults. */
void *as_malloc_large(size_t count, size_t size_b);

/*
 * Test seam: the `after`-th allocation from now (0 = the next) and all later ones fail;
 * a negative number switches failing off. Not thread-safe.
 */
void as_alloc_fail_after(int64_t after);

#endif
