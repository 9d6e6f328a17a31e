/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a program with other options, each build in its own copy of the source directory,
 * concurrently. The directory itself is only read. If the kernel permits, builds cannot write to
 * it. Otherwise the directory is compared after each build.
 */
#ifndef AS_TRIAL_BUILD_H
#define AS_TRIAL_BUILD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"
#include "trial/tree.h"

/* Larger source directories, in bytes, are not copied unless `any_size` is set. */
#define AS_YARD_SIZE_MOST ((uint64_t)1 << 30)

struct as_build_tree_options {
    const char *command; /* shell command with {flags} */
    const char *source;  /* NULL: the working directory */
    bool any_size;
    const char *const *program; /* words of the command that runs the program */
    unsigned jobs;
};

struct as_build_tree {
    struct as_arena arena;
    struct as_build_tree_options options;
    /* absolute paths without symbolic links: source directory, build tree, working directory */
    char source[PATH_MAX], root[PATH_MAX], here[PATH_MAX];
    char temporary[PATH_MAX + 8]; /* TMPDIR of the builds */
    struct as_tree_copy copy;
    struct as_tree_size size;
    char wrappers[PATH_MAX + 16]; /* directory of the compiler wrappers; "" = not created yet */
    /* builds map their paths to the source directory in debug information (-ffile-prefix-map) */
    bool use_map;
    size_t build_n;
    bool is_protected; /* builds cannot write to the source directory */
};

enum as_build_state { AS_BUILD_WAITING, AS_BUILD_AT_WORK, AS_BUILD_DONE, AS_BUILD_FAILED };

/* One build. `flags` replaces {flags} in the command; {profile} in it is a directory for this
 * build. */
struct as_build_plan {
    const char *name; /* name in messages */
    const char *flags;
    /* options of a build for a training run, and a shell command to run after it; or NULL */
    const char *train, *merge;
    /* Path suffixes of the files that get the options, ended by NULL; NULL = all files. */
    const char *const *only;
};

struct as_build {
    struct as_build_plan plan;
    enum as_build_state state;
    char directory[PATH_MAX];
    char error[256]; /* FAILED: the first error line of the log */
    uint64_t digest; /* DONE: digest of the machine code of all programs and libraries */
    pid_t pid;
    int step;
    int64_t end_ns; /* deadline of the training run, CLOCK_MONOTONIC */
};

/* Limits and callbacks of builds; `stop` and `tell` may be NULL. */
struct as_build_watch {
    int64_t end_ns; /* deadline of unfinished builds, CLOCK_MONOTONIC */
    double train_s; /* time limit of a training run in seconds */
    bool (*stop)(void *context);
    void (*tell)(void *context, const struct as_build *build);
    void *context;
};

/*
 * Finds the source directory and creates the build tree. Call as_build_tree_close even after a
 * failure. Errors: USAGE (no {flags}; source directory too large), NOT_FOUND, IO.
 */
int as_build_tree_open(struct as_build_tree *build_tree,
                       const struct as_build_tree_options *options, struct as_error *err);
void as_build_tree_close(struct as_build_tree *build_tree);

/* Returns true if the paths can be used in an option without quotes. */
bool as_build_tree_can_map(const struct as_build_tree *build_tree);
/* Returns true if the kernel can prevent a child from writing to a directory. */
bool as_build_tree_can_protect(const char *source);

/*
 * Creates compiler wrappers, which pass options for some files only. They have the names of the
 * installed compilers and come first in PATH. Errors: IO.
 */
int as_build_tree_wrap(struct as_build_tree *build_tree, struct as_error *err);
/* Sets PATH and the variables of the wrappers in the child that builds; the wrappers pass the
 * flags of `plan`. */
void as_build_tree_enter_wrap(const struct as_build_tree *build_tree,
                              const struct as_build_plan *plan);

/* Builds all waiting builds. A failing build is not an error; stopped builds wait again. Errors:
 * IO (a full disk), LIMIT (no processes), NOMEM. */
int as_build_tree_build(struct as_build_tree *build_tree, struct as_build *build, size_t n,
                        const struct as_build_watch *watch, struct as_error *err);

/* Returns `text` with each `name` replaced by `value`. The result is in the arena; NULL without
 * memory. */
const char *as_build_tree_fill(struct as_build_tree *build_tree, const char *text, const char *name,
                               const char *value);
/* Returns the build command with {flags} filled in. The result is in the arena; NULL without
 * memory. */
const char *as_build_tree_command(struct as_build_tree *build_tree, const char *flags);
/*
 * Returns the words of a command with the programs of `build` in place of the user's. Sets
 * `replaced` to the number of replaced words. The result is in the arena; NULL without memory.
 */
const char *const *as_build_tree_words(struct as_build_tree *build_tree,
                                       const struct as_build *build, const char *const *words,
                                       size_t *replaced);
/* Writes the compiler families of the built programs to `out`, each with a blank behind it:
 * "gcc", "clang", "gfortran". */
int as_build_tree_compilers(const struct as_build_tree *build_tree, const struct as_build *build,
                            char *out, size_t size_b);

#endif
