/* SPDX-License-Identifier: Apache-2.0 */
/* Texts without names of users, names of hosts, and directories, for a report that is mailed. */
#ifndef AS_EXPERIMENT_REDACTION_H
#define AS_EXPERIMENT_REDACTION_H

#include "base/str.h"

struct as_redaction;

/* NULL without memory. */
struct as_redaction *as_redaction_new(void);
void as_redaction_free(struct as_redaction **redaction); /* NULL inside is fine */

/* A name that is replaced where it stands as a word: "host1" and so on, or "user". NOMEM. */
int as_redaction_add_host(struct as_redaction *redaction, const char *name);
int as_redaction_add_user(struct as_redaction *redaction, const char *name);

/* Appends `text` without them. Users whose homes are in paths need not be added. */
void as_redaction_append(struct as_redaction *redaction, const char *text, struct as_str *out);

#endif
