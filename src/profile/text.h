/* SPDX-License-Identifier: Apache-2.0 */
/* Whole text files, also those of /proc, whose size is not known before. */
#ifndef AS_PROFILE_TEXT_H
#define AS_PROFILE_TEXT_H

#include "base/str.h"

#include <assay/error.h>

/*
 * Reads all of `path` into heap memory (`*out`, as_free it; zero-terminated). `what` names it in
 * sentences ("the file of categories"). Errors: NOT_FOUND, PERMISSION, NOT_REGULAR, LIMIT (more
 * than `limit_b`), IO, NOMEM.
 */
int as_text_read(const char *path, const char *what, size_t limit_b, char **out, size_t *n,
                 struct assay_error *err);

#endif
