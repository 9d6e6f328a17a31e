/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the injector share. All but the reading of the image runs in a process of its
 * own, forked from one that may have threads: no allocation, no stdio, no lock.
 */
#ifndef AS_AGENT_INJECT_INTERNAL_H
#define AS_AGENT_INJECT_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>

#include "agent/shared/bare.h"
#include "agent/shared/control.h"
#include "base/error.h"

/* The bare agent as its file says; behind it lies a page for what it is given. */
struct as_image_place {
    uint64_t at, value; /* 8 bytes at `at` are the address of `value` */
};
struct as_image {
    uint8_t *bytes; /* as in memory, before relocation */
    uint64_t size_b;
    uint64_t text, text_end; /* what is executable */
    uint64_t entry;
    struct as_image_place *place;
    uint64_t places;
};

/* A process with the agent in it. */
struct as_injected {
    pid_t pid;
    uint64_t entry, given;    /* addresses there: of the hooks, of struct as_bare_given */
    uint64_t nowhere, missed; /* as there */
    /* Of one that ran before: what is mapped there for the image and its tables; a `syscall` of the
     * program's own; whether it is one, or the child of one. */
    uint64_t base, room_b, call;
    bool is_attached;
};

/* Of an attachment, in memory that both processes see. */
enum as_attach_refusal {
    AS_ATTACH_DONE,
    AS_ATTACH_FORBIDDEN, /* ptrace(2): `error` */
    AS_ATTACH_TRACED,    /* by process `who` */
    AS_ATTACH_GONE,
    AS_ATTACH_HALTED,   /* by a signal, SIGSTOP or others */
    AS_ATTACH_MANY,     /* threads */
    AS_ATTACH_DEAF,     /* thread `who` did not stop */
    AS_ATTACH_CONFINED, /* thread `who`, by a filter of system calls */
    AS_ATTACH_SEGMENT,  /* thread `who` uses %gs */
    AS_ATTACH_NARROW,   /* thread `who` runs 32-bit code */
    AS_ATTACH_NO_CALL,  /* no `syscall` in its memory */
    AS_ATTACH_NO_MEMORY,
    AS_ATTACH_NO_FILES /* the agent could not begin: `error` */
};
enum as_attach_end {
    AS_ATTACH_LOST,    /* the process ended, or executed another program */
    AS_ATTACH_CLEAN,   /* all is as it was */
    AS_ATTACH_INSIDE,  /* `inside` threads run clones still: these stay in memory */
    AS_ATTACH_PATCHED, /* thread `who` could not be stopped: the jumps stand */
    AS_ATTACH_UNKNOWN  /* the follower was killed */
};
struct as_attach_state {
    uint32_t refusal, end; /* of the enums above */
    int32_t error, who;
    uint32_t inside;
};

/* ---- inject_image.c ---- */

int as_image_read(const char *path, struct as_image *image, struct as_error *err);
void as_image_free(struct as_image *image);

/* ---- inject_call.c: a thread that stands at a stop; 0, or -1: it ended or cannot be asked ---- */

int as_inject_memory(pid_t pid); /* a descriptor */
bool as_inject_read(int memory, uint64_t at, void *out, size_t n);
bool as_inject_write(int memory, uint64_t at, const void *from, size_t n);
/* From the stop at which it has executed to the end of that system call. */
bool as_inject_leave_execve(pid_t tid);
/* A system call (its number, its arguments) by the `syscall` at `at`. */
int as_inject_syscall(pid_t tid, uint64_t at, const uint64_t argument[7], int64_t *out);
/* Runs a hook to its trap; %gs stays where that has led it. */
int as_inject_hook(pid_t tid, uint64_t entry, uint64_t hook, uint64_t given);
int as_inject_set_gs(pid_t tid, uint64_t base);
/* Runs one instruction of its own, to a trap. */
int as_inject_step(pid_t tid);

/* ---- inject.c ---- */

#define AS_INJECT_OPTIONS                                                                          \
    (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |      \
     PTRACE_O_TRACEEXEC)
#define AS_INJECT_PROCESSES 4096u

/* Whether it was not known yet. */
bool as_inject_note_thread(pid_t tid);
void as_inject_forget_thread(pid_t tid);
struct as_injected *as_inject_add_process(const struct as_injected *it);
void as_inject_forget_process(pid_t pid);
/* One of those that have the agent; NULL: there are no more. */
struct as_injected *as_inject_process(unsigned number);
/* What happened to a thread that waitpid(2) told of: it goes on. */
void as_inject_handle(pid_t tid, int status);
bool as_inject_is_stopping(int signal);
/* What happens within so many milliseconds; 0: what has happened. */
void as_inject_handle_for(unsigned ms);

