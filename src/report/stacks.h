/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call stacks of one run, read from an experiment for the exports. It knows the tables
 * (doc/reference/experiment.md) and no format. Texts are UTF-8 without control characters; unknown
 * ones are NULL.
 */
#ifndef AS_REPORT_STACKS_H
#define AS_REPORT_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/index.h"
#include "base/map.h"
#include "base/vec.h"
#include "experiment/experiment.h"

#define AS_STACK_NONE UINT32_MAX

struct as_stack_run {
    const char *command, *label, *event, *assay_version;
    int64_t run_id, start_ns, wall_ns, rate_hz; /* 0: unknown */
    int64_t host_n;
};

struct as_stack_process {
    const char *name, *host; /* name of the program without its directory */
    int64_t pid, rank;       /* rank -1: none */
};

struct as_stack_thread {
    const char *name;
    int64_t tid, omp_thread; /* omp_thread -1: none */
    uint32_t process;
};

struct as_stack_module {
    const char *path, *name, *build_id;
    bool is_kernel;
};

/* A function of a binary, or one that is inlined into others of the same module. */
struct as_stack_function {
    const char *name;         /* demangled; "[libx.so]" for an unknown function of libx.so */
    const char *linkage_name; /* same as `name` if there is none */
    const char *file;
    int64_t line; /* first line; 0: unknown */
    uint32_t module;
};

/* One function at a site. `line` is 0 if it is unknown or in another file than the function. */
struct as_stack_line {
    uint32_t function;
    int64_t line;
};

/* A code position in a function of a binary, with the functions inlined there, outermost first. */
struct as_stack_site {
    int64_t address; /* in the file of the module; 0: unknown */
    uint32_t module;
    uint32_t line, line_n; /* range in as_stacks.line */
    uint32_t location;     /* index in as_stacks.location, or AS_STACK_NONE */
};

struct as_stack_sample {
    uint32_t thread, path, location;
    int64_t n, time_ns;
};

/* Rows of the tables; ids are replaced by indices into the lists below. */
struct as_stack_path {
    int64_t id, parent_id;
    uint32_t parent, function, call_location;
    uint32_t call_site; /* site of the call in the parent; AS_STACK_NONE: not created yet */
};

struct as_stack_location {
    int64_t address, line;
    const char *file;
    uint32_t module, inlining;
};

struct as_stack_inlining {
    int64_t parent_id;
    uint32_t parent, function;
    const char *call_file;
    int64_t call_line;
};

struct as_stacks {
    struct as_stack_run run;
    AS_VEC(struct as_stack_module) module;     /* [0]: unknown; modules with samples are first */
    AS_VEC(struct as_stack_function) function; /* [0]: unknown */
    AS_VEC(struct as_stack_process) process;
    AS_VEC(struct as_stack_thread) thread;
    AS_VEC(struct as_stack_sample) sample; /* ordered by thread */
    AS_VEC(struct as_stack_site) site;     /* sites found by as_stacks_walk */
    AS_VEC(struct as_stack_line) line;
    /* Used only by stacks.c. */
    AS_VEC(struct as_stack_path) path;
    AS_VEC(struct as_stack_location) location;
    AS_VEC(struct as_stack_inlining) inlining;
    struct as_map_u64 module_of, function_of, process_of, thread_of, path_of, location_of,
        inlining_of; /* id -> index */
    struct as_index sites;
    struct as_arena arena;
};

typedef AS_VEC(uint32_t) as_stack_list;

/* Reads the running samples of a run, or with `blocked` the waiting ones. as_stacks_release
 * releases them even after an error. Errors: NOT_FOUND (no such run), NOMEM, those of reading. */
int as_stacks_read(struct as_experiment *experiment, int64_t run_id, bool blocked,
                   struct as_stacks *stacks, struct as_error *err);
void as_stacks_release(struct as_stacks *stacks);

/* Sets `sites` to the sites of a sample, innermost first. Errors: CORRUPT (a cycle of call paths),
 * NOMEM. */
int as_stacks_walk(struct as_stacks *stacks, const struct as_stack_sample *sample,
                   as_stack_list *sites, struct as_error *err);

#endif
