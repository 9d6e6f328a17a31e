/* SPDX-License-Identifier: Apache-2.0 */
/* Kills a command that exceeds its time limit. */
#ifndef AS_PROFILE_LIMIT_H
#define AS_PROFILE_LIMIT_H

#include <sys/types.h>

/* Kills a child process and its descendants that /proc shows. */
void as_limit_kill(pid_t pid);

#endif
