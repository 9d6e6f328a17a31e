/* SPDX-License-Identifier: Apache-2.0 */
#include "draft.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "stops.h"
#include "unfinished.h"

int as_draft_begin(struct as_draft *draft, const char *place, const char *work, unsigned flags,
                   struct as_error *err)
{
    const size_t n = strlen(place);
    int rc;

    *draft = (struct as_draft){.place = place, .flags = flags};
    AS_TRY(as_experiment_check_new(place, flags, err));
    as_str_append(&draft->path, place, n - (n > 0 && place[n - 1] == '/'));
    as_str_appendf(&draft->path, ".%s-%d", work, (int)getpid());
    rc = draft->path.failed
             ? as_error_nomem(err, place)
             : as_experiment_create(as_str_z(&draft->path), 0, &draft->experiment, err);
    if (rc == 0)
        as_experiment_stop_when(draft->experiment, as_stops_came);
    else
        as_str_fini(&draft->path);
    return rc;
}

int as_draft_end(struct as_draft *draft, int rc, struct as_error *err)
{
    const char *path = as_str_z(&draft->path);

    if (rc == 0)
        rc = as_experiment_close(&draft->experiment, err);
    if (rc == 0)
        rc = as_experiment_move(path, draft->place, draft->flags, err);
    if (rc < 0 && !draft->experiment)
        (void)as_experiment_open(path, &draft->experiment, NULL);
    if (rc < 0)
        as_experiment_drop(&draft->experiment, err);
    as_str_fini(&draft->path);
    return rc;
}
