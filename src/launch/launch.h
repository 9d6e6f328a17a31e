/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program to be observed, or attaches to a running one: the plan of a command, a start in
 * two steps, signals, the end, and the rank of a process (doc/internals/launch.md).
 *
 * The program keeps directory, descriptors, signals, limits, process group and environment of the
 * user. They are read before main() (see as_launch_start). One launch or attachment at a time
 * per process, because signals belong to a process.
 */
#ifndef AS_LAUNCH_LAUNCH_H
#define AS_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* ---- What a command will start ------------------------------------------------------------ */

enum as_launch_kind {
    AS_LAUNCH_PROGRAM, /* an ELF file */
    AS_LAUNCH_SCRIPT,  /* text for an interpreter: what it starts is observed */
    AS_LAUNCH_OPENMPI, /* mpirun, mpiexec, orterun of Open MPI */
    AS_LAUNCH_MPICH,   /* mpirun, mpiexec of MPICH and what is made of it: Hydra */
    AS_LAUNCH_SRUN,    /* of Slurm */
    AS_LAUNCH_ATTACHED /* nothing is started */
};

/* "plain" (PROGRAM and SCRIPT), "openmpi", "mpich", "srun", "attach". */
const char *as_launch_kind_name(unsigned kind);

/* Facts about a command before it runs. */
struct as_launch_plan {
    uint8_t kind;            /* as_launch_kind */
    bool gains_privilege;    /* set-user-ID or capabilities: the kernel hides what it does */
    bool away;               /* a launcher with ranks that are not all our descendants */
    char away_reason[256];   /* "srun's tasks are started by Slurm's daemon", ... */
    const char *path;        /* the file to execute, as PATH gives it */
    const char *real_path;   /* without links */
    const char *interpreter; /* of a script; NULL */
    const char *cwd;         /* where it will run; NULL when that has no name any more */
    const char *const *argv; /* a copy */
    const char *command;     /* argv as a shell would read it */
    const char *argv_json;   /* argv as a JSON array of strings */
};

/*
 * Examines `argv` (argv[0] is looked for in PATH as execvp(3) does) without running anything.
 * Errors: NOT_FOUND (no such command, interpreter or dynamic loader), PERMISSION (not executable),
 * NOT_REGULAR (a directory), NOT_ELF (neither ELF nor a script; an empty file), ARCH, CLASS
 * (32-bit), TRUNCATED, UNSUPPORTED (a library or object file), USAGE (no argv[0]), NOMEM.
 */
int as_launch_plan(const char *const *argv, struct as_launch_plan **out, struct as_error *err);
void as_launch_plan_free(struct as_launch_plan **plan); /* NULL inside is fine */

/*
 * Returns the plan of the same launcher command with every rank started through `words` (NULL-
 * terminated): "srun -n 4 words... PROGRAM args", and all parts of "A : B". Errors: USAGE (an
 * option that is not in data/launch/, no program, a kind without ranks), UNSUPPORTED (programs
 * named in a file), NOMEM.
 */
int as_launch_wrap(const struct as_launch_plan *plan, const char *const *words,
                   struct as_launch_plan **out, struct as_error *err);

/* ---- Starting and following --------------------------------------------------------------- */

struct as_launch;

/* All zero is the usual. */
struct as_launch_options {
    const char *const *environment; /* "NAME=VALUE" to add or replace, NULL-terminated; or NULL */
    const char *preload;            /* a library after those in the user's LD_PRELOAD; or NULL */
};

/*
 * Starts a child that waits before it executes: time to open a sampler on as_launch_pid().
 * From here on signals to us are watched (doc/internals/launch.md says which do what), until
 * _close. The child's settings are those that this process was given: noted before main(), whatever
 * was changed since; only the environment is that of now. `plan` and `options` are borrowed during
 * the call. Errors: LIMIT (no more processes, descriptors), USAGE (another launch is open), NOMEM,
 * IO.
 */
int as_launch_start(const struct as_launch_plan *plan, const struct as_launch_options *options,
                    struct as_launch **out, struct as_error *err);
/* Lets it execute, and waits until it has. Errors: those of the plan, LIMIT (arguments too long),
 * IO; there is no process then, and _close is all that is left to do. */
int as_launch_go(struct as_launch *launch, struct as_error *err);

