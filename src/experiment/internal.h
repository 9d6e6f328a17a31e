/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State shared by the files of this room: the connection and its prepared inserts, messages for
 * SQLite failures, the directory and its lock. No other room sees SQLite.
 */
#ifndef AS_EXPERIMENT_INTERNAL_H
#define AS_EXPERIMENT_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <time.h>

#include "base/error.h"
#include "base/str.h"
#include "experiment/experiment.h"
#include "experiment/row_tables.h"

struct as_bulk;      /* bulk.h */
struct as_redaction; /* redaction.h */

struct as_experiment {
    char *path;    /* path of the directory as given, without trailing slashes */
    char *db_path; /* path of experiment.db */
    sqlite3 *db;
    time_t opened_s; /* time of opening, by the clock of file times */
    int lock;        /* descriptor of the writer's lock; -1 for a reader */
    bool in_memory;  /* open for writing, without directory and lock */
    bool in_batch;
    const char *speaker; /* name of the pass that writes this batch, or NULL */
    int64_t rollbacks;
    /* first failure of this batch; later calls in the batch return it again */
    struct as_error failed;
    bool (*stopped)(void); /* asks if the writer must stop; may be NULL */
    bool is_guarded;       /* the statement being compiled may be a user's (sql_allowed.h) */
    struct as_redaction *redaction; /* redaction of texts that are read, or NULL */
    bool has_limits;
    struct as_sql_limits limits;                             /* limits of users' statements */
    sqlite3_stmt *add[AS_TABLE_COUNT], *set[AS_TABLE_COUNT]; /* prepared at first use */
    /* this batch has made the index of a brief key */
    bool has_key[AS_TABLE_COUNT];
    const struct as_bulk *bulk; /* the rows being written, or NULL */
    /* so many rows were written that packing pays */
    bool has_grown;
    bool is_packed; /* the packed database is complete beside the old one */
};

static inline bool as_is_writer(const struct as_experiment *experiment)
{
    return experiment->lock >= 0 || experiment->in_memory;
}

/* ---- failure.c ---- */

/* Sets the message for the last result `code` of SQLite on `db` (may be NULL). `what` names the
 * action: "reading samples". Returns the error code. */
int as_sql_failure(const char *db_path, sqlite3 *db, int code, const char *what,
                   struct as_error *err);

/* Runs statements that return no rows. */
int as_sql_run(struct as_experiment *experiment, const char *sql, const char *what,
               struct as_error *err);

/* Stores the first column of the first row in `value`, or 0 if there is no row. */
int as_sql_integer(struct as_experiment *experiment, const char *sql, int64_t *value,
                   struct as_error *err);

/* Prepares a statement, unless `statement` is prepared already. */
int as_sql_prepare(struct as_experiment *experiment, const char *sql, sqlite3_stmt **statement,
                   struct as_error *err);

/*
 * Runs a prepared insert and resets it. `id` (may be NULL) receives the first column of the result.
 * A failure in a batch makes the whole batch fail.
 */
int as_sql_insert(struct as_experiment *experiment, sqlite3_stmt *statement, const char *what,
                  int64_t *id, struct as_error *err);

/* Returns AS_ERR_LIMIT if the writer must stop (as_experiment_stop_when), else 0. */
int as_stop_check(const struct as_experiment *experiment, struct as_error *err);

/* Returns the earlier failure of this batch, or 0. */
int as_batch_check(const struct as_experiment *experiment, struct as_error *err);

/* Returns the name of the pass for a row: `pass`, or that of the batch if `pass` is NULL. */
static inline const char *as_pass_name(const struct as_experiment *experiment, const char *pass)
{
    return pass ? pass : experiment->speaker;
}

/* ---- directory.c ---- */

/* Checks that the directory is an experiment. Errors: NOT_FOUND, CORRUPT. */
int as_directory_check(const struct as_experiment *experiment, struct as_error *err);
/*
 * Makes the directory and takes the lock. With AS_EXPERIMENT_FORCE, removes an existing
 * experiment in it. Sets `is_taken` if the directory existed or another process holds the lock;
 * after a failure nothing was changed then.
 */
int as_directory_make(struct as_experiment *experiment, unsigned flags, bool *is_taken,
                      struct as_error *err);
