/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for SQLite results that tell users what to do, and functions that run statements. */
#include <errno.h>
#include <string.h>

#include "base/untrusted_open.h"
#include "experiment/internal.h"

static int disk_failure(const char *db_path, const char *why, struct as_error *err)
{
    return as_error_set(err, AS_ERR_IO,
                        "%s: cannot be written: %s; free some space and repeat the command",
                        db_path, why);
}

int as_sql_failure(const char *db_path, sqlite3 *db, int code, const char *what,
                   struct as_error *err)
{
    const int system_errno = db ? sqlite3_system_errno(db) : 0;
    const char *why = db ? sqlite3_errmsg(db) : sqlite3_errstr(code);

    switch (code & 0xff) {
    case SQLITE_FULL:
        /* SQLite also returns this at its own limits; errno is then an old value. */
        return disk_failure(db_path, strerror(ENOSPC), err);
    case SQLITE_IOERR:
        /* SQLite loses the errno of some writes (in a commit); the result code remains. */
        if (system_errno == EFBIG || system_errno == EDQUOT || system_errno == ENOSPC)
            return disk_failure(db_path, strerror(system_errno), err);
        if (code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_FSYNC)
            return disk_failure(db_path, "disk full, file too large or failing disk", err);
        return as_error_set(err, AS_ERR_IO, "%s: %s: %s; check the file system", db_path, what,
                            system_errno ? strerror(system_errno) : why);
    case SQLITE_NOMEM:
        return as_error_nomem(err, db_path);
    case SQLITE_INTERRUPT:
        return as_error_set(err, AS_ERR_LIMIT, "%s: %s: stopped at a limit", db_path, what);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return as_error_set(err, AS_ERR_LIMIT,
                            "%s: %s: another program uses it; wait until it has ended", db_path,
                            what);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        if (system_errno == EMFILE || system_errno == ENFILE)
            return as_foreign_fail(db_path, "the database", system_errno, err);
        return as_error_set(err, AS_ERR_PERMISSION,
                            "%s: %s: not permitted (%s); copy the directory to a writable place",
                            db_path, what, why);
    case SQLITE_NOTADB:
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: not an experiment: no SQLite database; use a directory that "
                            "assay created",
                            db_path);
    case SQLITE_CORRUPT:
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: damaged: %s; restore a backup, or run 'sqlite3 FILE .recover'",
                            db_path, why);
    default:
        return as_error_set(err, AS_ERR_INTERNAL, "%s: %s: %s; please report this defect", db_path,
                            what, why);
    }
}

int as_sql_run(struct as_experiment *experiment, const char *sql, const char *what,
               struct as_error *err)
{
    const int code = sqlite3_exec(experiment->db, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? 0
                             : as_sql_failure(experiment->db_path, experiment->db, code, what, err);
}

int as_sql_integer(struct as_experiment *experiment, const char *sql, int64_t *value,
                   struct as_error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(experiment->db, sql, -1, &statement, NULL);

    *value = 0;
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_ROW)
        *value = sqlite3_column_int64(statement, 0);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        const int rc = as_sql_failure(experiment->db_path, experiment->db, code, "reading it", err);

        sqlite3_finalize(statement);
        return rc;
    }
    sqlite3_finalize(statement);
    return 0;
}

int as_stop_check(const struct as_experiment *experiment, struct as_error *err)
{
    if (!experiment->stopped || !experiment->stopped())
        return 0;
    return as_error_set(err, AS_ERR_LIMIT, "%s: stopped before it was complete", experiment->path);
}

int as_batch_check(const struct as_experiment *experiment, struct as_error *err)
{
    if (experiment->failed.code && err)
        *err = experiment->failed;
    return experiment->failed.code;
}

int as_sql_prepare(struct as_experiment *experiment, const char *sql, sqlite3_stmt **statement,
                   struct as_error *err)
{
    int code;

    if (*statement)
        return 0;
    if (!as_is_writer(experiment))
        return as_error_set(err, AS_ERR_INTERNAL, "%s: is open for reading only", experiment->path);
    code = sqlite3_prepare_v3(experiment->db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    return code == SQLITE_OK ? 0
                             : as_sql_failure(experiment->db_path, experiment->db, code,
                                              "preparing to write", err);
}

int as_sql_insert(struct as_experiment *experiment, sqlite3_stmt *statement, const char *what,
                  int64_t *id, struct as_error *err)
{
    struct as_error here = {0};
    int code;

    AS_TRY(as_stop_check(experiment, err));
    code = sqlite3_step(statement);

    if (code == SQLITE_ROW) {
        if (id)
            *id = sqlite3_column_int64(statement, 0);
        code = sqlite3_step(statement);
    }
    if (code == SQLITE_DONE) {
        sqlite3_reset(statement);
        return 0;
    }
    as_sql_failure(experiment->db_path, experiment->db, code, what, &here);
    sqlite3_reset(statement);
    if (experiment->in_batch)
        experiment->failed = here;
    if (err)
        *err = here;
    return here.code;
}