/*
 * Observes process `pid` from now on, without changing, stopping or ending it. Errors: NOT_FOUND
 * (no such process, or ended), USAGE (ourselves, a thread's number), PERMISSION (another user's,
 * with the fix), ARCH/CLASS/UNSUPPORTED (a program of another kind, a kernel thread), LIMIT, IO.
 */
int as_launch_attach(pid_t pid, struct as_launch **out, struct as_error *err);

pid_t as_launch_pid(const struct as_launch *launch);

/* Readable (poll(2)) when there is something for as_launch_step. The launch keeps it. */
int as_launch_fd(const struct as_launch *launch);

/* Handles what happened, without waiting: 1 while it goes on, 0 when it is over (see the outcome),
 * or IO. Call it when the descriptor is readable, or a few times a second. */
int as_launch_step(struct as_launch *launch, struct as_error *err);

/* Sends a signal to the child. Not to an attached process: USAGE. An ended one: 0. */
int as_launch_signal(struct as_launch *launch, int signal, struct as_error *err);

struct as_launch_outcome {
    bool over;
    bool left;      /* attached: the user ended the looking (Ctrl-C, SIGTERM); the process lives */
    bool exited;    /* `exit_code` is known */
    bool signalled; /* ended by `exit_signal` */
    bool core_dumped;
    bool interrupted; /* Ctrl-C was pressed at least once, or a signal to end it came to us */
    int exit_code;    /* 0 to 255 */
    int exit_signal;
    /* Ctrl-C in a row, each within two seconds of the one before. Never more is done by us: to kill
     * a program that does not listen is its user's choice (as_launch_signal). */
    unsigned interrupts;
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC: when it was let go or attached; the end */
    /* Time that the child's first thread was ready to run without a CPU, counted by the kernel
     * (schedstat): from its creation until soon after exec, and until its end. -1: unknown. */
    int64_t ready_begin_ns, ready_end_ns;
    uint64_t executed_ns; /* that time; 0: it did not */
    /* Of the child and all processes that it waited for; zero for an attached process. */
    uint64_t user_ns, system_ns, resident_max_b, fault_major_n, fault_minor_n;
    uint64_t switch_voluntary_n, switch_involuntary_n;
};

const struct as_launch_outcome *as_launch_outcome(const struct as_launch *launch);

/* Ends the watching of signals. A child that was not let go yet is ended; one that runs is not
 * waited for any more. NULL inside is fine. */
void as_launch_close(struct as_launch **launch);

/* ---- Ranks -------------------------------------------------------------------------------- */

/* A process of an MPI job or a job step; -1 = not known. */
struct as_job_rank {
    int64_t rank; /* in MPI_COMM_WORLD of its step */
    int64_t size;
    int64_t local_rank, local_size; /* among those of the same machine */
    const char *launcher;           /* "openmpi", "mpich", "srun", "flux", ...; constant */
};

/* Returns true if the environment (`n` bytes "NAME=VALUE\0...", as in /proc/PID/environ) is that
 * of a rank. Children of a rank inherit its number. No allocation. */
bool as_launch_rank_of(const char *environment, size_t n, struct as_job_rank *out);
/* As above of a process that lives; false also when its environment cannot be read. */
bool as_launch_rank_of_process(pid_t pid, struct as_job_rank *out);
/* As above of this process: of its environment as it is now. */
bool as_launch_rank_of_self(struct as_job_rank *out);
/* Computes a number that all ranks of the job of `rank` (this process) share, and other jobs do
 * not. Returns false if the launcher does not provide the facts. */
bool as_launch_job_of_self(const struct as_job_rank *rank, uint64_t *out);

/* ---- The environment ---------------------------------------------------------------------- */

/* Returns true if a variable is stored with a run, by data/launch/environment.txt: it affects
 * speed (OMP_NUM_THREADS, LD_PRELOAD, ...) or is of a rank. `name` may be followed by "=VALUE". */
bool as_launch_variable_matters(const char *name);
/* Returns true if a variable holds the rank or job of a process: it differs between ranks or
 * jobs and does not affect speed. */
bool as_launch_variable_is_of_rank(const char *name);
/* Digest of all variables (NULL-terminated, in any order; NULL = ours) but those that differ from
 * one shell to the next: 16 hexadecimal digits and a zero. */
void as_launch_environment_digest(const char *const *environment, char out[17]);

#endif
