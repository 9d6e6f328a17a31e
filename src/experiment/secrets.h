/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of options and variables whose names say that they are secrets
 * (data/experiment/secrets.txt) are replaced before they are stored.
 */
#ifndef AS_EXPERIMENT_SECRETS_H
#define AS_EXPERIMENT_SECRETS_H

#include <stdbool.h>

#include "base/str.h"

#define AS_SECRETS_WORD "<redacted>"

/* Patterns of names, ended by NULL. */
extern const char *const as_secrets_secret[], *const as_secrets_plain[];

/* Whether values of this name are secrets; false for all while secrets are kept. */
bool as_secrets_is_name(struct as_view name);

/*
 * Appends a command line, words in a shell's quotes or joined by blanks, without the values of
 * secrets: "--password=x", "--password x", "NAME=x", "-x NAME=x", "-genv NAME x". The rest stays as
 * it is.
 */
void as_secrets_command(struct as_str *out, const char *text);
/* As above for words with a zero behind each, `n` bytes in all; they are joined by blanks. */
void as_secrets_words(struct as_str *out, const char *words, size_t n);
/* As above for a JSON array of words; false (nothing appended) if it is none. */
bool as_secrets_argv(struct as_str *out, const char *json);
/* As above for the value of a variable or setting of that name. */
void as_secrets_value(struct as_str *out, const char *name, const char *value);

#endif
