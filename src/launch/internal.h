/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside launch/: what its files share.
 */
#ifndef AS_LAUNCH_INTERNAL_H
#define AS_LAUNCH_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <assay/launch.h>

#include "base/arena.h"
#include "base/error.h"

/* The beginning of /proc/PID/NAME as a text, its length; less than 0: it cannot be read. */
ssize_t as_process_text(pid_t pid, const char *name, char *text, size_t n);

/* ---- Plans --------------------------------------------------------------------------------- */

/* A plan and the memory of its texts. */
struct as_plan {
    struct assay_launch_plan plan; /* first: what users hold */
    struct as_arena arena;
};

/* Copy in the plan's arena; NULL when out of memory. */
const char *as_plan_keep(struct as_plan *plan, const char *text);

/* The file that `name` means, as execvp(3) looks for it, into the arena. */
int as_path_find(struct as_plan *plan, const char *name, const char **out, struct assay_error *err);
/* Whether `name` can be found so; nothing is kept. */
bool as_path_has(const char *name);

/* Fills kind, interpreter and gains_privilege from the file at plan->path; see assay_launch_plan
 * for the errors. */
int as_target_examine(struct as_plan *plan, struct assay_error *err);

/* Which launcher of ranks a file is, by its name without links and, where that does not say, by
 * what stands in it; ASSAY_LAUNCH_PROGRAM when none. */
enum assay_launch_kind as_launcher_of(const char *real_path);
/* Fills away and away_reason of a launcher's plan. */
void as_launcher_places(struct assay_launch_plan *plan);

/* ---- Settings that were given to us --------------------------------------------------------- */

/* Makes dispositions and limits as they were before main(). For a child before it executes: only
 * what is safe after fork. */
void as_given_restore(void);
const sigset_t *as_given_mask(void);
bool as_given_ignores(int signal);

/* ---- Signals to us ------------------------------------------------------------------------- */

struct as_watch_signal {
    uint8_t signal;
    bool by_kernel; /* from the terminal: the whole group in front has it */
};

/* Notes signals to us from now on, until the end. The descriptor of a begun watch is readable when
 * there are some. Errors: LIMIT, USAGE (begun already). */
int as_watch_begin(struct assay_error *err);
void as_watch_end(void);
int as_watch_fd(void);
/* Takes the next one; false when there is none. */
bool as_watch_next(struct as_watch_signal *out);
/* Whether a signal of this number is passed on to the child when it came to us alone. */
bool as_watch_forwards(int signal);

/* ---- A launch ------------------------------------------------------------------------------ */

struct assay_launch {
    pid_t pid; /* 0: there is no process (any more that we could reach) */
    bool attached, let_go;
    int gate;    /* a byte here lets the child execute */
    int failure; /* from here comes its errno when it cannot; executing closes it */
    int end;     /* readable when an attached process has ended; -1: look now and then */
    int fd;      /* over the watch and `end` */
    uint64_t attached_start; /* of the attached process, in ticks since boot: whether it is still
                                the same */
    uint64_t last_interrupt_ns;
    char name[256]; /* for messages */
    struct assay_launch_outcome outcome;
};

/* A launch without process, which watches signals. On failure `*out` may need closing. */
int as_launch_new(const char *name, struct assay_launch **out, struct assay_error *err);
/* Makes `fd` one of those that make the launch's descriptor readable. */
int as_launch_add_fd(struct assay_launch *launch, int fd, struct assay_error *err);

/* Whether the process that was attached has ended. */
bool as_attached_ended(const struct assay_launch *launch);

#endif
