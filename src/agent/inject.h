/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bringing the bare agent (bare.h) into statically linked programs, from outside: a process of ours
 * follows a program and all that it starts by ptrace(2), and where the executable that is measured
 * is executed, copies the agent's image there before the first instruction. It tells the agent of
 * threads and forks, passes signals on, and sees nothing else.
 */
#ifndef AS_AGENT_INJECT_H
#define AS_AGENT_INJECT_H

#include <assay/error.h>
#include <sys/types.h>

struct as_injector {
    pid_t pid; /* of the process that follows; 0: there is none */
};

/* Before anything runs: whether ptrace(2) is permitted at all. Errors: PERMISSION. */
int as_injector_check(struct assay_error *err);
/*
 * Follows process `child`, which executes nothing before this returned. `directory` is that of the
 * agent, with its control file, which names the executable; `library` is the other agent's path,
 * beside which the image lies. Errors: PERMISSION (ptrace is forbidden), NOT_FOUND (no image), IO.
 */
int as_injector_begin(struct as_injector *injector, pid_t child, const char *directory,
                      const char *library, struct assay_error *err);
/* Lets go of what still runs. */
void as_injector_end(struct as_injector *injector);

#endif