/* ---- inject_stop.c: all threads of one process at a time ---- */

struct as_stopped_thread {
    pid_t tid;
    bool is_held, is_grouped; /* it stands still; it did, for the whole process was stopped */
    bool is_new;
    /* It ran something for us, and stands at another stop than that of PTRACE_INTERRUPT: there is
     * no PTRACE_LISTEN, and none of the interrupted system calls begins again. */
    bool is_moved;
    int signal; /* that it is about to get; 0 */
    siginfo_t info;
    uint64_t pc, again, sp, base; /* as in struct as_bare_thread */
    uint64_t segment;             /* of code */
};
#define AS_STOPPED_MAX 32768u
extern struct as_stopped_thread *as_stopped_thread;
extern unsigned as_stopped_n;

/* Stops all threads of `pid`, which are seized first where they are not (`seize`). 0; or what is
 * the matter, and none stands still. */
enum as_attach_refusal as_ptrace_stop_all(pid_t pid, bool seize, struct as_attach_state *state);
bool as_ptrace_read_registers(struct as_stopped_thread *it); /* reads its registers again */
/* A thread by whose number /proc tells of the process: its first one may have ended. */
pid_t as_ptrace_living(void);
/* That runs what is ours next; NULL: there is none. `memory` is that of the process. */
struct as_stopped_thread *as_ptrace_leader(int memory);
/* Runs one instruction, where that leaves no trace. */
void as_ptrace_step(struct as_stopped_thread *it);
/* It goes on at `pc`. */
void as_ptrace_redirect(struct as_stopped_thread *it, uint64_t pc);
/* Lets all go on: system calls that they waited in begin again. */
void as_ptrace_resume_all(void);
void as_ptrace_detach(void);

/* ---- inject_maps.c ---- */

/* Reads /proc/PID/maps. */
bool as_maps_read(pid_t pid);
/* The address of a `syscall`; 0: there is none. */
uint64_t as_maps_call(int memory);
/* The end of what is mapped around an address; 0: nothing is. */
uint64_t as_maps_end(uint64_t address);
/* ELF files that are mapped to be executed: structs as_bare_module with their paths behind them, as
 * they stand at `address` there. How many; `*used_b` is what they take of `room_b`. */
unsigned as_maps_modules(int memory, uint64_t address, void *out, size_t room_b, size_t *used_b);

/* ---- inject_attach.c ---- */

/* Into a process that runs; it goes on. */
void as_attach_enter(pid_t pid, struct as_agent_control *control, const struct as_image *image,
                     const char *directory, struct as_attach_state *state);
/* Out of all that have the agent. */
void as_attach_leave(struct as_attach_state *state);

/* ---- inject_refuse.c, in the parent ---- */

/* Says why a process could not be attached to. */
int as_attach_refuse(pid_t pid, const struct as_attach_state *state, struct as_error *err);

/* ---- inject_program.c ---- */

/* Filters of system calls (Linux 5.9) that we have not: a container's all processes have. */
bool as_inject_is_confined(pid_t tid);
/* Room for the image, its page, and `more_b`, by the `syscall` at `at`. */
bool as_inject_map_image(pid_t pid, uint64_t at, const struct as_image *image, uint64_t more_b,
                         uint64_t *out);
bool as_inject_copy_image(int memory, const struct as_image *image, uint64_t base);
bool as_inject_write_facts(pid_t pid, int memory, const struct as_bare_given *more, uint64_t at,
                           const char *directory);
/* Runs a hook; SIGTRAP is ignored afterwards where it was. 0 or -1. */
int as_inject_run_hook(const struct as_injected *it, pid_t tid, uint64_t hook);

char *as_inject_number(char *at, uint64_t value); /* its digits and a zero; where that stands */
/* A number behind `key` in /proc/PID/status; 0: there is none. */
uint64_t as_inject_status(pid_t pid, const char *key, unsigned base);
/* Of a process that has just executed: brings the agent there when it is wanted and can be. 0, or
 * -1: it goes on without. */
int as_inject_program(pid_t pid, struct as_agent_control *control, const struct as_image *image,
                      const char *directory, struct as_injected *out);
/* In a new thread, or the first of a new process. */
void as_inject_notify_thread(const struct as_injected *it, pid_t tid, uint64_t hook);
/* A process in the memory of another: nobody counts what it does. */
void as_inject_leave_out(const struct as_injected *it, pid_t tid);

#endif
