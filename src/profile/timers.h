/* SPDX-License-Identifier: Apache-2.0 */
/* A session of sampling timers inside the program, with its temporary directory. */
#ifndef AS_PROFILE_TIMERS_H
#define AS_PROFILE_TIMERS_H

#include "profile/collector.h"
#include "sample/timer_session.h"

#define AS_TIMERS_DIRECTORY_B 256
/* Prefix of the name of a temporary directory for timers. */
#define AS_TIMERS_PREFIX "assay-agent-"

struct as_timers {
    struct as_timer_sampler *sampler;
    char directory[AS_TIMERS_DIRECTORY_B]; /* "": there is none */
};

/* Opens a session. `why` is the error of the source that timers replace, or NULL. The caller closes
 * `*out` with as_timers_close, also after an error. Errors: those of as_timer_sampler_open. */
int as_timers_open(const struct as_collection *all, const struct as_error *why,
                   struct as_timers *out, struct as_error *err);
void as_timers_close(struct as_timers *timers);
/* Writes the reason for missed threads or processes to `text`, and returns `text`. */
const char *as_timers_why(int error, char *text, size_t n);
/* Records which Python interpreters are not read, for the flags. Errors: those of the recorder. */
int as_timers_write_python(const struct as_timers *timers, const struct as_collection *all,
                           bool is_beside, struct as_error *err);

/* Returns true if the command names Python. Its Python frames are then read beside perf events. */
bool as_python_is_named(const struct as_launch_plan *plan);
/* Returns true if frames of Python are read beside perf events. */
bool as_python_is_beside(const struct as_collection *all);

#endif
