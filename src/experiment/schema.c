/* SPDX-License-Identifier: Apache-2.0 */
/* The schema's version: making it, and refusing what is newer, older or foreign. */
#include "experiment/schema.h"
#include "base/str.h"
#include "experiment/internal.h"

int assay_experiment_schema(void)
{
    return as_schema_version;
}

int as_schema_check(struct assay_experiment *experiment, struct assay_error *err)
{
    int64_t application, schema;

    AS_TRY(as_sql_integer(experiment, "PRAGMA application_id", &application, err));
    AS_TRY(as_sql_integer(experiment, "PRAGMA user_version", &schema, err));
    if (application == AS_SCHEMA_FORMER)
        return as_error_set(err, ASSAY_ERR_UNSUPPORTED,
                            "%s: was written by an older assay, from before its first release, "
                            "and cannot be read any more; record it anew",
                            experiment->path);
    if (application != AS_SCHEMA_APPLICATION || schema < 1)
        return as_error_set(err, ASSAY_ERR_CORRUPT,
                            "%s: not an experiment: a database that assay did not finish making; "
                            "name a directory that assay made",
                            experiment->db_path);
    if (schema > as_schema_version)
        return as_error_set(err, ASSAY_ERR_UNSUPPORTED,
                            "%s: was written by a newer assay: its schema is %lld and this one "
                            "knows up to %d; use a newer assay",
                            experiment->path, (long long)schema, as_schema_version);
    return 0;
}

int as_schema_make(struct assay_experiment *experiment, struct assay_error *err)
{
    static const char what[] = "making its tables";
    struct as_str end = {0};
    int rc;

    as_str_appendf(&end, "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT",
                   AS_SCHEMA_APPLICATION, as_schema_version);
    if (end.failed)
        return as_error_nomem(err, experiment->db_path);
    rc = as_sql_run(experiment, "BEGIN IMMEDIATE", what, err);
    if (rc == 0)
        rc = as_sql_run(experiment, as_schema_sql, what, err);
    if (rc == 0)
        rc = as_sql_run(experiment, as_str_z(&end), what, err);
    if (rc < 0)
        sqlite3_exec(experiment->db, "ROLLBACK", NULL, NULL, NULL);
    as_str_fini(&end);
    return rc;
}
