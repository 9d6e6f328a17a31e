/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call stacks of one run, read out of an experiment for the exports: who was where and how
 * often. Knows the tables (doc/reference/experiment.md), nothing of any format. Texts are UTF-8
 * without control characters; unknown ones are NULL.
 */
#ifndef AS_REPORT_STACKS_H
#define AS_REPORT_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>
#include <assay/experiment.h>

#include "base/arena.h"
#include "base/index.h"
#include "base/map.h"
#include "base/vec.h"

#define AS_STACK_NONE UINT32_MAX

struct as_stack_run {
    const char *command, *label, *event, *assay_version;
    int64_t run_id, start_ns, wall_ns, rate_hz; /* 0: not known */
    int64_t host_n;
};

struct as_stack_process {
    const char *name, *host; /* of the program, without its directory */
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

/* A function of a binary, or one inlined into others of the same module. */
struct as_stack_function {
    const char *name;         /* readable; "[libx.so]" where no function of libx.so is known */
    const char *linkage_name; /* as name where there is none */
    const char *file;
    int64_t line; /* where it begins; 0: not known */
    uint32_t module;
};

/* One function at a site; `line` 0: not known, or not in the function's file. */
struct as_stack_line {
    uint32_t function;
    int64_t line;
};

/* A place in a function of a binary, with what is inlined there, outermost first. */
struct as_stack_site {
    int64_t address; /* of the module's file; 0: not known */
    uint32_t module;
    uint32_t line, line_n; /* in as_stacks.line */
    uint32_t location;     /* in as_stacks.location, or AS_STACK_NONE */
};

struct as_stack_sample {
    uint32_t thread, path, location;
    int64_t n, time_ns;
};

/* As in the tables, ids replaced by places in the lists below. */
struct as_stack_path {
    int64_t id, parent_id;
    uint32_t parent, function, call_location;
    uint32_t call_site; /* of the call in the parent; AS_STACK_NONE: not made yet */
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
    AS_VEC(struct as_stack_module) module;     /* 0: none is known; binaries that ran come first */
    AS_VEC(struct as_stack_function) function; /* 0: none is known */
    AS_VEC(struct as_stack_process) process;
    AS_VEC(struct as_stack_thread) thread;
    AS_VEC(struct as_stack_sample) sample; /* by thread */
    AS_VEC(struct as_stack_site) site;     /* those that as_stacks_walk has met */
    AS_VEC(struct as_stack_line) line;
    /* Of use to stacks.c alone. */
    AS_VEC(struct as_stack_path) path;
    AS_VEC(struct as_stack_location) location;
    AS_VEC(struct as_stack_inlining) inlining;
    struct as_map_u64 module_of, function_of, process_of, thread_of, path_of, location_of,
        inlining_of; /* by id */
    struct as_index sites;
    struct as_arena arena;
};

typedef AS_VEC(uint32_t) as_stack_list;

/* Reads the running samples of a run, or those of waiting. Release in any case. Errors: NOT_FOUND
 * (no such run), NOMEM, those of reading. */
int as_stacks_read(struct assay_experiment *experiment, int64_t run_id, bool blocked,
                   struct as_stacks *stacks, struct assay_error *err);
void as_stacks_release(struct as_stacks *stacks);

/* The sites of a sample, innermost first, into `sites`. Errors: CORRUPT (call paths in a circle),
 * NOMEM. */
int as_stacks_walk(struct as_stacks *stacks, const struct as_stack_sample *sample,
                   as_stack_list *sites, struct assay_error *err);

#endif
