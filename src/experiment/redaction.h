/* SPDX-License-Identifier: Apache-2.0 */
/* Removes user names, host names and directories from texts, so that a report can be mailed. */
#ifndef AS_EXPERIMENT_REDACTION_H
#define AS_EXPERIMENT_REDACTION_H

#include "base/str.h"

struct as_redaction;

/* Returns NULL without memory. */
struct as_redaction *as_redaction_new(void);
void as_redaction_free(struct as_redaction **redaction); /* NULL inside is fine */

/* Adds a name that is replaced wherever it is a whole word: by "host1" and so on, or by "user".
 * Returns AS_ERR_NOMEM without memory. */
int as_redaction_add_host(struct as_redaction *redaction, const char *name);
int as_redaction_add_user(struct as_redaction *redaction, const char *name);

/* Appends the redacted `text`. User names in paths of home directories are found without
 * _add_user. */
void as_redaction_append(struct as_redaction *redaction, const char *text, struct as_str *out);

#endif
