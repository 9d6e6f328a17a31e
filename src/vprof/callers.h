/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who had called the function of a loop when an instance of it ended: the agent took a copy of the
 * stack, and here it is unwound, by what was mapped in the process then.
 */
#ifndef AS_VPROF_CALLERS_H
#define AS_VPROF_CALLERS_H

#include <assay/sample.h>

#include "vprof/instances.h"

struct as_callers;

int as_callers_new(struct as_callers **out); /* 0 or NOMEM */
void as_callers_free(struct as_callers **callers);
/* A record of the run, after `recorder` (of all of them the same) has taken it: what is mapped
 * where. Later than the end of a process is asked for what was mapped in it. 0 or NOMEM. */
int as_callers_follow(struct as_callers *callers, struct assay_recorder *recorder,
                      const struct assay_sample_record *record);
/* The number of the path's text in `out->path_text`, which it joins when it is new: frames with the
 * line of the call, the outermost first, "..." before those that are not known. 0 or NOMEM. */
int as_callers_find(struct as_callers *callers, struct as_instances *out,
                    const struct as_patch_thread *thread, const struct as_patch_path *path,
                    uint32_t *number);

#endif
