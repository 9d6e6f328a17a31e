/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other threads stand still while code changes under them.
 */
#ifndef AS_AGENT_PATCHER_STOP_H
#define AS_AGENT_PATCHER_STOP_H

#include <stdbool.h>
#include <stdint.h>

/* Stops all others, none of them where `is_bad(m, address)`; 0 or what refused it (errno). When it
 * is 0 they stand still until as_patcher_go_on. Nothing of the C library that takes a lock may be
 * called in between. */
int as_patcher_stop(uint64_t m, bool (*is_bad)(uint64_t m, uint64_t address));
void as_patcher_go_on(void);
/* A thread gave up system calls: it can take no signal any more. */
void as_patcher_stop_confined(void);

#endif
