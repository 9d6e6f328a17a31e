/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packing of a database that has grown: rows that are written in the order of their keys leave an
 * eighth of each page free, and what was taken away leaves pages. All is written anew beside it, in
 * a thirtieth of the time that it took to find it out, and takes its place when it is whole and on
 * the disk; who reads the former one goes on with it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "experiment/internal.h"

/* The name of the file with `tail` behind it, without links in the way; release it. */
static char *name_of(const struct assay_experiment *experiment, const char *tail)
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

static bool write_packed(struct assay_experiment *experiment, const char *to)
{
    struct as_str uri = {0};
    bool done = false;

    as_uri_append(&uri, to, "");
    if (!uri.failed) {
        char *sql = sqlite3_mprintf("VACUUM INTO %Q", as_str_z(&uri));

        /* It is attached to while it is written. */
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

void as_pack_write(struct assay_experiment *experiment)
{
    char *from = name_of(experiment, ""), *to = name_of(experiment, AS_PACKED_TAIL);

    if (from && to && experiment->lock >= 0 && !as_directory_has_journal(experiment)) {
        unlink(to); /* of one that was killed */
        experiment->is_packed = write_packed(experiment, to) && copy_file_mode(from, to);
        if (!experiment->is_packed)
            unlink(to);
    }
    as_free(from);
    as_free(to);
}

void as_pack_forget(const struct assay_experiment *experiment)
{
    char *name = name_of(experiment, AS_PACKED_TAIL);

    if (name)
        unlink(name);
    as_free(name);
}

void as_pack_install(struct assay_experiment *experiment)
{
    char *from = name_of(experiment, AS_PACKED_TAIL), *to = name_of(experiment, "");

    if (from && to && rename(from, to) < 0)
        unlink(from);
    else if (to)
        as_sync_name(to);
    as_free(from);
    as_free(to);
}
