/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lives in the agent: a client is told of the program's life and does its work in between. The
 * core finds out what happens (it begins, threads, libraries, forks, ends) and gives memory; it
 * knows nothing of what is measured. All members but `name` and `begin` may be NULL.
 */
#ifndef AS_AGENT_CLIENT_H
#define AS_AGENT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A thread gives up system calls (seccomp(2)): before it does, when it did, when that was refused.
 * Once it did, a system call of ours would kill it. */
enum as_agent_confinement {
    AS_AGENT_CONFINING,
    AS_AGENT_CONFINING_ALL, /* all threads */
    AS_AGENT_CONFINED,
    AS_AGENT_UNCONFINED
};

struct as_agent_client {
    const char *name;           /* also the key of its part of the control file */
    bool (*begin)(void);        /* the process begins, before its constructors' threads; false: not
                                   wanted here. Speaks for the first thread, too */
    void (*thread_begin)(void); /* in the new thread, signals as the program has them */
    void (*thread_end)(void);   /* in the ending thread, after which nothing of it is called */
    void (*modules_changed)(void); /* after dlopen/dlclose returned in this thread */
    void (*forked)(void);          /* in the child; as_agent_active() says whether it is observed */
    void (*end)(void);             /* exit, _exit: what is buffered becomes seen. Once */
    /* Less is asked for by most. */
    /* This thread made one; `maker` is the address behind the call of pthread_create. */
    void (*thread_made)(const void *maker, const void *function);
    void (*switched)(void);           /* assay_off or assay_on was called: as_agent.off */
    void (*modules_unseen)(void);     /* a dlopen begins whose end is told later: modules_changed */
    void (*thread_named)(void);       /* this thread has a new name */
    void (*thread_missed)(int error); /* one begins that will not be told */
    void (*confined)(enum as_agent_confinement); /* in the thread that does it */
    void (*exiting)(int code);                   /* what the program gives to exit or _exit */
    void (*child_ended)(pid_t pid, int status);  /* was waited for; as wait(2) has it */
};

/* One table, in order of begin; NULL ends it. */
extern const struct as_agent_client *const as_agent_clients[];
#define AS_AGENT_CLIENTS_N 5u /* at most */

extern const struct as_agent_client as_agent_sampler, as_agent_regions;

/* The part of the control file that has the client's name; NULL: there is none. */
void *as_agent_part(const struct as_agent_client *client);

/* Whether this process executes the program that is measured, not a shell or launcher before it. */
bool as_agent_is_program(void);

/* Zeroed memory, for what only some programs need: all have the agent, also those with a limit of
 * memory. NULL: refused. */
void *as_agent_map(size_t size_b);

/* Memory of the process that a killed program leaves readable: a new file below the run's
 * directory, all of it allocated. Zeroed; shared with the reader. NULL: refused, errno says why. */
void *as_agent_map_shared(const char *file_name, size_t size_b);
/* The same, with `before_b` bytes (whole pages) of the process's own before it. */
void *as_agent_map_behind(const char *file_name, size_t before_b, size_t size_b);

/* "PREFIX.PID.TIME" for such a file; `out` has AS_AGENT_FILE_B bytes. */
#define AS_AGENT_FILE_B 80u
void as_agent_file_name(const char *prefix, char *out);

/* The client's area of this thread, zeroed when first asked for, unmapped when the thread has
 * ended. Always of one size. NULL: no memory. Makes system calls the first time. */
void *as_agent_area(const struct as_agent_client *client, size_t size_b);

#endif
