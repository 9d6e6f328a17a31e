/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the recording: where its samples come from. Events of the kernel, or where it refuses them
 * timers inside the program; of one shape from here on.
 */
#ifndef AS_PROFILE_SOURCE_H
#define AS_PROFILE_SOURCE_H

#include <assay/launch.h>
#include <assay/profile.h>
#include <assay/sample.h>

struct as_source {
    struct assay_sampler *sampler;      /* or */
    struct assay_timer_sampler *timers; /* never both */
    char directory[256];                /* of the timers; "": there is none */
};

/*
 * Starts the command of `plan` (not let go yet), or attaches to the request's process when that is
 * NULL, with its samples opened. Errors: those of starting, attaching and sampling; the launch may
 * need closing all the same.
 */
int as_source_open(struct as_source *source, const struct assay_profile_request *request,
                   const struct assay_launch_plan *plan, struct assay_launch **launch,
                   struct assay_error *err);
void as_source_close(struct as_source *source); /* an empty one is fine */

/* As those of the samplers. */
const struct assay_sample_choice *as_source_choice(const struct as_source *source);
const struct assay_sample_counts *as_source_counts(const struct as_source *source);
const struct assay_timer_facts *as_source_facts(const struct as_source *source); /* NULL: none */
bool as_source_wait(struct as_source *source, int other_fd, int timeout_ms);
int as_source_enable(struct as_source *source, bool on, struct assay_error *err);
int as_source_pump(struct as_source *source, bool last, assay_sample_sink *sink, void *context,
                   struct assay_error *err);

#endif
