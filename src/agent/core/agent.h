/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the agent's core. It lives in someone else's process: no allocation, no stdio, no lock, no
 * descriptor kept; what is refused is counted and the program goes on.
 */
#ifndef AS_AGENT_AGENT_H
#define AS_AGENT_AGENT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "agent/core/client.h"
#include "agent/core/real.h"
#include "agent/shared/control.h"

#define AS_AGENT_API __attribute__((visibility("default")))

struct as_agent {
    _Atomic int state;        /* as_agent_state */
    _Atomic uint32_t clients; /* a bit each, by their place in the table; 0: not observed */
    int signal;               /* that a client took for itself; 0: none */
    const struct as_agent_client *const *table; /* as_agent_clients, from the begin on */
    struct as_agent_control *control;
    _Atomic pid_t pid;
    pid_t parent_pid;      /* of the child of a fork: who forked it, and the thread that did */
    pid_t fork_tid;        /* the thread that forks, noted before */
    uint64_t stack_size_b; /* of threads without attributes */
    _Atomic int loaded;    /* modules came that no client was told of */
    _Atomic int confined;  /* all threads are: see as_agent_is_confined */
    _Atomic int off;       /* the program said so: nothing is recorded */
    _Atomic int ended;     /* the clients were told of the end */
    char directory[3968];
};
enum as_agent_state { AS_AGENT_UNBORN, AS_AGENT_BEGINNING, AS_AGENT_READY, AS_AGENT_INERT };
extern struct as_agent as_agent;

/* Of each thread. Preloaded libraries have their place in the static block: no allocation. The bare
 * agent (bare.h) has no such block; what it does for one thread at a time needs no more than one.
 */
#ifdef AS_AGENT_BARE
#define AS_AGENT_LOCAL
#else
#define AS_AGENT_LOCAL __thread __attribute__((tls_model("initial-exec")))
#endif
struct as_agent_thread {
    pid_t tid, parent_tid;
    bool confined;       /* by seccomp(2) */
    uint8_t rounds;      /* of destructors, at its end */
    uintptr_t low, high; /* of its stack; 0: not known */
    const void *maker;   /* code behind the call that made it; NULL: the first thread */
    uint64_t loading_ns; /* in modules_changed: since when they come; 0: they go */
    struct {
        void *at; /* of a client */
        size_t size_b;
    } area[AS_AGENT_CLIENTS_N];
};
extern AS_AGENT_LOCAL struct as_agent_thread as_agent_self;

/* Tells the clients of this process, in their order, that have `hook`. */
#define AS_AGENT_NOTIFY(hook, ...)                                                                 \
    do {                                                                                           \
        for (unsigned as_i = 0; as_agent.table && as_agent.table[as_i]; as_i++)                    \
            if ((as_agent.clients & (1u << as_i)) && as_agent.table[as_i]->hook)                   \
                as_agent.table[as_i]->hook(__VA_ARGS__);                                           \
    } while (0)

/* ---- core.c ---- */

/* Begins when it has not; whether this process is observed. Not from a handler. */
bool as_agent_active(void);
/* What is buffered becomes seen; the first call counts. */
void as_agent_end(void);

/* ---- control.c ---- */

/* Text without stdio: both return the end of what they wrote, never behind `end`. */
char *as_agent_append(char *at, const char *end, const char *text);
char *as_agent_append_number(char *at, const char *end, uint64_t value);
/* System calls, since the program may have functions of these names; 0 or -errno. */
int as_agent_open(const char *path, int flags);
/* The path of a file of the run; `path` has AS_AGENT_PAGE_B bytes. */
void as_agent_path(const char *file_name, char *path);

/* Of the directory that the environment names; NULL: not for us. */
struct as_agent_control *as_agent_control_map(void);
/* Whether the child of a fork is to be observed. */
bool as_agent_control_lives(void);
void as_agent_process_missed(int error);
void as_agent_wake(void);

/* ---- memory.c ---- */

/* What the program may have: a limit of getrlimit(2), UINT64_MAX without one. */
uint64_t as_agent_limit_b(int which);
/* 0 or -errno: all of the file is really there. A write to a hole on a full disk would kill the
 * program, and so would growing it over the limit of the size of files. */
int as_agent_allocate(int fd, uint64_t size_b);
void as_agent_areas_end(void); /* of this thread */

/* ---- threads.c ---- */

void as_agent_main_thread(void);
int as_agent_threads_begin(void);

/* ---- seccomp.c ---- */

/* The program has given up system calls that ours would be among: to make one would kill it. */
bool as_agent_is_confined(void);
/* As prctl(2), which may be about to confine the thread. */
int as_agent_prctl(int option, const unsigned long *argument);

/* ---- process_exit.c ---- */

int as_agent_ends_begin(void);

/* ---- load.c ---- */

/* Tells of modules that came in a way that could not be watched. */
void as_agent_notify_loaded(void);

/* ---- signals.c ---- */

/* The highest real-time signal that nobody uses becomes `as_agent.signal`; 0: there is none. */
int as_agent_claim_signal(void);
/* Signals that handlers of the agent receive before those of the program. */
struct as_signal_guard {
    bool (*has)(int signal); /* whether the signal comes to us first */
    /* As sigaction(2), of what the program means. */
    int (*action)(int signal, const struct sigaction *action, struct sigaction *old);
};
/* Asks `guard`, which stays where it is, for each signal from now on. */
void as_agent_guard_signals(const struct as_signal_guard *guard);
/* What the program set for our signal, when it comes from elsewhere. */
void as_agent_forward(int signal, siginfo_t *info, void *context);

#endif
