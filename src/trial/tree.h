/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of a directory: of sources, to build them in another place, or of all that is in one.
 */
#ifndef AS_TRIAL_TREE_H
#define AS_TRIAL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

struct as_tree_copy {
    const char *from; /* without links in its path */
    /* Copy sources only: build results (object files, directories of CMake and Meson) and the
     * paths below stay behind, so everything is built again. */
    bool sources;
    const char *const *leave; /* paths that are left out, ends with NULL; or NULL */
};

struct as_tree_size {
    uint64_t size_b, file_n;
    uint64_t digest; /* of names, sizes and times of change */
};

/* Measures the size of a copy, without experiments and .git. Errors: NOT_FOUND, IO, NOMEM. */
int as_tree_measure(const struct as_tree_copy *copy, struct as_tree_size *out,
                    struct assay_error *err);
/* Copies into `to`, which is made. Times and permissions are kept; links into the directory lead
 * into the copy. Errors: IO (a full disk), NOMEM. */
int as_tree_copy(const struct as_tree_copy *copy, const char *to, struct assay_error *err);

/* Calls `take` with the path of each regular file below `path`, in order of names, until it is not
 * 0; gives that back. */
int as_tree_files(const char *path, int (*take)(void *context, const char *path), void *context);

#endif
