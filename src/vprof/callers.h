/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call paths of loop instances. The agent copies the stack at the end of an instance. This room
 * unwinds the copy with the mappings that the process had at that time.
 */
#ifndef AS_VPROF_CALLERS_H
#define AS_VPROF_CALLERS_H

#include "sample/sample.h"
#include "vprof/instances.h"

struct as_callers;

int as_callers_new(struct as_callers **out); /* 0 or NOMEM */
void as_callers_free(struct as_callers **callers);
/*
 * Follows the mappings of processes: called for each record after `recorder` has processed it, with
 * the same recorder each time. Mappings stay known after the end of a process. Returns 0 or NOMEM.
 */
int as_callers_follow(struct as_callers *callers, struct as_recorder *recorder,
                      const struct as_sample_record *record);
/*
 * Unwinds a call path. Stores the index of its text in `out->path_text`, where new texts are added.
 * A text has a frame with the line of the call on each line, outermost first; "..." replaces
 * unknown outer frames. Returns 0 or NOMEM.
 */
int as_callers_find(struct as_callers *callers, struct as_instances *out,
                    const struct as_patch_thread *thread, const struct as_patch_path *path,
                    uint32_t *number);

#endif
