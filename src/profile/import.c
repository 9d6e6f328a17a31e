/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports a file of `perf record`. The file becomes a run with a stream, which is attributed like a
 * recorded one. The machine and the command are those of the file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "base/out.h"
#include "base/shell.h"
#include "base/str.h"
#include "profile/category.h"
#include "profile/record.h"

struct import {
    struct as_experiment *experiment;
    const struct as_import_request *request;
    struct as_import_result *result;
    struct as_perf_data *data;
    const struct as_perf_facts *facts;
    struct as_recorder *recorder;
    struct as_row_run row;
    struct as_str command, argv;
    int64_t run_id;
    char directory[4096];
    struct as_map_u64 generated; /* processes with a finished search for a map of generated code */
    uint64_t taken;
    bool same_host;
};

/* ---- The row ------------------------------------------------------------------------------- */

static int make_command(struct import *im, struct as_error *err)
{
    const char *const *argv = im->facts->argv ? im->facts->argv : im->facts->perf_argv;
    struct as_out out;
    struct as_json json;
    if (!argv) {
        im->row.command = "unknown"; /* an unfinished file has no command */
        return 0;
    }
    as_out_init_str(&out, &im->argv);
    as_json_init(&json, &out, 0);
    as_json_array_begin(&json);
    for (size_t i = 0; argv[i]; i++) {
        as_str_appendz(&im->command, i ? " " : "");
        as_shell_word(&im->command, argv[i]);
        as_json_string(&json, argv[i]);
    }
    as_json_array_end(&json);
    const int rc = as_out_flush(&out, err);
    as_out_fini(&out);
    if (im->command.failed || im->argv.failed)
        return as_error_nomem(err, im->request->path);
    im->row.command = as_str_z(&im->command);
    im->row.argv = as_str_z(&im->argv);
    return rc;
}

/* Reads ",NUMBER" at *at and advances *at. Returns -1 if there is none. */
static int64_t next_number(const char **at)
{
    char *end;
    if (**at != ',')
        return -1;
    const int64_t value = strtol(*at + 1, &end, 10);
    const bool is_one = end != *at + 1 && value >= 0;
    *at = end;
    return is_one ? value : -1;
}

/* Adds the host of the file. "GenuineIntel,6,167,1" is vendor, family, model, stepping. */
static int add_host(struct import *im, struct as_error *err)
{
    const struct as_perf_facts *facts = im->facts;
    const char *at = facts->cpu_id ? facts->cpu_id : "";
    const size_t vendor_n = strcspn(at, ",");
    char vendor[64];
    struct as_row_host row = {.name = facts->host ? facts->host : "unknown",
                              .kernel = facts->os_release,
                              .cpu_model = facts->cpu_model};
    if (vendor_n && vendor_n < sizeof vendor) {
        memcpy(vendor, at, vendor_n);
        vendor[vendor_n] = 0;
        row.cpu_vendor = vendor;
    }
    at += vendor_n;
    const int64_t family = next_number(&at), model = next_number(&at), stepping = next_number(&at);
    if (stepping >= 0) {
        row.cpu_family = as_known(family);
        row.cpu_model_number = as_known(model);
        row.cpu_stepping = as_known(stepping);
    }
    if (facts->cpus_online)
        row.cpu_n = as_known(facts->cpus_online);
    if (facts->memory_b)
        row.memory_b = as_known((int64_t)facts->memory_b);
    return as_experiment_add_host(im->experiment, &row, &im->row.host_id, err);
}

static int add_imported_run(struct import *im, struct as_error *err)
{
    static const char *const words[] = {"off", "fp", "dwarf", "lbr"};
    const struct as_sample_choice *choice = as_perf_data_choice(im->data);
    im->row =
        (struct as_row_run){.kind = "import",
                            .label = im->request->label,
                            .start_ns = (int64_t)im->facts->first_ns + im->facts->clock_offset_ns,
                            .state = "recording",
                            .event = as_sample_event_name(choice->event),
                            .event_reason = choice->reason[0] ? choice->reason : NULL,
                            .rate_hz = as_known(choice->rate_hz),
                            .call_stacks = words[im->facts->stacks],
                            .scope = choice->kernel ? "user+kernel" : "user"};
    AS_TRY(make_command(im, err));
    AS_TRY(add_host(im, err));
    AS_TRY(as_experiment_add_run(im->experiment, &im->row, &im->run_id, err));
    im->result->run_id = im->run_id;
    return as_experiment_run_directory(im->experiment, im->run_id, im->directory,
                                       sizeof im->directory, err);
}

/* ---- Generated code ------------------------------------------------------------------------ */

/* Copies the map of generated code of a process if it still exists on the machine of the recording.
 * Rejects a map of a later process with the same pid. */
static int look_for_generated(struct import *im, const struct as_sample_record *map)
{
    struct stat data, st;
    char path[64];
    if (!im->same_host || map->text[0] == '[' || (map->text[0] == '/' && map->text[1] != '/') ||
        as_map_u64_get(&im->generated, map->pid) != AS_MAP_NONE)
        return 0;
    snprintf(path, sizeof path, "/tmp/perf-%" PRIu32 ".map", map->pid);
    if (stat(path, &st) == 0 && stat(im->request->path, &data) == 0 &&
        st.st_mtime <= data.st_mtime + 1)
        as_record_generated(im->directory, map->pid, data.st_uid);
    return as_map_u64_put(&im->generated, map->pid, 1);
}

