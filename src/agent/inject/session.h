/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run's directory, seen by who starts the program: it is made with its control file, clients of
 * the agent get their parts, and the program is started with the words of the environment and the
 * library preloaded.
 */
#ifndef AS_AGENT_SESSION_H
#define AS_AGENT_SESSION_H

#include <limits.h>

#include "agent/shared/control.h"
#include "base/error.h"

struct as_agent_session {
    char environment[4096 + 32]; /* "ASSAY_AGENT=DIRECTORY" */
    char preload[PATH_MAX];      /* the library */
    const char *word[2];         /* for the program's environment; NULL ends them */
    struct as_agent_control *control;
    int control_fd; /* locked as long as this process lives; -1: there is none */
};

/*
 * Makes `directory` (one that is there already is used) and a control file without parts. Nothing
 * is for agents before as_agent_session_begin. After a failure it is closed as after success.
 * Errors: NOT_FOUND and USAGE (of the library), PERMISSION, IO, LIMIT (too long a path).
 */
int as_agent_session_open(const char *directory, struct as_agent_session *s, struct as_error *err);
/* A part for a client, zeroed; NULL: there is no room. */
void *as_agent_session_part(struct as_agent_session *s, const char *client);
/* The executable that is measured, among all that the command starts. */
void as_agent_session_only(struct as_agent_session *s, const char *program);
void as_agent_session_begin(struct as_agent_session *s);
/* Programs that begin from now on find nothing. */
void as_agent_session_end(struct as_agent_session *s);
void as_agent_session_close(struct as_agent_session *s);

/* The directory, without links. */
static inline const char *as_agent_session_path(const struct as_agent_session *s)
{
    return s->environment + sizeof AS_AGENT_DIRECTORY;
}

/* The path of a library that stands beside the agent's; `out` has PATH_MAX bytes. Errors: those of
 * the library above. */
int as_agent_library_beside(const char *name, char *out, struct as_error *err);

/* Removes directories PREFIX* in `place` whose reader was killed, with all in them. */
void as_agent_session_sweep(const char *place, const char *prefix);

#endif
