/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the room share: the connection and its prepared inserts, failures of SQLite
 * as sentences, the directory and its lock. Nothing of SQLite shows outside the room.
 */
#ifndef AS_EXPERIMENT_INTERNAL_H
#define AS_EXPERIMENT_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <time.h>

#include <assay/experiment.h>

#include "base/error.h"
#include "base/str.h"
#include "experiment/row_tables.h"

struct as_bulk;      /* bulk.h */
struct as_redaction; /* redaction.h */

struct assay_experiment {
    char *path;    /* of the directory, as given, without slashes at its end */
    char *db_path; /* of experiment.db in it */
    sqlite3 *db;
    time_t opened_s; /* by the clock of files */
    int lock;        /* descriptor of the writer's lock, -1 for a reader */
    bool in_memory;  /* and so a writer's, without directory and lock */
    bool in_batch;
    const char *speaker; /* the pass whose batch it is, or NULL */
    int64_t rollbacks;
    struct assay_error failed; /* what made this batch fail; later calls of it repeat it */
    bool (*stopped)(void);     /* may be NULL */
    bool is_guarded;           /* the statement being compiled may be a user's (sql_allowed.h) */
    struct as_redaction *redaction; /* of texts that are read, or NULL */
    bool has_limits;
    struct assay_sql_limits limits;                          /* of users' statements */
    sqlite3_stmt *add[AS_TABLE_COUNT], *set[AS_TABLE_COUNT]; /* prepared at first use */
    bool has_key[AS_TABLE_COUNT];                            /* of brief keys: made by this batch */
    const struct as_bulk *bulk;                              /* what is being written, or NULL */
    bool has_grown;                                          /* by so much that packing pays */
    bool is_packed; /* it lies beside the database, whole */
};

static inline bool as_is_writer(const struct assay_experiment *experiment)
{
    return experiment->lock >= 0 || experiment->in_memory;
}

/* ---- failure.c ---- */

/* The sentence of what SQLite answered last on `db` (may be NULL); `what` was being done. */
int as_sql_failure(const char *db_path, sqlite3 *db, int code, const char *what,
                   struct assay_error *err);

/* Runs statements that give no rows. */
int as_sql_run(struct assay_experiment *experiment, const char *sql, const char *what,
               struct assay_error *err);

/* First column of the first row as an integer into `*value`; 0 where there is none. */
int as_sql_integer(struct assay_experiment *experiment, const char *sql, int64_t *value,
                   struct assay_error *err);

/* Prepares into `*statement` unless it is there. */
int as_sql_prepare(struct assay_experiment *experiment, const char *sql, sqlite3_stmt **statement,
                   struct assay_error *err);

/*
 * Steps a prepared insert once and resets it; `id` (may be NULL) receives its first column. In a
 * batch the failure sticks.
 */
int as_sql_insert(struct assay_experiment *experiment, sqlite3_stmt *statement, const char *what,
                  int64_t *id, struct assay_error *err);

/* LIMIT when the writer was told to stop (assay_experiment_stop_when). */
int as_stop_check(const struct assay_experiment *experiment, struct assay_error *err);

/* 0, or the failure that this batch had before. */
int as_batch_check(const struct assay_experiment *experiment, struct assay_error *err);

/* What a row says of the pass that makes it: its own word, or whose batch it is. */
static inline const char *as_pass_name(const struct assay_experiment *experiment, const char *pass)
{
    return pass ? pass : experiment->speaker;
}

/* ---- directory.c ---- */

/* The directory must be an experiment: NOT_FOUND or CORRUPT otherwise. */
int as_directory_check(const struct assay_experiment *experiment, struct assay_error *err);
/*
 * Makes the directory and takes the lock; with ASSAY_EXPERIMENT_FORCE what assay made in an
 * existing one is removed. `*is_taken`: it was there, or another is at it; then nothing was
 * changed.
 */
int as_directory_make(struct assay_experiment *experiment, unsigned flags, bool *is_taken,
                      struct assay_error *err);
