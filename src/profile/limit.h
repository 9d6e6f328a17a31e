/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a command that takes too long. */
#ifndef AS_PROFILE_LIMIT_H
#define AS_PROFILE_LIMIT_H

#include <sys/types.h>

/* Kills a child of ours and what descends from it, as far as /proc tells. */
void as_limit_kill(pid_t pid);

#endif
