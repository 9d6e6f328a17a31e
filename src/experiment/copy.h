/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying a run with all it stands on from one experiment into another: rows get new ids, what has
 * a natural key is not doubled. What is to be known of each table stands in one list
 * (copy_tables.c); columns are taken as they are in the schema. Knows nothing of ranks, hosts or
 * clocks.
 */
#ifndef AS_EXPERIMENT_COPY_H
#define AS_EXPERIMENT_COPY_H

#include <assay/experiment.h>

#include "base/str.h"

enum as_copy_way {
    AS_COPY_COMPLETE, /* a row whose natural key is there is completed */
    AS_COPY_KEEP,     /* a row whose natural key is there stays as it is */
    AS_COPY_ADD_UP,   /* columns that are sums grow */
    AS_COPY_MADE,     /* not copied: made anew of other tables */
    AS_COPY_ASKED     /* not copied: for who copies to write */
};

/*
 * A table, after those that it refers to. `columns` are those that are more than values, as
 * "COLUMN:ROLE ...":
 *   TABLE     the id of a row of that table; TABLE+ of the own one, also further down
 *   @object   the id of a row of the table that object_kind beside it names
 *   @time     nanoseconds since the start of the run
 *   @file     a path in the experiment
 *   @process  a text that holds within one process: "[generated code of process 12]"
 *   @sum      grows, where rows add up
 */
struct as_copy_table {
    const char *name;
    enum as_copy_way way;
    const char *rows; /* SQL: which are of run ?1; NULL = all */
    const char *columns;
};

extern const struct as_copy_table as_copy_tables[];
extern const size_t as_copy_table_n;

struct as_copy;

struct as_copy_part {
    struct assay_experiment *from;
    int64_t from_run, to_run;
    int64_t shift_ns;  /* start of the one after the start of the other */
    const char *whose; /* added to what holds within a process: "rank 3" */
    /* The path that a file of the experiment gets; empty = it is not there. */
    int (*file)(void *context, const char *path, struct as_str *out, struct assay_error *err);
    void *context;
};

/* Copies into `to`, which is open for writing and outlives it. */
int as_copy_new(struct assay_experiment *to, struct as_copy **out, struct assay_error *err);
void as_copy_free(struct as_copy **copy);

/* Copies one run, in the batch that is open. Errors: CORRUPT, LIMIT (also when stopped), IO. */
int as_copy_run(struct as_copy *copy, const struct as_copy_part *part, struct assay_error *err);

/* The new id of an object of the run copied last; 0 = it was not copied. */
int64_t as_copy_object(const struct as_copy *copy, enum assay_object_kind kind, int64_t id);

#endif
