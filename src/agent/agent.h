/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the agent. It lives in someone else's process: no allocation, no stdio, no lock, no
 * descriptor kept; what is refused is counted and the program goes on.
 */
#ifndef AS_AGENT_AGENT_H
#define AS_AGENT_AGENT_H

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "agent/ring.h"

#define AS_AGENT_API __attribute__((visibility("default")))

struct as_agent {
    _Atomic int state; /* as_agent_state */
    int signal;        /* of the timers; 0: none yet */
    struct as_agent_control *control;
    struct as_agent_ring *_Atomic ring; /* NULL: this process is not observed */
    uint8_t *data;                      /* mapped twice in a row: a record is never in two parts */
    uint64_t data_b;
    _Atomic pid_t pid;
    pid_t fork_tid;        /* the thread that forks, noted before */
    uint64_t stack_size_b; /* of threads without attributes */
    _Atomic int loaded;    /* modules came that no record tells of */
    _Atomic int confined;  /* all threads are: see as_agent_is_confined */
    char directory[3968];
};
enum as_agent_state { AS_AGENT_UNBORN, AS_AGENT_BEGINNING, AS_AGENT_READY, AS_AGENT_INERT };
extern struct as_agent as_agent;

/* Of each thread. Preloaded libraries have their place in the static block: no allocation. */
struct as_agent_thread {
    pid_t tid;
    bool has_timer;
    bool confined; /* by seccomp(2) */
    int timer;
    uintptr_t low, high; /* of its stack; 0: not known */
};
extern __thread struct as_agent_thread as_agent_self __attribute__((tls_model("initial-exec")));

/* The function that the program would have called without us. */
#define AS_AGENT_REAL(name)                                                                        \
    ({                                                                                             \
        static __typeof__(&name) as_real;                                                          \
        __typeof__(&name) as_found = __atomic_load_n(&as_real, __ATOMIC_RELAXED);                  \
        if (!as_found) {                                                                           \
            as_found = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                 \
            __atomic_store_n(&as_real, as_found, __ATOMIC_RELAXED);                                \
        }                                                                                          \
        as_found;                                                                                  \
    })

/* Begins when it has not; whether this process is observed. Not from a handler. */
bool as_agent_active(void);

/* ---- write.c ---- */

/* Room for a record of `size_b`, rounded up, or NULL. `spare_b` stays free. Lock-free. */
void *as_agent_reserve(uint32_t size_b, uint32_t spare_b);
/* Fills the head and makes the record seen. */
void as_agent_commit(void *record, uint32_t size_b, uint32_t kind, uint64_t time_ns);
void as_agent_mark(uint32_t kind); /* a record without more */
void as_agent_wake(void);
/* Installs the handler on as_agent.signal. */
int as_agent_handle(void);

/* ---- threads.c ---- */

/* The timer of the calling thread; counts it missed when there can be none. */
void as_agent_arm(void);
void as_agent_missed(int error);
void as_agent_disarm(void);     /* that of the calling thread */
void as_agent_disarm_all(void); /* those of all threads */
void as_agent_timers_forked(void);
void as_agent_main_thread(void);
int as_agent_threads_begin(void);

/* ---- maps.c ---- */

/* Records of all code now mapped, as of `time_ns`. */
void as_agent_maps(uint64_t time_ns);
void as_agent_maps_forked(void);

/* ---- confine.c ---- */

/* The program has given up system calls that ours would be among: to make one would kill it. */
bool as_agent_is_confined(void);
/* As prctl(2), which may be about to confine the thread. */
int as_agent_prctl(int option, const unsigned long *argument);

/* ---- end.c ---- */

int as_agent_ends_begin(void);

/* ---- signals.c ---- */

/* What the program set for our signal, when it comes from elsewhere. */
void as_agent_forward(int signal, siginfo_t *info, void *context);

#endif
