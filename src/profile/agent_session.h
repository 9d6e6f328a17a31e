/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent in the program for a source of observation: in the directory of the timers where there
 * are some, else in one of its own.
 */
#ifndef AS_PROFILE_AGENT_SESSION_H
#define AS_PROFILE_AGENT_SESSION_H

#include "agent/inject/session.h"
#include "profile/collector.h"

struct as_inside {
    bool is_entered; /* set before: what is wanted also comes into statically linked programs */
    struct as_agent_session own;      /* where nobody else has one */
    struct as_agent_session *session; /* that one, or the other's; NULL before */
    char directory[256];              /* of our own; "": there is none */
};

/* Sets what the program must be started with, in `it`. `inside` is zeroed before; it is left in any
 * case. Errors: UNSUPPORTED, PERMISSION (the program cannot take a library), those of the session.
 */
int as_inside_join(struct as_inside *inside, struct as_collector *it,
                   const struct as_collection *all, struct assay_error *err);
/* The directory; NULL where that of another source is gone. */
const char *as_inside_path(const struct as_inside *inside, const struct as_collection *all);
void as_inside_leave(struct as_inside *inside);

#endif
