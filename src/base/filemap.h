/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provides the content of a foreign file in memory, safe against truncation. A small file is
 * copied, a large file is mapped. If a mapped file is truncated, a handler of SIGBUS supplies zeros
 * and remembers the file. The handler works in any number of threads, because it repairs the fault
 * in the faulting thread. It passes every other SIGBUS to the handler that was installed before.
 */
#ifndef AS_BASE_FILEMAP_H
#define AS_BASE_FILEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Files up to this size are copied, bytes. */
#define AS_FILEMAP_COPY_B ((size_t)1 << 20)

/* A zeroed struct is empty. */
struct as_filemap {
    uint8_t *at;    /* private and writable memory; NULL if the content is empty */
    size_t n;       /* bytes; fewer than `size_b` if the file shrank before the call */
    unsigned guard; /* slot of the SIGBUS handler; 0: none */
    bool is_mapped;
};

/*
 * Provides the first `size_b` bytes of the regular file `fd`; the caller may close `fd` afterwards.
 * `path` names the file in the error of as_filemap_check. Returns 0 or errno.
 */
int as_filemap_open(int fd, size_t size_b, const char *path, struct as_filemap *out);
/*
 * Frees the memory of whole pages in [begin, end) of a mapped file. A later read loads them from
 * the file again, so changes to them are lost. Does nothing for a copy.
 */
void as_filemap_drop(const struct as_filemap *map, size_t begin, size_t end);
/* Releases the content. Accepts a zeroed struct. */
void as_filemap_close(struct as_filemap *map);

/*
 * Returns 0 if no mapped file of this process was truncated. Otherwise returns TRUNCATED with a
 * sentence about the first truncated file. Results may be wrong in this case.
 */
int as_filemap_check(struct as_error *err);

#endif
