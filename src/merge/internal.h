/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a merge, shared by its files: the inputs, what is known of each, and the facts that
 * should be equal in all of them.
 */
#ifndef AS_MERGE_INTERNAL_H
#define AS_MERGE_INTERNAL_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "merge/merge.h"

typedef AS_VEC(uint32_t) as_merge_parts; /* indices of inputs, ascending */

/* A value of a fact, and the inputs with this value. */
struct as_merge_variant {
    const char *text;
    as_merge_parts part;
};

/* A fact that should be equal in all inputs: "run.command", "env.OMP_NUM_THREADS",
 * "file./opt/solver". */
struct as_merge_fact {
    const char *name;
    AS_VEC(struct as_merge_variant) variant;
};

/* Resource usage of a part's processes as the kernel counted it, in the order of the query in
 * look.c. */
enum as_merge_usage {
    AS_MERGE_RESIDENT, /* bytes; the maximum over processes, not the sum */
    AS_MERGE_FAULT_MAJOR,
    AS_MERGE_FAULT_MINOR,
    AS_MERGE_SWITCH_VOLUNTARY,
    AS_MERGE_SWITCH_INVOLUNTARY,
    AS_MERGE_USAGES
};

struct as_merge_part {
    const char *path;
    int64_t run_id, start_ns, end_ns, overhead_ns;
    int64_t rank; /* lowest rank of the part; -1 = none */
    int64_t size; /* number of ranks of the job; -1 = unknown */
    struct as_number exit_code, exit_signal, usage[AS_MERGE_USAGES];
    /* `whose` names the part in messages: "rank 3", the host, or the path */
    const char *host, *launcher, *whose;
    dev_t device;
    ino_t inode;
    bool is_complete, has_runs;
};

struct as_merge_rank {
    int64_t rank;
    uint32_t part;
};

struct as_merge_flag {
    const char *key, *name, *text;
    enum as_object_kind kind;
    int64_t object_id, n;
    as_merge_parts part;
};

struct as_merge {
    struct as_experiment *to;
    const struct as_merge_request *request;
    struct as_arena arena;
    AS_VEC(struct as_merge_part) part; /* in the order of the request */
    as_merge_parts order;              /* indices, sorted by rank, then start */
    AS_VEC(struct as_merge_rank) rank; /* sorted after as_merge_look */
    AS_VEC(struct as_merge_fact) fact;
    struct as_map_view fact_of; /* name -> index in `fact` */
    AS_VEC(struct as_merge_flag) flag;
    struct as_map_view flag_of; /* key -> index in `flag` */
    struct as_row_run row;      /* row of the merged run; its strings are in the arena */
    int64_t run_id, start_ns, end_ns;
    size_t host_n;
};

/* ---- facts.c ---- */

/* Notes the value of a fact in an input; `text` NULL means unknown. Errors: NOMEM. */
int as_merge_note(struct as_merge *merge, const char *group, const char *name, const char *text,
                  uint32_t part, struct as_error *err);
/* Return the fact with this name; its value in an input; its value if equal in all inputs. NULL
 * if there is none. */
const struct as_merge_fact *as_merge_fact_of(const struct as_merge *merge, const char *name);
const char *as_merge_value(const struct as_merge *merge, const char *name, uint32_t part);
const char *as_merge_common(const struct as_merge *merge, const char *name);
/* Appends "rank 3", "ranks 0-1, 3", or the paths of inputs without ranks. */
void as_merge_append_owners(const struct as_merge *merge, const as_merge_parts *part,
                            struct as_str *out);
/* Appends sorted numbers such as "3" or "0-1, 3". */
void as_merge_append_numbers(const int64_t *number, size_t n, struct as_str *out);
/* Returns a copy in the arena; NULL without memory. */
const char *as_merge_keep(struct as_merge *merge, const char *text);

/* ---- look.c ---- */

/* Reads the facts of every input, and refuses inputs that cannot be merged at all. Errors:
 * USAGE, NOMEM, those of the experiments. */
int as_merge_look(struct as_merge *merge, struct as_error *err);

/* ---- check.c ---- */

/* Checks that the inputs belong to one run of one job. Errors: USAGE, NOMEM. */
int as_merge_check(struct as_merge *merge, struct as_error *err);

/* ---- files.c ---- */

/* State for copying the files of one input. */
struct as_merge_files {
    const struct as_merge_request *request;
    const struct as_experiment *from;
    const char *to; /* path of run-NNN of the merged run */
    int64_t from_run, to_run;
    size_t number; /* index of the input; part of the names of its files */
};
/* Callback `file` of struct as_copy_part: copies a file unless it exists, and appends its new
 * path. */
int as_merge_file(void *files, const char *path, struct as_str *out, struct as_error *err);
/* Copies all other files of the run. */
int as_merge_rest_of_files(const struct as_merge_files *files, struct as_error *err);

/* Copies `name` in the directory `at` to the path `to`. Skips an existing target, and anything
 * but a regular file. Errors: IO. */
int as_merge_copy_file(int at, const char *name, const char *to, struct as_error *err);
/* Returns a descriptor of the directory of a run of the input, or -1. */
int as_merge_open_run(const struct as_merge_files *files, int64_t run_id);

/* ---- streams.c ---- */

/* Copies the trace streams of the run, if there are any, beside those of other inputs
 * (doc/internals/trace.md). */
int as_merge_streams(const struct as_merge_files *files, struct as_error *err);

/* ---- flags.c ---- */

/* Notes a flag of an input; equal flags of several inputs become one. Errors: NOMEM. */
int as_merge_add_flag(struct as_merge *merge, const struct as_flag *flag, uint32_t part,
                      struct as_error *err);
/* Writes the noted flags, and those about the merge itself. */
int as_merge_write_flags(struct as_merge *merge, struct as_error *err);

#endif
