/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying a run with all it stands on from one experiment into another: rows get new ids, what has
 * a natural key is not doubled. What is to be known of each table is made of
 * data/experiment/tables.txt. Knows nothing of ranks, hosts or clocks.
 */
#ifndef AS_EXPERIMENT_COPY_H
#define AS_EXPERIMENT_COPY_H

#include <assay/experiment.h>

#include "base/str.h"

enum as_copy_way {
    AS_COPY_COMPLETE, /* a row whose natural key is there is completed */
    AS_COPY_KEEP,     /* a row whose natural key is there stays as it is */
    AS_COPY_ADD,      /* columns that are sums grow */
    AS_COPY_MADE,     /* not copied: made anew of other tables */
    AS_COPY_ASKED     /* not copied: for who copies to write */
};

enum as_copy_role {
    AS_COPY_VALUE,
    AS_COPY_ID,      /* of a row of table `of`, which is further up */
    AS_COPY_LATER,   /* of a row of the own table, perhaps further down */
    AS_COPY_OBJECT,  /* id of a row of the table that object_kind beside it names */
    AS_COPY_TIME,    /* nanoseconds since the start of the run */
    AS_COPY_FILE,    /* a path in the experiment */
    AS_COPY_PROCESS, /* a text that holds within one process: "[generated code of process 12]" */
    AS_COPY_SUM      /* grows, where rows add up */
};

struct as_copy_column {
    const char *name;
    enum as_copy_role role;
    size_t of; /* index of a table */
};

/* A table, after those that it refers to. One may be there twice, for different rows. */
struct as_copy_table {
    const char *name;
    enum as_copy_way way;
    const char *rows;                    /* SQL: which are of run ?1; NULL = all */
    const struct as_copy_column *column; /* without its own id */
    size_t column_n;
    bool has_id;
    int kind_at; /* of object_kind, -1 = there is none */
};

extern const struct as_copy_table as_copy_tables[]; /* generated */
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
