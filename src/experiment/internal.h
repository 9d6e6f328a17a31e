/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the room share: the connection and its prepared inserts, failures of SQLite
 * as sentences, the directory and its lock. Nothing of SQLite shows outside the room.
 */
#ifndef AS_EXPERIMENT_INTERNAL_H
#define AS_EXPERIMENT_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>

#include <assay/experiment.h>

#include "base/error.h"

/* X(name): all tables that have an insert. */
#define AS_TABLE_LIST(X) ASSAY_ROW_LIST(X) ASSAY_PLAIN_ROW_LIST(X)

enum as_table_id {
#define AS_TABLE_ENUM(name) AS_TABLE_##name,
    AS_TABLE_LIST(AS_TABLE_ENUM)
#undef AS_TABLE_ENUM
        AS_TABLE_COUNT
};

struct assay_experiment {
    char *path;    /* of the directory, as given, without slashes at its end */
    char *db_path; /* of experiment.db in it */
    sqlite3 *db;
    int lock; /* descriptor of the writer's lock, -1 for a reader */
    bool in_batch;
    struct assay_error failed; /* what made this batch fail; later calls of it repeat it */
    sqlite3_stmt *add[AS_TABLE_COUNT], *set[AS_TABLE_COUNT]; /* prepared at first use */
    sqlite3_stmt *new_callpath, *metric, *value, *finding, *flag, *check, *what_if, *what_if_object;
    sqlite3_stmt *detail, *detail_column, *detail_cell;
};

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

/* 0, or the failure that this batch had before. */
int as_batch_check(const struct assay_experiment *experiment, struct assay_error *err);

/* ---- directory.c ---- */

/* The directory must be an experiment: NOT_FOUND or CORRUPT otherwise. */
int as_directory_check(const struct assay_experiment *experiment, struct assay_error *err);
/* Makes the directory; with `force` what assay made in an existing one is removed. */
int as_directory_make(const struct assay_experiment *experiment, bool force,
                      struct assay_error *err);
/* Undoes as_directory_make after a failure: removes experiment.db* and the directory if empty. */
void as_directory_unmake(const struct assay_experiment *experiment);
/* Whether experiment.db is writable and files can be made beside it. */
/* Removes all that is ours at `path`, and the directory if nothing is left. */
void as_directory_remove(const char *path);
bool as_directory_writable(const struct assay_experiment *experiment);
/* Whether a journal of a killed or living writer is there. */
bool as_directory_has_journal(const struct assay_experiment *experiment);
/* Whether the filesystem shares memory between processes, which write-ahead logging needs. */
bool as_directory_shares_memory(const struct assay_experiment *experiment);
/* The writer's lock. LIMIT when another process holds it; dies with the process. */
int as_lock_take(struct assay_experiment *experiment, struct assay_error *err);
void as_lock_release(struct assay_experiment *experiment);

/* ---- value.c ---- */

/* The word of an origin, or NULL; whether a quantity may be stored (`of` what it is). */
const char *as_quantity_origin(int origin);
int as_quantity_check(const struct assay_quantity *it, const char *of, struct assay_error *err);

/* ---- migrate.c ---- */

/* Checks whose database this is and reads its schema. CORRUPT, UNSUPPORTED when newer. */
int as_schema_read(struct assay_experiment *experiment, int *version, struct assay_error *err);
/* Brings the schema from `version` to `to`, each step whole or not at all. */
int as_schema_migrate(struct assay_experiment *experiment, int version, int to,
                      struct assay_error *err);

/* Test seam: as assay_experiment_create, but of an older schema. */
int as_experiment_create_schema(const char *path, unsigned flags, int version,
                                struct assay_experiment **out, struct assay_error *err);

#endif
