/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent session of a collector. It joins the session of another collector if there is one;
 * otherwise it makes its own directory.
 */
#ifndef AS_PROFILE_AGENT_SESSION_H
#define AS_PROFILE_AGENT_SESSION_H

#include "agent/inject/session.h"
#include "profile/collector.h"

struct as_inside {
    bool is_entered; /* set by the caller: the agent can also enter statically linked programs */
    struct as_agent_session own;      /* used if no other collector has a session */
    struct as_agent_session *session; /* `own` or that of another collector; NULL before the join */
    char directory[256];              /* of `own`; "" = none */
};

/* Joins or opens a session, and sets environment and library in `it`. The caller zeroes `inside`
 * before, and calls as_inside_leave also after an error. Errors: UNSUPPORTED, PERMISSION (the
 * program cannot load a library), those of the session. */
int as_inside_join(struct as_inside *inside, struct as_collector *it,
                   const struct as_collection *all, struct as_error *err);
/* Returns the directory of the session; NULL if that of another collector no longer exists. */
const char *as_inside_path(const struct as_inside *inside, const struct as_collection *all);
void as_inside_leave(struct as_inside *inside);

#endif
