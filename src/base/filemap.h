/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of a file of another user in memory, safe against truncation. A small file is copied.
 * A large file is mapped; where the mapping has lost its file, a handler of SIGBUS supplies zeros
 * and remembers the file. Works in any number of threads, because the fault is repaired where it
 * happens. The handler passes every other SIGBUS to the handler that was there before.
 */
#ifndef AS_BASE_FILEMAP_H
#define AS_BASE_FILEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

/* Files up to this size are copied, bytes. */
#define AS_FILEMAP_COPY_B ((size_t)1 << 20)

/* Zeroed: empty. */
struct as_filemap {
    uint8_t *at;    /* writable; what is written stays private. NULL if empty */
    size_t n;       /* bytes; fewer than the file had if it shrank before this call */
    unsigned guard; /* 0: none */
    bool is_mapped;
};

/*
 * Takes in the first `size_b` bytes of the regular file `fd`, which may be closed afterwards.
 * `path` names the file in as_filemap_check. Returns 0 or errno.
 */
int as_filemap_open(int fd, size_t size_b, const char *path, struct as_filemap *out);
/* Frees the memory of whole pages in [begin, end) of a mapped file. A later read loads them from
 * the file again: what was written to them is lost. Does nothing for a copy. */
void as_filemap_drop(const struct as_filemap *map, size_t begin, size_t end);
/* Releases. Does nothing for zeroed memory. */
void as_filemap_close(struct as_filemap *map);

/*
 * Returns 0 if no mapped file of this process was truncated so far. Else TRUNCATED with a sentence
 * about the first one: results are wrong then.
 */
int as_filemap_check(struct assay_error *err);

#endif