/* Undoes as_directory_make after a failure: removes experiment.db* and the directory if empty. Only
 * for who has the lock. */
void as_directory_unmake(const struct assay_experiment *experiment);
/* Whether as_directory_make would be refused for what is there now. */
int as_directory_check_new(const struct assay_experiment *experiment, unsigned flags,
                           struct assay_error *err);
/* Renames a closed experiment; with ASSAY_EXPERIMENT_FORCE over another one. */
int as_directory_move(const struct assay_experiment *from, struct assay_experiment *to,
                      unsigned flags, struct assay_error *err);
/* Removes all that is ours at `path`, and the directory if nothing is left. */
void as_directory_remove(const char *path);
/* Removes the directory of a run; 0 also when there is none, else errno. */
int as_directory_remove_run(const struct assay_experiment *experiment, int64_t run_id);
/* Whether experiment.db is writable and files can be made beside it. */
bool as_directory_writable(const struct assay_experiment *experiment);
/* Whether a journal of a killed or living writer is there. */
bool as_directory_has_journal(const struct assay_experiment *experiment);
/* Whether the filesystem shares memory between processes, which write-ahead logging needs. */
bool as_directory_shares_memory(const struct assay_experiment *experiment);
/* The writer's lock. LIMIT when another process holds it; dies with the process. */
int as_lock_acquire(struct assay_experiment *experiment, struct assay_error *err);
void as_lock_release(struct assay_experiment *experiment);

/* ---- sync.c ---- */

/* Puts the files of runs that changed since the experiment was opened on the disk. Errors: IO. */
int as_sync_runs(const struct assay_experiment *experiment, struct assay_error *err);
/* Puts the directory entry of `path` on the disk, where the file system can. */
void as_sync_name(const char *path);

/* ---- value.c ---- */

/* Whether a quantity may be stored; `of`: what it is. */
int as_quantity_check(const struct assay_quantity *it, const char *of, struct assay_error *err);

/* ---- record.c ---- */

/* Adds a row, a struct of the table's; `id` may be NULL. */
int as_row_add(struct assay_experiment *experiment, enum as_table_id id, const void *row,
               int64_t *out, struct assay_error *err);
/* Makes the index of a brief key, which goes with the batch; of other tables does nothing. */
int as_key_make(struct assay_experiment *experiment, enum as_table_id id, struct assay_error *err);
int as_key_make_named(struct assay_experiment *experiment, const char *table,
                      struct assay_error *err);
/* At the end of the batch. */
int as_keys_drop(struct assay_experiment *experiment, struct assay_error *err);

/* ---- pack.c ---- */

#define AS_PACKED_TAIL "-packed"
/* Writes the database anew beside it, if there is room and nobody writes a journal; `is_packed`. */
void as_pack_write(struct assay_experiment *experiment);
/* Removes what a killed writer left of it. */
void as_pack_forget(const struct assay_experiment *experiment);
/* Puts that in its place, when it is closed. */
void as_pack_install(struct assay_experiment *experiment);

/* ---- experiment.c ---- */

/* "file:" URI of the database: reserved characters as %XX (RFC 3986). */
void as_uri_append(struct as_str *uri, const char *path, const char *parameters);

/* ---- metric_set.c ---- */

/* Whether a text can be the name of a set or a column of one: names that are read are foreign. */
bool as_metric_set_is_name(const char *text);
/* The statement that makes v_values for the sets that there are, appended. CORRUPT, NOMEM. */
int as_metric_set_values(struct assay_experiment *experiment, struct as_str *sql);
/* Takes the rows of a run out of the sets of a pass. */
int as_metric_set_forget(struct assay_experiment *experiment, const struct assay_subject *of,
                         const char *pass, struct assay_error *err);

/* ---- schema.c ---- */

/* Whether the database is an experiment of this schema: CORRUPT, UNSUPPORTED (newer, older). */
int as_schema_check(struct assay_experiment *experiment, struct assay_error *err);
/* Makes all tables and views, or none. */
int as_schema_make(struct assay_experiment *experiment, struct assay_error *err);

#endif
