/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the room share: the inputs, what is known of each, and what is expected to be
 * the same in all.
 */
#ifndef AS_MERGE_INTERNAL_H
#define AS_MERGE_INTERNAL_H

#include <sys/types.h>

#include <assay/merge.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

typedef AS_VEC(uint32_t) as_merge_parts; /* numbers of inputs, ascending */

/* One of the values that a thing has, and the inputs in which it has it. */
struct as_merge_variant {
    const char *text;
    as_merge_parts part;
};

/* A thing that is expected to be the same in all: "run.command", "env.OMP_NUM_THREADS",
 * "file./opt/solver". */
struct as_merge_fact {
    const char *name;
    AS_VEC(struct as_merge_variant) variant;
};

/* What the kernel counted of the processes of a part, in the order in which look.c asks. */
enum as_merge_usage {
    AS_MERGE_RESIDENT, /* bytes: the largest of all counts */
    AS_MERGE_FAULT_MAJOR,
    AS_MERGE_FAULT_MINOR,
    AS_MERGE_SWITCH_VOLUNTARY,
    AS_MERGE_SWITCH_INVOLUNTARY,
    AS_MERGE_USAGES
};

struct as_merge_part {
    const char *path;
    int64_t run_id, start_ns, end_ns, overhead_ns;
    int64_t rank; /* its lowest, -1 = none */
    int64_t size; /* of the job, -1 = not known */
    struct assay_number exit_code, exit_signal, usage[AS_MERGE_USAGES];
    const char *host, *launcher, *whose; /* "rank 3", or the host, or the path */
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
    enum assay_object_kind kind;
    int64_t object_id, n;
    as_merge_parts part;
};

struct as_merge {
    struct assay_experiment *to;
    const struct assay_merge_request *request;
    struct as_arena arena;
    AS_VEC(struct as_merge_part) part; /* as they were given */
    as_merge_parts order;              /* by rank, then time */
    AS_VEC(struct as_merge_rank) rank; /* sorted when all were looked at */
    AS_VEC(struct as_merge_fact) fact;
    struct as_map_view fact_of; /* name -> index */
    AS_VEC(struct as_merge_flag) flag;
    struct as_map_view flag_of; /* key -> index */
    struct assay_row_run row;   /* of the merged run; its texts are in the arena */
    int64_t run_id, start_ns, end_ns;
    size_t host_n;
};

/* ---- facts.c ---- */

/* Notes that a thing has a value (NULL: none is known) in an input. */
int as_merge_note(struct as_merge *merge, const char *group, const char *name, const char *text,
                  uint32_t part, struct assay_error *err);
/* The fact of this name, or NULL; its value in an input, or NULL; its value if all have the same.
 */
const struct as_merge_fact *as_merge_fact_of(const struct as_merge *merge, const char *name);
const char *as_merge_value(const struct as_merge *merge, const char *name, uint32_t part);
const char *as_merge_common(const struct as_merge *merge, const char *name);
/* "rank 3", "ranks 0-1, 3", or the paths of inputs without ranks. */
void as_merge_append_owners(const struct as_merge *merge, const as_merge_parts *part,
                            struct as_str *out);
/* "3", "0-1, 3" of sorted numbers. */
void as_merge_append_numbers(const int64_t *number, size_t n, struct as_str *out);
/* A copy in the arena. */
const char *as_merge_keep(struct as_merge *merge, const char *text);

/* ---- look.c ---- */

/* Notes what is to be known of every input; refuses those that cannot be merged by themselves. */
int as_merge_look(struct as_merge *merge, struct assay_error *err);

/* ---- check.c ---- */

/* Whether the inputs are of one run of one job. */
int as_merge_check(struct as_merge *merge, struct assay_error *err);

/* ---- files.c ---- */

/* Copies of files of one input's runs. */
struct as_merge_files {
    const struct assay_merge_request *request;
    const struct assay_experiment *from;
    const char *to; /* run-NNN/ of the merged run */
    int64_t from_run, to_run;
    size_t number; /* of the input, in its names */
};
/* `file` of struct as_copy_part: copies it unless it is there. */
int as_merge_file(void *files, const char *path, struct as_str *out, struct assay_error *err);
/* All that the run has besides. */
int as_merge_rest_of_files(const struct as_merge_files *files, struct assay_error *err);

/* Copies `at`/`name` to the path `to`; one that is there, or that is no plain file, is left. */
int as_merge_copy_file(int at, const char *name, const char *to, struct assay_error *err);
/* The directory of a run of the input, or -1. */
int as_merge_open_run(const struct as_merge_files *files, int64_t run_id);

/* ---- streams.c ---- */

/* The streams of the run's trace (doc/internals/trace.md), where it has one, beside those of other
 * inputs. */
int as_merge_streams(const struct as_merge_files *files, struct assay_error *err);

/* ---- flags.c ---- */

/* Notes a flag; those that say the same of several inputs are one. */
int as_merge_add_flag(struct as_merge *merge, const struct assay_flag *flag, uint32_t part,
                      struct assay_error *err);
/* Writes them, and those about the merging itself. */
int as_merge_write_flags(struct as_merge *merge, struct assay_error *err);

#endif
