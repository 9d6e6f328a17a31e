/* SPDX-License-Identifier: Apache-2.0 */
/* Words as a POSIX shell reads them. */
#ifndef AS_BASE_SHELL_H
#define AS_BASE_SHELL_H

#include "base/str.h"

/* Appends `word` so that a shell reads the same again: in quotes where it must be. */
void as_shell_word(struct as_str *out, const char *word);

#endif
