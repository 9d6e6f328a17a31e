/* SPDX-License-Identifier: Apache-2.0 */
/* Words as a POSIX shell reads them. */
#ifndef AS_BASE_SHELL_H
#define AS_BASE_SHELL_H

#include <assay/error.h>

#include "base/str.h"

/* Appends `word` so that a shell reads the same again: in quotes where it must be. */
void as_shell_word(struct as_str *out, const char *word);

/*
 * Splits `text` into words as a shell does, each zero-terminated. Quotes and backslashes are
 * understood, without expansion. Returns their number, or a negative code. USAGE: it needs a shell
 * (an open quote, or one of ;|&<>()`$*?[ or a line end that is not quoted). NOMEM.
 */
int as_shell_split(const char *text, struct as_str *words, struct assay_error *err);

#endif
