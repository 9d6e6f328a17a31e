/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates, opens and closes experiments, and runs their batches. A writer uses a write-ahead log if
 * the file system shares memory; readers and the writer then do not wait for each other. On close,
 * the database returns to a rollback journal: one plain file that can be copied, and read from
 * read-only places. The next writer repairs the rest of a killed one. The database is untrusted:
 * schema.c checks its content before use.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "experiment/internal.h"
#include "experiment/redaction.h"
#include "experiment/sql_allowed.h"
#include "experiment/sql_limits.h"

/* Max wait for another connection's lock, in ms. */
#define BUSY_MS 10000

/* No text that assay writes comes near this size. */
#define CELL_MOST_B (64 << 20)

/* ---- Connections ------------------------------------------------------------------------- */

static void release_experiment(struct as_experiment **experiment)
{
    struct as_experiment *it = *experiment;

    *experiment = NULL;
    if (!it)
        return;
    as_lock_release(it);
    as_redaction_free(&it->redaction);
    as_free(it->path);
    as_free(it->db_path);
    as_free(it);
}

static int make_experiment(const char *path, struct as_experiment **out, struct as_error *err)
{
    struct as_experiment *it = as_calloc(1, sizeof *it);
    struct as_str own = {0}, db = {0};
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    as_str_append(&own, path, n);
    as_str_appendf(&db, "%.*s/experiment.db", (int)n, path);
    if (!it || own.failed || db.failed || !n) {
        as_free(it);
        as_str_fini(&own);
        as_str_fini(&db);
        if (!n)
            return as_error_set(err, AS_ERR_USAGE,
                                "experiment: empty name; use the name of a directory");
        return as_error_nomem(err, path);
    }
    it->path = own.p;
    it->db_path = db.p;
    it->lock = -1;
    it->opened_s = time(NULL);
    *out = it;
    return 0;
}

void as_uri_append(struct as_str *uri, const char *path, const char *parameters)
{
    as_str_appendz(uri, "file:");
    for (const char *p = path; *p; p++) {
        if (strchr("%?#", *p) || (unsigned char)*p < 0x21)
            as_str_appendf(uri, "%%%02x", (unsigned)(unsigned char)*p);
        else
            as_str_append(uri, p, 1);
    }
    as_str_appendz(uri, parameters);
}

/*
 * Restricts a connection to an untrusted database. It runs no triggers, extensions or functions
 * with side effects, attaches no other database, and checks pages before use.
 */
static void distrust(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, CELL_MOST_B);
    sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", NULL, NULL, NULL);
}

/* Appends the path of the database. The user's path may contain symbolic links; the directory
 * itself may not. */
static void append_place(struct as_str *place, const struct as_experiment *it)
{
    char *real = realpath(it->path, NULL);

    as_str_appendf(place, "%s/experiment.db", real ? real : it->path);
    free(real);
}

/* Configures SQLite before its first use. Memory statistics are off: their lock took 5 % of the
 * time to write a million rows. */
static void configure_once(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    as_limits_install();
}

static int connect_db(struct as_experiment *it, int flags, const char *parameters,
                      struct as_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct as_str place = {0}, uri = {0};
    int code, rc = 0;

    pthread_once(&once, configure_once);
    if (it->in_memory)
        as_str_appendz(&place, ":memory:");
    else
        append_place(&place, it);
    as_uri_append(&uri, as_str_z(&place), parameters);
    uri.failed |= place.failed;
    as_str_fini(&place);
    if (uri.failed) {
        as_str_fini(&uri);
        return as_error_nomem(err, it->db_path);
    }
    code =
        sqlite3_open_v2(as_str_z(&uri), &it->db,
                        flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, NULL);
    if (code != SQLITE_OK) {
        rc = as_sql_failure(it->db_path, it->db, code, "opening it", err);
        sqlite3_close(it->db);
        it->db = NULL;
    } else {
        sqlite3_busy_timeout(it->db, BUSY_MS);
        sqlite3_extended_result_codes(it->db, 1);
        distrust(it->db);
        as_allowed_install(it->db, &it->is_guarded);
    }
    as_str_fini(&uri);
    return rc;
}

