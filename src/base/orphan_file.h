/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that ended processes left in our directory, with foreign names and contents. They are read
 * once and removed. The writers have ended, so the content is final.
 */
#ifndef AS_BASE_ORPHAN_FILE_H
#define AS_BASE_ORPHAN_FILE_H

#include <stdint.h>

#include "base/filemap.h"

/* `at` is NULL where there is none to be read. */
struct as_left {
    int directory, fd;
    const char *name;
    const void *at;
    uint64_t size_b;
    struct as_filemap map;
};

/* Maps it: a regular file, no link, neither empty nor of `most_b` bytes and more. Borrows the
 * descriptor and the name. */
void as_left_open(int directory, const char *name, uint64_t most_b, struct as_left *out);
/* It is gone, whether it could be read or not. */
void as_left_remove(struct as_left *left);

#endif
