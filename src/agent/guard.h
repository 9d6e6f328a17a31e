/* SPDX-License-Identifier: Apache-2.0 */
/* The program's handlers of faults, while handlers of ours stand before them. */
#ifndef AS_AGENT_GUARD_H
#define AS_AGENT_GUARD_H

#include <signal.h>
#include <stdbool.h>

/* Whether faults of this kind come to us first. */
bool as_guard_has(int signal);
/* As sigaction(2), of what the program means. */
int as_guard_action(int signal, const struct sigaction *action, struct sigaction *old);

#endif