static void disconnect(struct as_experiment *it)
{
    sqlite3_close(it->db);
    it->db = NULL;
}

/* Sets the journal and checks of a writer. Without a write-ahead log the writer is only slower. */
static int set_up_writer(struct as_experiment *it, struct as_error *err)
{
    const char *const journal = as_directory_shares_memory(it)
                                    ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL"
                                    : "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL";

    AS_TRY(as_sql_run(it, journal, "opening it to write", err));
    return as_sql_run(it, "PRAGMA foreign_keys = ON; PRAGMA cache_size = -32768",
                      "opening it to write", err);
}

/* Returns to one plain file. SQLite refuses this while a reader is open, and then keeps the log. */
static void tidy(struct as_experiment *it)
{
    sqlite3_busy_timeout(it->db, 0);
    sqlite3_exec(it->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

/* ---- Opening ----------------------------------------------------------------------------- */

static int create_at(const char *path, unsigned flags, bool *is_taken, struct as_experiment **out,
                     struct as_error *err)
{
    struct as_experiment *it = NULL;
    int rc;

    *out = NULL;
    *is_taken = false;
    rc = make_experiment(path, &it, err);
    if (!it)
        return rc;
    rc = as_directory_make(it, flags, is_taken, err);
    if (rc == 0) {
        rc = connect_db(it, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "", err);
        if (rc == 0)
            rc = set_up_writer(it, err);
        if (rc == 0)
            rc = as_schema_make(it, err);
        if (rc < 0) {
            disconnect(it);
            as_directory_unmake(it);
        }
    }
    if (rc < 0)
        release_experiment(&it);
    *out = it;
    return rc;
}

int as_experiment_create(const char *path, unsigned flags, struct as_experiment **out,
                         struct as_error *err)
{
    bool is_taken;

    return create_at(path, flags, &is_taken, out, err);
}

int as_experiment_transient(struct as_experiment **out, struct as_error *err)
{
    struct as_experiment *it = NULL;
    int rc = make_experiment("(in memory)", &it, err);

    *out = NULL;
    if (rc == 0) {
        it->in_memory = true;
        rc = connect_db(it, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "", err);
    }
    if (rc == 0)
        rc = as_sql_run(it, "PRAGMA foreign_keys = ON", "opening it to write", err);
    if (rc == 0)
        rc = as_schema_make(it, err);
    if (rc < 0 && it) {
        disconnect(it);
        release_experiment(&it);
    }
    *out = it;
    return rc;
}

int as_experiment_create_free(const char *stem, const char *tail, struct as_experiment **out,
                              struct as_error *err)
{
    struct as_str path = {0};
    bool is_taken = true;
    int rc = 0;

    *out = NULL;
    for (unsigned i = 1; !*out && is_taken && i < 100000; i++) {
        as_str_clear(&path);
        as_str_appendz(&path, stem);
        if (i > 1)
            as_str_appendf(&path, "-%u", i);
        as_str_appendz(&path, tail);
        if (path.failed) {
            rc = as_error_nomem(err, stem);
            break;
        }
        rc = create_at(as_str_z(&path), 0, &is_taken, out, err);
    }
    as_str_fini(&path);
    return rc;
}

int as_experiment_check_new(const char *path, unsigned flags, struct as_error *err)
{
    struct as_experiment *it = NULL;
    int rc = make_experiment(path, &it, err);

    if (rc == 0)
        rc = as_directory_check_new(it, flags, err);
    release_experiment(&it);
    return rc;
}

int as_experiment_move(const char *path, const char *to, unsigned flags, struct as_error *err)
{
    struct as_experiment *from = NULL, *place = NULL;
    int rc = make_experiment(path, &from, err);

    if (rc == 0)
        rc = make_experiment(to, &place, err);
    if (rc == 0)
        rc = as_directory_move(from, place, flags, err);
    if (rc == 0)
        as_sync_name(place->path);
    release_experiment(&from);
    release_experiment(&place);
    return rc;
}

void as_experiment_stop_when(struct as_experiment *experiment, bool (*stopped)(void))
{
    experiment->stopped = stopped;
}

/* Marks runs that still record as interrupted: we have the lock, so their writer is gone. */
static int end_lost_runs(struct as_experiment *it, struct as_error *err)
{
    return as_sql_run(it, "UPDATE run SET state = 'interrupted' WHERE state = 'recording'",
                      "marking interrupted runs", err);
}

int as_experiment_open(const char *path, struct as_experiment **out, struct as_error *err)
{
    struct as_experiment *it = NULL;
    int rc;

    *out = NULL;
    rc = make_experiment(path, &it, err);
    if (!it)
        return rc;
    rc = as_directory_check(it, err);
    if (rc == 0)
        rc = as_lock_acquire(it, err);
    if (rc == 0)
        as_pack_forget(it);
    if (rc == 0)
        rc = connect_db(it, SQLITE_OPEN_READWRITE, "", err);
    if (rc == 0)
        rc = as_schema_check(it, err);
    if (rc == 0)
        rc = set_up_writer(it, err);
    if (rc == 0)
        rc = end_lost_runs(it, err);
    if (rc < 0) {
        disconnect(it);
        release_experiment(&it);
    }
    *out = it;
    return rc;
}

/*
 * Repairs the rest of a killed writer: its journal, and runs in state 'recording'. Does nothing
 * while a writer runs, or without write permission.
 */
static void repair_experiment(const struct as_experiment *reader)
{
    struct as_experiment *it = NULL;

    if (as_directory_writable(reader) && as_experiment_open(reader->path, &it, NULL) == 0)
        as_experiment_close(&it, NULL);
}

static int connect_reader(struct as_experiment *it, struct as_error *err)
{
    /* A file on a read-only file system may be marked for a write-ahead log, which cannot be
     * made there. Without a log the file is complete, so it is opened as immutable. */
    const bool sealed = !as_directory_writable(it) && !as_directory_has_journal(it);

    AS_TRY(connect_db(it, SQLITE_OPEN_READONLY, sealed ? "?immutable=1" : "", err));
    return as_schema_check(it, err);
}

int as_experiment_read(const char *path, struct as_experiment **out, struct as_error *err)
{
    struct as_experiment *it = NULL;
    int64_t open_runs = 0;
    int rc;

    *out = NULL;
    rc = make_experiment(path, &it, err);
    if (!it)
        return rc;
    rc = as_directory_check(it, err);
    if (rc == 0 && as_directory_has_journal(it))
        repair_experiment(it);
    if (rc == 0)
        rc = connect_reader(it, err);
    if (rc == 0)
        rc = as_sql_integer(it, "SELECT count(*) FROM run WHERE state = 'recording'", &open_runs,
                            err);
    if (rc == 0 && open_runs) {
        disconnect(it);
        repair_experiment(it);
        rc = connect_reader(it, err);
    }
    if (rc < 0) {
        disconnect(it);
        release_experiment(&it);
    }
    *out = it;
    return rc;
}

static void finalize_all(struct as_experiment *it)
{
    for (int i = 0; i < AS_TABLE_COUNT; i++) {
        sqlite3_finalize(it->add[i]);
        sqlite3_finalize(it->set[i]);
    }
}

int as_experiment_close(struct as_experiment **experiment, struct as_error *err)
{
    struct as_experiment *it = *experiment;
    int code, rc = 0;

    if (!it)
        return 0;
    if (it->in_batch)
        as_experiment_rollback(it);
    finalize_all(it);
    if (it->lock >= 0) {
        rc = as_sync_runs(it, err);
        tidy(it);
    }
    if (it->has_grown)
        as_pack_write(it);
    code = sqlite3_close(it->db);
    if (code != SQLITE_OK && rc == 0) /* the caller did not close its rows */
        rc = as_sql_failure(it->db_path, it->db, code, "closing it", err);
    if (it->is_packed)
        as_pack_install(it);
    release_experiment(experiment);
    return rc;
}

void as_experiment_discard(struct as_experiment **experiment)
{
    const size_t n = *experiment && !(*experiment)->in_memory ? strlen((*experiment)->path) + 1 : 0;
    char *path = n ? as_malloc(n) : NULL;

    if (path)
        memcpy(path, (*experiment)->path, n);
    as_experiment_close(experiment, NULL);
    if (path)
        as_directory_remove(path);
    as_free(path);
}

int as_experiment_remove_run(struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    char sql[64];

    if (experiment->in_batch || experiment->lock < 0)
        return as_error_set(err, AS_ERR_USAGE, "%s: a run cannot be removed %s", experiment->path,
                            experiment->in_batch ? "within a batch" : "when open for reading only");
    sqlite3_snprintf(sizeof sql, sql, "DELETE FROM run WHERE run_id = %lld", (long long)run_id);
    AS_TRY(as_sql_run(experiment, sql, "removing a run", err));
    const int why = as_directory_remove_run(experiment, run_id);
    return why == 0 ? 0
                    : as_error_set(err, why == EACCES ? AS_ERR_PERMISSION : AS_ERR_IO,
                                   "%s: run-%03lld cannot be removed: %s; remove it by hand",
                                   experiment->path, (long long)run_id, strerror(why));
}

const char *as_experiment_path(const struct as_experiment *experiment)
{
    return experiment->path;
}

/* ---- Batches ----------------------------------------------------------------------------- */

int as_experiment_begin(struct as_experiment *experiment, struct as_error *err)
{
    if (experiment->in_batch || !as_is_writer(experiment))
        return as_error_set(err, AS_ERR_INTERNAL, "%s: %s", experiment->path,
                            experiment->in_batch ? "a batch is open already"
                                                 : "is open for reading only");
    AS_TRY(as_sql_run(experiment, "BEGIN IMMEDIATE", "beginning to write", err));
    experiment->in_batch = true;
    experiment->failed.code = 0;
    return 0;
}

void as_experiment_rollback(struct as_experiment *experiment)
{
    if (!sqlite3_get_autocommit(experiment->db))
        sqlite3_exec(experiment->db, "ROLLBACK", NULL, NULL, NULL);
    memset(experiment->has_key, 0, sizeof experiment->has_key);
    experiment->rollbacks += experiment->in_batch;
    experiment->in_batch = false;
    experiment->failed.code = 0;
}

int64_t as_experiment_rollbacks(const struct as_experiment *experiment)
{
    return experiment->rollbacks;
}

int as_experiment_commit(struct as_experiment *experiment, struct as_error *err)
{
    int rc = as_batch_check(experiment, err);

    if (!experiment->in_batch)
        return as_error_set(err, AS_ERR_INTERNAL, "%s: no batch is open", experiment->path);
    if (rc == 0)
        rc = as_keys_drop(experiment, err);
    if (rc == 0)
        rc = as_sql_run(experiment, "COMMIT", "writing", err);
    if (rc < 0) {
        as_experiment_rollback(experiment);
        return rc;
    }
    assert(sqlite3_get_autocommit(experiment->db));
    experiment->in_batch = false;
    return 0;
}

int as_experiment_batch(struct as_experiment *experiment,
                        int (*work)(void *context, struct as_error *err), void *context,
                        struct as_error *err)
{
    AS_TRY(as_experiment_begin(experiment, err));
    const int rc = work(context, err);
    if (rc == 0)
        return as_experiment_commit(experiment, err);
    as_experiment_rollback(experiment);
    return rc;
}
