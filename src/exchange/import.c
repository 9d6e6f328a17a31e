/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the trace of another tool as a run of an experiment: its processes, threads, and left-out
 * records. */
#include "exchange/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/shell.h"
#include "exchange/prv_lines.h"
#include "trace/read.h"

static bool begins_as_paraver(const char *path)
{
    struct as_error ignored;
    struct as_lines *lines;
    struct as_view line;
    bool is_one = false;
    if (as_lines_open(path, &lines, &ignored) < 0)
        return false;
    if (as_lines_next(lines, &line, &ignored) > 0)
        is_one = as_view_starts(line, "#Paraver") || as_view_starts(line, "new format");
    as_lines_close(&lines);
    return is_one;
}

bool as_import_names_trace(const char *path)
{
    const struct as_view view = as_view_of(path);
    return as_view_ends(view, ".prv") || as_view_ends(view, ".prv.gz") ||
           as_view_ends(view, ".otf2");
}

enum as_import_kind as_import_kind_of(const char *path)
{
    const struct as_view view = as_view_of(path);
    struct stat st;
    if (stat(path, &st) != 0)
        return AS_IMPORT_NONE;
    if (S_ISDIR(st.st_mode) || as_view_ends(view, ".otf2"))
        return AS_IMPORT_OTF2;
    if (as_view_ends(view, ".prv") || as_view_ends(view, ".prv.gz") || begins_as_paraver(path))
        return AS_IMPORT_PRV;
    return AS_IMPORT_NONE;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

struct trace_importing {
    struct as_experiment *experiment;
    struct as_import_counts *counts;
    int64_t run_id;
    struct as_trace trace;
    struct as_row_run row;
};

static int add_threads(struct trace_importing *im, const struct as_trace_process *process,
                       int64_t process_id, struct as_error *err)
{
    as_vec_foreach (&process->thread, stream) {
        const struct as_trace_stream_facts *facts = as_trace_stream_facts(*stream);
        const struct as_row_thread row = {.process_id = process_id,
                                          .tid = facts->tid,
                                          .start_ns = facts->begin_raw_ns,
                                          .end_ns = as_known(facts->end_raw_ns)};
        int64_t thread_id;
        AS_TRY(as_experiment_add_thread(im->experiment, &row, &thread_id, err));
    }
    return 0;
}

static int add_processes(struct trace_importing *im, struct as_error *err)
{
    as_vec_foreach (&im->trace.process, process) {
        struct as_row_process row = {
            .run_id = im->run_id, .pid = process->pid, .end_ns = as_known(im->counts->length_ns)};
        const struct as_row_host host = {.name = *process->machine ? process->machine : "unknown"};
        int64_t process_id;
        AS_TRY(as_experiment_add_host(im->experiment, &host, &row.host_id, err));
        if (process->rank >= 0)
            row.rank = as_known(process->rank);
        if (!im->row.host_id)
            im->row.host_id = row.host_id;
        AS_TRY(as_experiment_add_process(im->experiment, &row, &process_id, err));
        AS_TRY(add_threads(im, process, process_id, err));
    }
    return 0;
}

static int flag_trace(struct trace_importing *im, const char *name, uint64_t n, const char *text,
                      struct as_error *err)
{
    const struct as_flag flag = {.run_id = im->run_id,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = im->run_id,
                                 .name = name,
                                 .text = text,
                                 .n = (int64_t)n};
    return n ? as_experiment_flag(im->experiment, &flag, err) : 0;
}

static int write_import(void *context, struct as_error *err)
{
    struct trace_importing *im = context;
    char text[512];
    AS_TRY(add_processes(im, err));
    im->row.wall_ns = as_known(im->counts->length_ns);
    im->row.state = "complete";
    im->row.start_ns = im->counts->start_ns;
    AS_TRY(as_experiment_set_run(im->experiment, im->run_id, &im->row, err));
    snprintf(text, sizeof text, "invalid records of the imported trace are left out; %s",
             im->counts->first_bad);
    AS_TRY(flag_trace(im, "damaged_input", im->counts->bad_n, text, err));
    return flag_trace(im, "import_left_out", im->counts->left_out_n,
                      "records of the imported trace are of kinds that are not imported", err);
}

/* ---- All ------------------------------------------------------------------------------------- */

static int import_to(struct trace_importing *im, const struct as_import_source *source,
                     const char *directory, struct as_error *err)
{
    AS_TRY(source->fill(source->context, directory, im->counts, err));
    AS_TRY(as_trace_open(directory, &im->trace, err));
    const int rc = as_experiment_batch(im->experiment, write_import, im, err);
    as_trace_close(&im->trace);
    return rc;
}

int as_import_streams(struct as_experiment *experiment, const struct as_import_source *source,
                      int64_t *run_id, struct as_import_counts *counts, struct as_error *err)
{
    struct trace_importing im = {.experiment = experiment, .counts = counts};
    char directory[4096], streams[4096 + 8];
    im.row = (struct as_row_run){.kind = "trace",
                                 .label = source->label,
                                 .command = source->command,
                                 .state = "recording",
                                 .role = source->role,
                                 .reference_id = source->reference_id};
    *counts = (struct as_import_counts){0};
    AS_TRY(as_experiment_add_run(experiment, &im.row, &im.run_id, err));
    *run_id = im.run_id;
    AS_TRY(as_experiment_run_directory(experiment, im.run_id, directory, sizeof directory, err));
    snprintf(streams, sizeof streams, "%s/trace", directory);
    if (mkdir(streams, 0777) != 0 && errno != EEXIST)
        return as_error_set(err, AS_ERR_IO, "%s: cannot be made: %s", streams, strerror(errno));
    AS_TRY(import_to(&im, source, streams, err));
    return as_experiment_summarise(experiment, im.run_id, err);
}

static int fill_from_file(void *context, const char *directory, struct as_import_counts *counts,
                          struct as_error *err)
{
    const char *path = context;
    const bool is_prv = as_import_kind_of(path) == AS_IMPORT_PRV;
    return (is_prv ? as_prv_import : as_otf2_import)(path, directory, counts, err);
}

int as_import_trace(struct as_experiment *experiment, const char *path, const char *label,
                    int64_t *run_id, struct as_import_counts *counts, struct as_error *err)
{
    struct as_str command = {0};
    as_str_appendz(&command, "import ");
    as_shell_word(&command, path);
    const struct as_import_source source = {.label = label,
                                            .command = as_str_z(&command),
                                            .fill = fill_from_file,
                                            .context = (void *)path};
    const int rc = command.failed ? as_error_nomem(err, path)
                                  : as_import_streams(experiment, &source, run_id, counts, err);
    as_str_fini(&command);
    return rc;
}
