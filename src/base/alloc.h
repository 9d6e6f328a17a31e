/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All heap allocations of the library go through this file. So running out of memory is handled in
 * one place, and tests can make the n-th allocation fail.
 */
#ifndef AS_BASE_ALLOC_H
#define AS_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* As malloc, calloc and realloc of an array. They return NULL on failure, and if count * size
 * overflows. The caller releases the memory with as_free. */
void *as_malloc(size_t size_b);
void *as_calloc(size_t count, size_t size_b);
void *as_realloc(void *p, size_t count, size_t size_b);
void as_free(void *p);

/*
 * Makes freed memory stay with the process until its end. Call it before the first allocation.
 * Analyses free and allocate tables of megabytes, and the kernel clears returned pages each
 * time.
 */
void as_alloc_keep(void);

/*
 * As as_malloc, for a table that will mostly be filled. Requests large pages from the kernel, which
 * avoids most page faults, as long as they pay (base/hugepage_policy.h). In some virtual machines
 * the host must provide each large page, 30 times as slowly. After the first slow pages the process
 * stops requesting them.
 */
void *as_malloc_large(size_t count, size_t size_b);
/* As as_malloc_large, for a table that is filled completely at once: fetches its large pages
 * now. */
void *as_malloc_table(size_t count, size_t size_b);
/* Fetches the large pages that begin at the bytes [from_b, to_b) of a block of as_malloc_large.
 * `size_b` is the size of the block. This range must not contain data yet. */
void as_large_fetch(void *block, size_t size_b, size_t from_b, size_t to_b);

/*
 * Test seam: the `after`-th allocation from now (0 = the next) and all later ones fail;
 * a negative number switches failing off. Not thread-safe.
 */
void as_alloc_fail_after(int64_t after);

#endif
