/* SPDX-License-Identifier: Apache-2.0 */
/* Opens sessions of timers inside the program, and reports missed threads and processes. */
#include "profile/timers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"

/* ---- Directories --------------------------------------------------------------------------- */

const char *as_collection_place(void)
{
    const char *place = getenv("TMPDIR");
    const bool usable = place && place[0] == '/' && strlen(place) <= AS_TIMERS_DIRECTORY_B - 32;
    return usable ? place : "/tmp";
}

/* Makes a directory on a local disk where the program's user can write. The experiment may be on a
 * network file system. */
static int make_directory(struct as_timers *timers, struct as_error *err)
{
    const char *place = as_collection_place();
    snprintf(timers->directory, sizeof timers->directory, "%s/" AS_TIMERS_PREFIX "XXXXXX", place);
    if (mkdtemp(timers->directory))
        return 0;
    timers->directory[0] = 0;
    return as_error_set(err, AS_ERR_IO,
                        "%s: no directory for timers can be created there: %s; set TMPDIR to a "
                        "writable directory",
                        place, strerror(errno));
}

int as_timers_open(const struct as_collection *all, const struct as_error *why,
                   struct as_timers *out, struct as_error *err)
{
    AS_TRY(make_directory(out, err));
    return as_timer_sampler_open(out->directory, &all->request->sampling, why ? why->text : NULL,
                                 &out->sampler, err);
}

void as_timers_close(struct as_timers *timers)
{
    as_timer_sampler_close(&timers->sampler);
    if (timers->directory[0])
        rmdir(timers->directory);
}

/* ---- Reports ------------------------------------------------------------------------------- */

const char *as_timers_why(int error, char *text, size_t n)
{
    static const char *const room = "the buffer for their samples was full";
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        snprintf(text, n, "%s (%s); set TMPDIR to a directory with more", room, strerror(error));
        break;
    case EFBIG:
        snprintf(text, n, "%s under their file size limit; raise it ('ulimit -f')", room);
        break;
    case ENOMEM:
        snprintf(text, n, "%s under their memory limit; raise it ('ulimit -v')", room);
        break;
    case EPERM:
        snprintf(text, n, "their seccomp filter forbids the system calls of timers");
        break;
    case EXDEV:
        snprintf(text, n, "their processes are in another pid namespace, such as a container");
        break;
    case EAGAIN:
        snprintf(text, n, "no timers were left; raise the limit of pending signals ('ulimit -i')");
        break;
    default:
        snprintf(text, n, "%s", strerror(error));
        break;
    }
    return text;
}

static const char *path_of(const struct as_collection *all)
{
    return all->plan->interpreter ? all->plan->interpreter : all->plan->real_path;
}

int as_timers_write_python(const struct as_timers *timers, const struct as_collection *all,
                           bool is_beside, struct as_error *err)
{
    const struct as_timer_facts *facts = as_timer_sampler_facts(timers->sampler);
    char text[256];
    const bool is_named = strncmp(as_path_last(path_of(all)), "python", 6) == 0;
    if (facts->python_other)
        AS_TRY(as_recorder_info(all->recorder, "python_other", facts->python_version, err));
    if (facts->python_strange)
        AS_TRY(as_recorder_info(all->recorder, "python_strange", facts->python_version, err));
    if (is_beside && facts->processes_missed && facts->missed_errno)
        AS_TRY(as_recorder_info(all->recorder, "python_trouble",
                                as_timers_why(facts->missed_errno, text, sizeof text), err));
    else if (is_named && !facts->python_read && !facts->python_other && !facts->python_strange)
        AS_TRY(as_recorder_info(all->recorder, "python_hidden", path_of(all), err));
    return 0;
}