/* Undoes as_directory_make after a failure: removes the experiment's files, and the directory if
 * it is empty. The caller must hold the lock. */
void as_directory_unmake(const struct as_experiment *experiment);
/* Checks if as_directory_make would refuse the path in its present state. Errors: USAGE. */
int as_directory_check_new(const struct as_experiment *experiment, unsigned flags,
                           struct as_error *err);
/* Renames a closed experiment. With AS_EXPERIMENT_FORCE, replaces another experiment at the
 * new path. */
int as_directory_move(const struct as_experiment *from, struct as_experiment *to, unsigned flags,
                      struct as_error *err);
/* Removes the experiment's files at `path`, and the directory if it is then empty. */
void as_directory_remove(const char *path);
/* Removes the directory of a run. Returns 0, also if it is missing, or an errno. */
int as_directory_remove_run(const struct as_experiment *experiment, int64_t run_id);
/* Returns true if experiment.db is writable and files can be made beside it. */
bool as_directory_writable(const struct as_experiment *experiment);
/* Returns true if a writer, running or killed, has left a journal. */
bool as_directory_has_journal(const struct as_experiment *experiment);
/* Returns true if the file system shares memory between processes, as write-ahead logs need. */
bool as_directory_shares_memory(const struct as_experiment *experiment);
/* Takes the writer's lock, which ends with the process. Errors: LIMIT (another process holds
 * it), PERMISSION, IO. */
int as_lock_acquire(struct as_experiment *experiment, struct as_error *err);
void as_lock_release(struct as_experiment *experiment);

/* ---- sync.c ---- */

/* Flushes all files of runs to disk that changed since the experiment was opened. Errors: IO. */
int as_sync_runs(const struct as_experiment *experiment, struct as_error *err);
/* Flushes the directory entry of `path` to disk, if the file system can. */
void as_sync_name(const char *path);

/* ---- value.c ---- */

/* Checks that a quantity is valid; `of` names it in the message. Errors: INTERNAL. */
int as_quantity_check(const struct as_bounded_value *it, const char *of, struct as_error *err);

/* ---- record.c ---- */

/* Adds a row; `row` is the table's struct. `out` receives its id and may be NULL. */
int as_row_add(struct as_experiment *experiment, enum as_table_id id, const void *row, int64_t *out,
               struct as_error *err);
/* Makes the index of a brief key until the end of the batch. Does nothing for other tables. */
int as_key_make(struct as_experiment *experiment, enum as_table_id id, struct as_error *err);
int as_key_make_named(struct as_experiment *experiment, const char *table, struct as_error *err);
/* Drops the indices of brief keys at the end of the batch. */
int as_keys_drop(struct as_experiment *experiment, struct as_error *err);

/* ---- pack.c ---- */

#define AS_PACKED_TAIL "-packed"
/* Writes a packed copy beside the database and sets `is_packed`. Does nothing if a journal
 * exists. Without space on the disk, nothing is left. */
void as_pack_write(struct as_experiment *experiment);
/* Removes the packed copy that a killed writer left. */
void as_pack_forget(const struct as_experiment *experiment);
/* Replaces the closed database with the packed copy. */
void as_pack_install(struct as_experiment *experiment);

/* ---- experiment.c ---- */

/* Appends a "file:" URI of the database, with reserved characters as %XX (RFC 3986). */
void as_uri_append(struct as_str *uri, const char *path, const char *parameters);

/* ---- metric_set.c ---- */

/* Returns true if a text is a valid name of a set or of its column. Names from a file are
 * untrusted. */
bool as_metric_set_is_name(const char *text);
/* Appends the statement that makes v_values for all present sets. Returns 0 or
 * AS_ERR_CORRUPT, also if memory runs out. */
int as_metric_set_values(struct as_experiment *experiment, struct as_str *sql);
/* Deletes the rows of a run, or of one object, from the sets of a pass. */
int as_metric_set_forget(struct as_experiment *experiment, const struct as_subject *of,
                         const char *pass, struct as_error *err);

/* ---- schema.c ---- */

/* Checks that the database is an experiment with this schema. Errors: CORRUPT, UNSUPPORTED
 * (newer or older). */
int as_schema_check(struct as_experiment *experiment, struct as_error *err);
/* Makes all tables and views, or none. */
int as_schema_make(struct as_experiment *experiment, struct as_error *err);

#endif
