/* SPDX-License-Identifier: Apache-2.0 */
/* Measures, copies and lists directories: either the sources for a build, or all files. */
#ifndef AS_TRIAL_TREE_H
#define AS_TRIAL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct as_tree_copy {
    const char *from; /* path without symbolic links */
    /* Copy sources only: build results (object files, directories of CMake and Meson) and the
     * paths below stay behind, so everything is built again. */
    bool sources;
    const char *const *leave; /* paths that are left out, ended by NULL; or NULL */
};

struct as_tree_size {
    uint64_t size_b, file_n;
    uint64_t digest; /* digest of names, sizes and modification times */
};

/* Measures the size of a copy, without experiments and .git. Errors: NOT_FOUND, IO, NOMEM. */
int as_tree_measure(const struct as_tree_copy *copy, struct as_tree_size *out,
                    struct as_error *err);
/* Copies to `to`, which is created. Times and permissions are kept. Symbolic links into the
 * directory point into the copy. Errors: IO (a full disk), NOMEM. */
int as_tree_copy(const struct as_tree_copy *copy, const char *to, struct as_error *err);

/* Calls `take` for each regular file below `path`, sorted by name, until it returns a value
 * other than 0. Returns that value, or 0. */
int as_tree_files(const char *path, int (*take)(void *context, const char *path), void *context);

#endif
