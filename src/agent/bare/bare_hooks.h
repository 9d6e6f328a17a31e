/* SPDX-License-Identifier: Apache-2.0 */
/* What the hooks of the bare agent share: they run one at a time, in a thread that the tracer
 * holds. */
#ifndef AS_AGENT_BARE_HOOKS_H
#define AS_AGENT_BARE_HOOKS_H

#include "agent/patcher/patcher.h"
#include "agent/shared/bare.h"

/* ---- bare.c ---- */

/* `given->nowhere` is 0 when it could not. */
void as_bare_begin(struct as_bare_given *given);
/* Of thread as_agent_self.tid, which %gs then leads to, if only for this hook. */
struct as_patcher_locals *as_bare_begin_thread(void);
bool as_bare_is_thread(const struct as_patcher_locals *base);
/* Of threads that are gone. */
void as_bare_end_ended(void);
/* Its file is whole; its memory goes. */
void as_bare_end_thread(struct as_patcher_locals *own);

/* ---- bare_attach.c ---- */

void as_bare_attach(struct as_bare_given *given);
void as_bare_change(struct as_bare_given *given, uint64_t hook); /* WRITE, UNDO, LEAVE */

#endif