/* ---- The stream ---------------------------------------------------------------------------- */

static int import_sample_record(void *context, const struct as_sample_record *record,
                                struct as_error *err)
{
    struct import *im = context;
    uint64_t done, total;
    if (im->taken++ % 4096 == 0 && im->request->attribute.progress) {
        as_perf_data_progress(im->data, &done, &total);
        im->request->attribute.progress(im->request->attribute.context, "reading", done, total);
    }
    if (record->kind == AS_SAMPLE_MAP && look_for_generated(im, record) < 0)
        return as_error_nomem(err, im->request->path);
    return as_recorder_add(im->recorder, record, err);
}

static int write_import_fact(struct import *im, const char *name, const char *value,
                             struct as_error *err)
{
    return value ? as_recorder_info(im->recorder, name, value, err) : 0;
}

static int write_import_facts(struct import *im, struct as_error *err)
{
    char text[64];
    AS_TRY(write_import_fact(im, "host", im->facts->host ? im->facts->host : "unknown", err));
    AS_TRY(write_import_fact(im, "stacks", im->row.call_stacks, err));
    snprintf(text, sizeof text, "%" PRId64, im->facts->clock_offset_ns);
    AS_TRY(write_import_fact(im, "clock_offset_ns", text, err));
    AS_TRY(write_import_fact(im, "imported_from", im->request->path, err));
    return write_import_fact(im, "perf_version", im->facts->perf_version, err);
}

/* Writes the counts that are known only after the file is read. */
static int write_import_counts(struct import *im, struct as_error *err)
{
    char text[32], name[160];
    for (size_t i = 0; i < im->facts->event_n; i++) {
        const struct as_perf_event *event = &im->facts->event[i];
        if (event->is_time || event->samples == 0)
            continue;
        snprintf(name, sizeof name, "samples_of_%.128s", event->name);
        snprintf(text, sizeof text, "%" PRIu64, event->samples);
        AS_TRY(write_import_fact(im, name, text, err));
    }
    if (im->facts->idle == 0)
        return 0;
    snprintf(text, sizeof text, "%" PRIu64, im->facts->idle);
    return write_import_fact(im, "idle_samples", text, err);
}

static int make_stream(struct import *im, struct as_error *err)
{
    char path[4096 + 32];
    struct as_error late = {0};
    snprintf(path, sizeof path, "%.4096s/main.samples", im->directory);
    AS_TRY(as_recorder_new(path, as_perf_data_choice(im->data), im->request->max_b, &im->recorder,
                           err));
    int rc = write_import_facts(im, err);
    if (rc == 0)
        rc = as_perf_data_read(im->data, import_sample_record, im, err);
    if (rc == 0)
        rc = write_import_counts(im, err);
    const int end = as_recorder_finish(&im->recorder, as_perf_data_counts(im->data), &late);
    if (rc == 0 && end < 0) {
        *err = late;
        rc = end;
    }
    return rc;
}

static int flag_import(struct import *im, const char *name, const char *text, uint64_t n,
                       struct as_error *err)
{
    const struct as_flag it = {.run_id = im->run_id,
                               .kind = AS_OBJECT_RUN,
                               .object_id = im->run_id,
                               .name = name,
                               .text = text,
                               .n = (int64_t)n};
    return n ? as_experiment_flag(im->experiment, &it, err) : 0;
}

static int complete_run(struct import *im, struct as_error *err)
{
    const char *damage = as_perf_data_damage(im->data);
    const struct as_sample_counts *counts = as_perf_data_counts(im->data);
    im->result->samples = counts->samples;
    snprintf(im->result->damage, sizeof im->result->damage, "%s", damage);
    im->row.wall_ns = as_known((int64_t)(im->facts->last_ns - im->facts->first_ns));
    im->row.state = damage[0] ? "interrupted" : "complete";
    AS_TRY(flag_import(im, "damaged_input", damage, damage[0] ? 1 : 0, err));
    AS_TRY(flag_import(im, "idle_samples",
                       "samples of idle CPUs were left out: perf recorded the whole machine",
                       im->facts->idle, err));
    return as_experiment_set_run(im->experiment, im->run_id, &im->row, err);
}

/* ---- All ----------------------------------------------------------------------------------- */

static int import(struct import *im, struct as_error *err)
{
    char host[256] = "";
    struct as_categories *categories;
    /* The user's rules are checked before a run is added. */
    AS_TRY(as_categories_read(im->request->attribute.categories, &categories, err));
    as_categories_free(&categories);
    AS_TRY(as_perf_data_open(im->request->path, &im->data, err));
    im->facts = as_perf_data_facts(im->data);
    gethostname(host, sizeof host - 1);
    im->same_host = im->facts->host && strcmp(host, im->facts->host) == 0;
    AS_TRY(add_imported_run(im, err));
    AS_TRY(make_stream(im, err));
    AS_TRY(complete_run(im, err));
    return as_profile_attribute(im->experiment, im->run_id, &im->request->attribute, err);
}

int as_profile_import(struct as_experiment *experiment, const struct as_import_request *request,
                      struct as_import_result *result, struct as_error *err)
{
    struct import im = {.experiment = experiment, .request = request, .result = result};
    *result = (struct as_import_result){0};
    as_map_u64_init(&im.generated);
    const int rc = import(&im, err);
    as_map_u64_fini(&im.generated);
    as_perf_data_close(&im.data);
    as_str_fini(&im.command);
    as_str_fini(&im.argv);
    return rc;
}
