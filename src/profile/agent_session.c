/* SPDX-License-Identifier: Apache-2.0 */
/* Shares one agent session between collectors. */
#include "profile/agent_session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "sample/timer_session.h"

#define DIRECTORY "assay-agent-"

static int open_own(struct as_inside *inside, struct as_collector *it, struct as_error *err)
{
    const char *place = as_collection_place();
    snprintf(inside->directory, sizeof inside->directory, "%s/" DIRECTORY "XXXXXX", place);
    if (!mkdtemp(inside->directory)) {
        inside->directory[0] = 0;
        return as_error_set(err, AS_ERR_IO,
                            "%s: no directory for the agent can be created there: %s; set TMPDIR "
                            "to a writable directory",
                            place, strerror(errno));
    }
    AS_TRY(as_agent_session_open(inside->directory, &inside->own, err));
    inside->session = &inside->own;
    it->environment = inside->own.word;
    it->preload = inside->own.preload;
    return 0;
}

int as_inside_join(struct as_inside *inside, struct as_collector *it,
                   const struct as_collection *all, struct as_error *err)
{
    inside->own.control_fd = -1;
    const char *what = "looked at from inside";
    if (all->plan)
        AS_TRY(inside->is_entered ? as_entry_check(all->plan->path, what, err)
                                  : as_preload_check(all->plan->path, what, "", err));
    inside->session = as_collection_session(all);
    if (!inside->session)
        AS_TRY(open_own(inside, it, err));
    as_agent_session_begin(inside->session);
    return 0;
}

const char *as_inside_path(const struct as_inside *inside, const struct as_collection *all)
{
    if (!inside->session || (!inside->directory[0] && !as_collection_session(all)))
        return NULL;
    return as_agent_session_path(inside->session);
}

void as_inside_leave(struct as_inside *inside)
{
    as_agent_session_close(&inside->own);
    if (inside->directory[0])
        rmdir(inside->directory);
    inside->directory[0] = 0;
}
