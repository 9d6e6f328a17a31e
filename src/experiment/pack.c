/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs a database that has grown. Rows written in key order leave an eighth of each page free, and
 * deleted rows leave free pages. A complete copy is written beside the database and flushed, and
 * then replaces it. This takes a thirtieth of the time of the measurement. Readers of the old file
 * keep it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "experiment/internal.h"

/* Returns the path of the database with `tail` appended, without symbolic links. The caller
 * frees it; NULL without memory. */
static char *name_of(const struct as_experiment *experiment, const char *tail)
{
    struct as_str name = {0};
    char *real = realpath(experiment->path, NULL);

    as_str_appendf(&name, "%s/experiment.db%s", real ? real : experiment->path, tail);
    free(real);
    if (!name.failed)
        return name.p;
    as_str_fini(&name);
    return NULL;
}

static bool write_packed(struct as_experiment *experiment, const char *to)
{
    struct as_str uri = {0};
    bool done = false;

    as_uri_append(&uri, to, "");
    if (!uri.failed) {
        char *sql = sqlite3_mprintf("VACUUM INTO %Q", as_str_z(&uri));

        /* VACUUM INTO attaches the new database */
        sqlite3_limit(experiment->db, SQLITE_LIMIT_ATTACHED, 1);
        done = sql && sqlite3_exec(experiment->db, sql, NULL, NULL, NULL) == SQLITE_OK;
        sqlite3_limit(experiment->db, SQLITE_LIMIT_ATTACHED, 0);
        sqlite3_free(sql);
    }
    as_str_fini(&uri);
    return done;
}

static bool copy_file_mode(const char *of, const char *to)
{
    struct stat st;

    return stat(of, &st) == 0 && chmod(to, st.st_mode & 07777) == 0;
}

void as_pack_write(struct as_experiment *experiment)
{
    char *from = name_of(experiment, ""), *to = name_of(experiment, AS_PACKED_TAIL);

    if (from && to && experiment->lock >= 0 && !as_directory_has_journal(experiment)) {
        unlink(to); /* left by a killed writer */
        experiment->is_packed = write_packed(experiment, to) && copy_file_mode(from, to);
        if (!experiment->is_packed)
            unlink(to);
    }
    as_free(from);
    as_free(to);
}

void as_pack_forget(const struct as_experiment *experiment)
{
    char *name = name_of(experiment, AS_PACKED_TAIL);

    if (name)
        unlink(name);
    as_free(name);
}

void as_pack_install(struct as_experiment *experiment)
{
    char *from = name_of(experiment, AS_PACKED_TAIL), *to = name_of(experiment, "");

    if (from && to && rename(from, to) < 0)
        unlink(from);
    else if (to)
        as_sync_name(to);
    as_free(from);
    as_free(to);
}
