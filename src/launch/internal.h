/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of launch/.
 */
#ifndef AS_LAUNCH_INTERNAL_H
#define AS_LAUNCH_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "launch/launch.h"

/* Reads /proc/PID/NAME into `text`, up to n - 1 bytes with a terminating zero. Returns the length,
 * or a negative value if the file cannot be read. */
ssize_t as_process_text(pid_t pid, const char *name, char *text, size_t n);

/* ---- Plans --------------------------------------------------------------------------------- */

/* A plan with the memory of its texts. */
struct as_plan {
    struct as_launch_plan plan; /* first: the public part */
    struct as_arena arena;
};

/* Returns a copy in the arena of the plan, or NULL without memory. */
const char *as_plan_keep(struct as_plan *plan, const char *text);

/* Finds the file of command `name` as execvp(3) does. `*out` is in the arena of the plan. Errors:
 * USAGE (no command), NOT_FOUND, PERMISSION, NOT_REGULAR, IO, NOMEM. */
int as_path_find(struct as_plan *plan, const char *name, const char **out, struct as_error *err);
/* Returns true if command `name` can be found. */
bool as_path_has(const char *name);

/* Sets kind, interpreter and gains_privilege from the file at plan->path. Errors: see
 * as_launch_plan. */
int as_target_examine(struct as_plan *plan, struct as_error *err);

/* Returns the kind of MPI launcher of a file, or AS_LAUNCH_PROGRAM. The name without links
 * decides, or the content if the name is ambiguous. */
enum as_launch_kind as_launcher_of(const char *real_path);
/* Sets away and away_reason of the plan of a launcher. */
void as_launcher_places(struct as_launch_plan *plan);

/* ---- Inherited settings --------------------------------------------------------------------- */

/* Restores signal dispositions, limits and CPU affinity as they were before main(). For a child
 * before execve(2), so it uses only functions that are safe after fork(2). */
void as_given_restore(void);
const sigset_t *as_given_mask(void);
bool as_given_ignores(int signal);

/* ---- Signals to us ------------------------------------------------------------------------- */

struct as_watch_signal {
    uint8_t signal;
    bool by_kernel; /* from the terminal: the whole foreground process group got it */
};

/* Begins to record signals to this process. The descriptor of as_watch_fd is readable when there
 * are some. Errors: LIMIT, USAGE (begun already). */
int as_watch_begin(struct as_error *err);
void as_watch_end(void);
int as_watch_fd(void);
/* Reads the next signal. Returns false if there is none. */
bool as_watch_next(struct as_watch_signal *out);
/* Returns true if a signal that only this process got is forwarded to the child. */
bool as_watch_forwards(int signal);

/* ---- A launch ------------------------------------------------------------------------------ */

struct as_launch {
    pid_t pid; /* 0: none was started, or it cannot be reached any more */
    bool attached, let_go;
    int gate;    /* a byte written here lets the child execute */
    int failure; /* returns the errno of a failed execve(2); a successful one closes it */
    /* Readable when an attached process has ended; -1: it must be polled. */
    int end;
    int fd; /* epoll over the watch and `end` */
    /* Start time of the attached process in ticks since boot, to detect a reused process id. */
    uint64_t attached_start;
    uint64_t last_interrupt_ns;
    char name[256]; /* for errors */
    struct as_launch_outcome outcome;
};

/* Creates a launch without process, which watches signals. After an error close `*out` unless it is
 * NULL. Errors: LIMIT, USAGE, NOMEM. */
int as_launch_new(const char *name, struct as_launch **out, struct as_error *err);
/* Makes the descriptor of the launch readable when `fd` is. Errors: LIMIT. */
int as_launch_add_fd(struct as_launch *launch, int fd, struct as_error *err);

/* Returns true if the attached process has ended. */
bool as_attached_ended(const struct as_launch *launch);

#endif
