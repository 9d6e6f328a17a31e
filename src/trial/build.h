/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a program with other options, each in a copy of its source directory, concurrently. The
 * directory itself is only read. If the kernel permits, builds cannot write to it; else it is
 * checked after each build.
 */
#ifndef AS_TRIAL_BUILD_H
#define AS_TRIAL_BUILD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <assay/error.h>

#include "base/arena.h"
#include "trial/tree.h"

/* Directories above this are not copied unless the user says so. */
#define AS_YARD_SIZE_MOST ((uint64_t)1 << 30)

struct as_build_tree_options {
    const char *command; /* for /bin/sh, with {flags} */
    const char *source;  /* NULL: the working directory */
    bool any_size;
    const char *const *program; /* the words of the command that will be run */
    unsigned jobs;
};

struct as_build_tree {
    struct as_arena arena;
    struct as_build_tree_options options;
    char source[PATH_MAX], root[PATH_MAX], here[PATH_MAX]; /* without links; here: where it runs */
    char temporary[PATH_MAX + 8];                          /* of compilers */
    struct as_tree_copy copy;
    struct as_tree_size size;
    char wrappers[PATH_MAX + 16]; /* of compilers; "": none yet */
    bool use_map; /* builds get an option by which debug information names the source directory */
    size_t build_n;
    bool is_protected; /* builds cannot write to the source directory */
};

enum as_build_state { AS_BUILD_WAITING, AS_BUILD_AT_WORK, AS_BUILD_DONE, AS_BUILD_FAILED };

/* A build: options in place of {flags}. {profile} in them is a directory of its own. */
struct as_build_plan {
    const char *name; /* for people */
    const char *flags;
    const char *train, *merge; /* options of a build with a training run, and a shell command
                                * after that run; or NULL */
    /* Only these files, by the end of their paths, get the options; ends with NULL. Or NULL. */
    const char *const *only;
};

struct as_build {
    struct as_build_plan plan;
    enum as_build_state state;
    char directory[PATH_MAX];
    char error[256]; /* FAILED: the first line of its error */
    uint64_t digest; /* DONE: of the machine code of all that it made */
    pid_t pid;
    int step;
    int64_t end_ns; /* of the training run */
};

/* Callback during builds. */
struct as_build_watch {
    int64_t end_ns; /* when builds that are not done are given up, CLOCK_MONOTONIC */
    double train_s; /* what a training run may take */
    bool (*stop)(void *context);
    void (*tell)(void *context, const struct as_build *build);
    void *context;
};

/*
 * Finds the source directory and a place for copies. Errors: USAGE (no {flags}; too large: what
 * would be copied, and what to do), NOT_FOUND, IO. In any case _close is called.
 */
int as_build_tree_open(struct as_build_tree *build_tree,
                       const struct as_build_tree_options *options, struct assay_error *err);
void as_build_tree_close(struct as_build_tree *build_tree);

/* Returns true if the paths can be used in an option without quotes. */
bool as_build_tree_can_map(const struct as_build_tree *build_tree);
/* Returns true if the kernel can prevent a child from writing to a directory. */
bool as_build_tree_can_protect(const char *source);

/*
 * Makes the compilers that give options to some files only: programs of their names, which PATH
 * leads to. Errors: IO.
 */
int as_build_tree_wrap(struct as_build_tree *build_tree, struct assay_error *err);
/* In the child that builds: PATH and what the wrappers read. `flags`: for the files of `plan`. */
void as_build_tree_enter_wrap(const struct as_build_tree *build_tree,
                              const struct as_build_plan *plan);

/* Builds all waiting builds. A failing build is not an error; stopped builds wait again. Errors:
 * IO (a full disk), LIMIT (no processes), NOMEM. */
int as_build_tree_build(struct as_build_tree *build_tree, struct as_build *build, size_t n,
                        const struct as_build_watch *watch, struct assay_error *err);

/* `text` with `value` for each `name`. In the arena; NULL: NOMEM. */
const char *as_build_tree_fill(struct as_build_tree *build_tree, const char *text, const char *name,
                               const char *value);
/* The command with {flags} filled in. In the arena; NULL: NOMEM. */
const char *as_build_tree_command(struct as_build_tree *build_tree, const char *flags);
/*
 * The words of a command with the programs that `build` made in place of the user's; NULL: NOMEM.
 * `*replaced`: how many were.
 */
const char *const *as_build_tree_words(struct as_build_tree *build_tree,
                                       const struct as_build *build, const char *const *words,
                                       size_t *replaced);
/* Families of compilers that made the programs of a build: "gcc", "clang", "gfortran", blanks
 * between. */
int as_build_tree_compilers(const struct as_build_tree *build_tree, const struct as_build *build,
                            char *out, size_t size_b);

#endif
