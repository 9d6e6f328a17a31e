/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bringing the bare agent (bare.h) into programs from outside: a process of ours follows a program
 * and all that it starts by ptrace(2). An executable that is measured and has no loader, or that of
 * another C library than GNU's, gets the agent's image when it is executed, before its first
 * instruction; a process that runs already, of whatever kind, gets it now, and is left as it was.
 * The agent is told of threads and forks, signals are passed on, and nothing else is seen.
 */
#ifndef AS_AGENT_INJECT_H
#define AS_AGENT_INJECT_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

/* In the path of the loader that preloads the other agent. */
#define AS_LOADER_PRELOADS "ld-linux-x86-64"

struct as_attach_state;
struct as_injector {
    pid_t pid;                     /* of the process that follows; 0: there is none */
    struct as_attach_state *state; /* of an attachment; NULL */
};

/* Before anything runs: whether ptrace(2) is permitted at all. Errors: PERMISSION. */
int as_injector_check(struct as_error *err);
/*
 * Follows process `child`, which executes nothing before this returned. `directory` is that of the
 * agent, with its control file, which names the executable; `library` is the other agent's path,
 * beside which the image lies. Errors: PERMISSION (ptrace is forbidden), NOT_FOUND (no image), IO.
 */
int as_injector_begin(struct as_injector *injector, pid_t child, const char *directory,
                      const char *library, struct as_error *err);
/*
 * Brings the agent into process `pid`, which goes on. `directory` is as above. Errors: PERMISSION
 * (ptrace is forbidden, another traces it, it has confined itself), NOT_FOUND (it has ended; no
 * image), UNSUPPORTED (32-bit code, its %gs is used, it is stopped, a thread cannot be stopped),
 * LIMIT (threads), IO (it cannot open the files of `directory`).
 */
int as_injector_attach(struct as_injector *injector, pid_t pid, const char *directory,
                       const char *library, struct as_error *err);
/* Before that, with nothing done to the process: what can be seen to stand against it. The files of
 * `directory`, when given, must be there for it, too. Errors: as above. */
int as_injector_attach_check(pid_t pid, const char *directory, struct as_error *err);
/* Lets go of what still runs; code of an attached process becomes what it was. */
void as_injector_leave(struct as_injector *injector);
/* After that: one sentence on what stays in an attached process; NULL: nothing does. */
const char *as_injector_rest(const struct as_injector *injector, char *text, size_t n);
/* Leaves, and releases what is held. */
void as_injector_end(struct as_injector *injector);

#endif
