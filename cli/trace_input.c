/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/tree.h"
#include "base/untrusted_open.h"
#include "exchange/import.h"
#include "report/profile.h"
#include "stops.h"

static int open_streams(const char *path, int64_t run, struct as_trace_input *out,
                        struct as_error *err)
{
    struct as_experiment *experiment = NULL;
    char directory[4096];
    struct stat st;
    int64_t run_n;
    AS_TRY(as_experiment_read(path, &experiment, err));
    int rc = as_report_run(experiment, run, &out->run_id, &run_n, err);
    if (rc == 0)
        rc = as_experiment_run_directory(experiment, out->run_id, directory, sizeof directory, err);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    AS_TRY(rc);
    as_str_appendf(&out->streams, "%s/trace", directory);
    if (out->streams.failed)
        return as_error_nomem(err, path);
    return stat(as_str_z(&out->streams), &st) == 0
               ? 0
               : as_error_set(err, AS_ERR_NOT_FOUND,
                              "%s: run %lld has no trace; record one with 'assay trace'", path,
                              (long long)out->run_id);
}

int as_trace_input_place(struct as_str *path, struct as_error *err)
{
    const char *place = getenv("TMPDIR");
    as_str_appendf(path, "%s/assay-trace-XXXXXX", place && *place ? place : "/tmp");
    if (path->failed)
        return as_error_nomem(err, "the name of a directory");
    as_stops_note(); /* the directory is to be removed */
    if (mkdtemp(path->p))
        return 0;
    as_error_set(err, AS_ERR_IO,
                 "%s: a temporary directory cannot be made: %m; set TMPDIR to one that can be "
                 "written",
                 as_str_z(path));
    as_str_fini(path);
    return AS_ERR_IO;
}

/* A trace of another tool becomes one of ours for the time being. */
static int import_streams(const char *path, enum as_import_kind kind, struct as_trace_input *out,
                          struct as_error *err)
{
    AS_TRY(as_trace_input_place(&out->streams, err));
    const int rc = (kind == AS_IMPORT_PRV ? as_prv_import : as_otf2_import)(
        path, as_str_z(&out->streams), &out->counts, err);
    return rc < 0 || !as_stops_came() ? rc : as_error_set(err, AS_ERR_LIMIT, "%s: stopped", path);
}

/* An experiment is a directory too: an archive of OTF2 has its anchor in it. */
static enum as_import_kind foreign_kind(const char *path, bool is_directory)
{
    struct as_str anchor = {0};
    struct stat st;
    if (!is_directory)
        return as_import_kind_of(path);
    as_str_appendf(&anchor, "%s/traces.otf2", path);
    const bool is_otf2 = !anchor.failed && stat(as_str_z(&anchor), &st) == 0;
    as_str_fini(&anchor);
    return is_otf2 ? AS_IMPORT_OTF2 : AS_IMPORT_NONE;
}

int as_trace_input_open(const char *path, int64_t run, struct as_trace_input *out,
                        struct as_error *err)
{
    struct stat st;
    *out = (struct as_trace_input){0};
    const bool is_there = stat(path, &st) == 0;
    const enum as_import_kind kind =
        is_there ? foreign_kind(path, S_ISDIR(st.st_mode)) : AS_IMPORT_NONE;
    if (kind != AS_IMPORT_NONE)
        return import_streams(path, kind, out, err);
    if (!is_there && as_import_names_trace(path))
        return as_foreign_fail(path, "the trace", ENOENT, err);
    if (is_there && S_ISREG(st.st_mode))
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: it is not a trace; use an experiment, a .prv, an OTF2 archive or "
                            "a .dim file",
                            path);
    return open_streams(path, run, out, err);
}

void as_trace_input_note(const struct as_cli *cli, const char *path,
                         const struct as_trace_input *input)
{
    if (input->counts.bad_n)
        as_cli_note(cli, "%s: %llu records make no sense and are left out; %s", path,
                    (unsigned long long)input->counts.bad_n, input->counts.first_bad);
}

void as_trace_input_close(struct as_trace_input *input)
{
    if (input->run_id == 0 && input->streams.n)
        as_tree_remove(AT_FDCWD, as_str_z(&input->streams));
    as_str_fini(&input->streams);
}
