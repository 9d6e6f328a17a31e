/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that the program would have called without us. They are looked up as the agent
 * comes into the process: looking one up takes the loader's lock, which a thread may hold that
 * waits for the caller (a constructor within dlopen).
 */
#ifndef AS_AGENT_REAL_H
#define AS_AGENT_REAL_H

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <threads.h>

#define AS_AGENT_REALS(X)                                                                          \
    X(dlclose)                                                                                     \
    X(dlopen)                                                                                      \
    X(prctl)                                                                                       \
    X(pthread_create)                                                                              \
    X(pthread_setname_np)                                                                          \
    X(pthread_sigmask)                                                                             \
    X(sigaction)                                                                                   \
    X(signal)                                                                                      \
    X(signalfd)                                                                                    \
    X(sigprocmask)                                                                                 \
    X(sigtimedwait)                                                                                \
    X(sigwait)                                                                                     \
    X(sigwaitinfo)                                                                                 \
    X(thrd_create)                                                                                 \
    X(wait4)                                                                                       \
    X(waitid)                                                                                      \
    X(waitpid)

/* In an array, for names of members could be macros. NULL: not looked up yet, or not there. */
#define AS_AGENT_REAL_INDEX(name) AS_AGENT_REAL_##name,
enum as_agent_real_index { AS_AGENT_REALS(AS_AGENT_REAL_INDEX) AS_AGENT_REALS_N };
#undef AS_AGENT_REAL_INDEX

void as_agent_real_find(void);                           /* all of them */
void *as_agent_real_at(enum as_agent_real_index number); /* looked up when it was not */

#define AS_AGENT_REAL(name) ((__typeof__(&name))as_agent_real_at(AS_AGENT_REAL_##name))

#endif
