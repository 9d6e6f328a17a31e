/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces secret values of options and variables before they are stored.
 * data/experiment/secrets.txt lists the names of secrets.
 */
#ifndef AS_EXPERIMENT_SECRETS_H
#define AS_EXPERIMENT_SECRETS_H

#include <stdbool.h>

#include "base/str.h"

#define AS_SECRETS_WORD "<redacted>"

/* Patterns of secret names, and of names that are exceptions; each list ends with NULL. */
extern const char *const as_secrets_secret[], *const as_secrets_plain[];

/* Returns true if values of this name are secrets; always false after as_secrets_keep(true). */
bool as_secrets_is_name(struct as_view name);

/*
 * Appends a command line with secret values replaced. Its words may be in shell quotes. Recognised
 * forms: "--password=x", "--password x", "NAME=x", "-x NAME=x", "-genv NAME x". The rest is copied.
 */
void as_secrets_command(struct as_str *out, const char *text);
/* The same for `n` bytes of words with a zero byte behind each; blanks join them. */
void as_secrets_words(struct as_str *out, const char *words, size_t n);
/* The same for a JSON array of words. Returns false, with nothing appended, for other text. */
bool as_secrets_argv(struct as_str *out, const char *json);
/* The same for the value of a variable or setting with this name. */
void as_secrets_value(struct as_str *out, const char *name, const char *value);

#endif
