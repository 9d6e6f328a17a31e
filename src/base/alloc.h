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

/*
 * For a program whose heap this is, before all else: what is freed stays with the process until its
 * end. Analyses free tables of megabytes and take others; a page that the kernel took back it has
 * to clear again.
 */
void as_alloc_keep(void);

/*
 * As as_malloc for a table of which much will be filled: asks the kernel for large pages, which
 * spares most of the page faults, as long as they pay (base/hugepage_policy.h). In a virtual
 * machine whose host takes back what lies free in large blocks each may have to be fetched there,
 * 30 times as slow; that is noticed at the first few, and then the process asks for no more.
 */
void *as_malloc_large(size_t count, size_t size_b);
/* As above for one that is filled whole at once: its pages are fetched now. */
void *as_malloc_table(size_t count, size_t size_b);
/* Fetches the large pages that begin in [from_b, to_b) of a block of as_malloc_large, `size_b` in
 * all; nothing stands there yet. */
void as_large_fetch(void *block, size_t size_b, size_t from_b, size_t to_b);

/*
 * Test seam: the `after`-th allocation from now (0 = the next) and all later ones fail;
 * a negative number switches failing off. Not thread-safe.
 */
void as_alloc_fail_after(int64_t after);

#endif
