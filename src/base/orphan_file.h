/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and removes files that ended processes left in a directory of assay. Names and contents are
 * foreign. The content is final because the writers have ended.
 */
#ifndef AS_BASE_ORPHAN_FILE_H
#define AS_BASE_ORPHAN_FILE_H

#include <stdint.h>

#include "base/filemap.h"

/* `at` is NULL if the file could not be read. */
struct as_left {
    int directory, fd;
    const char *name;
    const void *at;
    uint64_t size_b;
    struct as_filemap map;
};

/* Maps the file `name` of the open directory `directory`. Accepts a regular file of 1 to `most_b` -
 * 1 bytes that is not a link. Borrows `directory` and `name`. */
void as_left_open(int directory, const char *name, uint64_t most_b, struct as_left *out);
/* Releases the content and removes the file, even if the file could not be read. */
void as_left_remove(struct as_left *left);

#endif
