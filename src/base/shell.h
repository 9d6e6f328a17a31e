/* SPDX-License-Identifier: Apache-2.0 */
/* Quotes and splits words by the rules of a POSIX shell. */
#ifndef AS_BASE_SHELL_H
#define AS_BASE_SHELL_H

#include "base/error.h"
#include "base/str.h"

/* Appends `word` so that a shell reads the same word; adds quotes where they are needed. */
void as_shell_word(struct as_str *out, const char *word);

/*
 * Splits `text` into words as a shell does. Quotes and backslashes are interpreted; nothing is
 * expanded. Appends each word with a terminating zero. Returns the number of words, or a negative
 * code: USAGE if the text needs a shell (an open quote, or one of ;|&<>()`$*?[ or a newline without
 * quotes), NOMEM.
 */
int as_shell_split(const char *text, struct as_str *words, struct as_error *err);

#endif
