/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/infile.h"
#include "exchange/prv_lines.h"

#define CFG_MAX_B ((size_t)16 << 20)

/* ---- Files ----------------------------------------------------------------------------------- */

static int metric_path(const struct as_timeline_trace *t, const struct as_timeline_metric *metric,
                       struct as_str *out, struct as_error *err)
{
    as_str_clear(out);
    as_str_appendf(out, "%s/%s.index", t->folder, metric->ready->name);
    return out->failed ? as_error_nomem(err, "the index") : 0;
}

static int make_aside(struct as_timeline_trace *t, struct as_error *err)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(t->folder, sizeof t->folder, "%s/assay-timeline-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(t->folder)) {
        as_error_set(err, AS_ERR_IO, "%s: %s; set TMPDIR to a directory with free space", t->folder,
                     strerror(errno));
        t->folder[0] = 0;
        return AS_ERR_IO;
    }
    t->is_temporary = true;
    return 0;
}

/* "run.prv.index" beside the trace, or a temporary one where nothing can be written there. */
static int make_folder(struct as_timeline_trace *t, struct as_error *err)
{
    struct stat st;
    if (snprintf(t->folder, sizeof t->folder, "%s.index", t->trace->path) >= (int)sizeof t->folder)
        return make_aside(t, err);
    mkdir(t->folder, 0777);
    if (lstat(t->folder, &st) == 0 && S_ISDIR(st.st_mode) && access(t->folder, W_OK | X_OK) == 0)
        return 0;
    return make_aside(t, err);
}

/* ---- Metrics --------------------------------------------------------------------------------- */

static int add_metric(struct as_timeline_trace *t, const struct as_ready *ready,
                      struct as_error *err)
{
    struct as_timeline_metric metric = {.ready = ready};
    AS_TRY(as_cfg_read(as_view_of(ready->text), ready->name, &metric.configuration, err));
    if (metric.configuration.table.n == 0 && as_vec_push(&t->metric, metric) == 0)
        return 0;
    const bool is_table = metric.configuration.table.n != 0;
    as_configuration_fini(&metric.configuration);
    return is_table ? 0 : as_error_nomem(err, ready->name);
}

/* Time lines among the configurations with a name; the states come first. */
static int list_metrics(struct as_timeline_trace *t, struct as_error *err)
{
    for (unsigned others = 0; others < 2; others++)
        for (size_t i = 0; i < as_ready_n; i++) {
            const bool is_first = strcmp(as_ready_configurations[i].name, AS_TIMELINE_RECORDS) == 0;
            if (is_first == (others == 0))
                AS_TRY(add_metric(t, &as_ready_configurations[i], err));
        }
    return 0;
}

/* The name of a file as a request can have it, its description, its text. */
static struct as_ready *own_ready(const char *path, const char *text, size_t n)
{
    const char *name = as_path_last(path);
    const size_t name_b = strlen(name) + 1, path_b = strlen(path) + 1;
    struct as_ready *own = as_calloc(1, sizeof *own + name_b + path_b + n + 1);
    if (!own)
        return NULL;
    char *to = (char *)(own + 1);
    own->name = memcpy(to, name, name_b);
    for (char *c = to; *c; c++)
        if (!((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z') && !(*c >= '0' && *c <= '9') && *c != '.')
            *c = '-';
    own->description = memcpy(to + name_b, path, path_b);
    own->text = memcpy(to + name_b + path_b, text, n);
    return own;
}

static int add_own_metric(struct as_timeline_trace *t, const char *path, struct as_error *err)
{
    char *text = NULL;
    size_t n;
    AS_TRY(
        as_infile_read_text(path, "the configuration", CFG_MAX_B, AS_INFILE_PIPE, &text, &n, err));
    struct as_ready *own = own_ready(path, text, n);
    as_free(text);
    if (!own)
        return as_error_nomem(err, path);
    const size_t before_n = t->metric.n;
    int rc = 0;
    if (as_timeline_metric_of(t, as_view_of(own->name)))
        rc = as_error_set(err, AS_ERR_USAGE,
                          "%s: another configuration has this name; rename the file", path);
    if (rc == 0)
        rc = add_metric(t, own, err);
    if (rc == 0 && t->metric.n == before_n)
        rc = as_error_set(err, AS_ERR_USAGE,
                          "%s: has tables; use 'assay evaluate' for them, or remove them", path);
    if (rc < 0)
        as_free(own);
    else
        t->metric.at[before_n].own = own;
    return rc;
}

struct as_timeline_metric *as_timeline_metric_of(struct as_timeline_trace *t, struct as_view name)
{
    as_vec_foreach (&t->metric, metric)
        if (as_view_equal(name, as_view_of(metric->ready->name)))
            return metric;
    return NULL;
}

/* True if the index is there and of this trace. */
static bool open_metric(struct as_timeline_trace *t, struct as_timeline_metric *metric,
                        const char *path, const struct as_timeline_identity *of)
{
    struct as_error ignored = {0};
    if (as_timeline_index_open(path, of, &metric->index, &ignored) < 0)
        return false;
    if (t->verifies &&
        as_timeline_index_verify(&metric->index, path, t->text_digest, &t->remade) < 0) {
        as_timeline_index_close(&metric->index);
        return false;
    }
    metric->state = AS_METRIC_READY;
    return true;
}

/* The first metric: made before anything is answered. */
static int open_records(struct as_timeline_trace *t, struct as_evaluated *trace,
                        const struct as_timeline_options *options, struct as_error *err)
{
    struct as_timeline_metric *metric = &t->metric.at[0];
    struct as_timeline_making making = {.configuration = &metric->configuration,
                                        .with_records = true,
                                        .on_step = options->on_step,
                                        .context = options->context};
    struct as_str path = {0};
    int rc = as_timeline_identify(trace->path, as_view_of(metric->ready->text), &making.of, err);
    if (rc == 0)
        rc = metric_path(t, metric, &path, err);
    if (rc == 0 && t->verifies && access(as_str_z(&path), F_OK) == 0)
        rc = as_lines_digest_file(trace->path, trace->is_stopped, &t->text_digest, err);
    if (rc == 0 && !open_metric(t, metric, as_str_z(&path), &making.of)) {
        rc = as_timeline_make(trace, &making, as_str_z(&path), err);
        if (rc == 0)
            rc = as_timeline_index_open(as_str_z(&path), &making.of, &metric->index, err);
        metric->state = AS_METRIC_READY;
    }
    if (rc == 0)
        t->text_digest = metric->index.head->text_digest;
    as_str_fini(&path);
    return rc;
}

int as_timeline_open(struct as_evaluated *trace, const struct as_timeline_options *options,
                     struct as_timeline_trace *out, struct as_error *err)
{
    *out = (struct as_timeline_trace){.trace = trace,
                                      .title = options->title,
                                      .is_temporary = options->is_temporary,
                                      .has_report = options->has_report,
                                      .verifies = options->verifies};
    int rc = list_metrics(out, err);
    for (size_t i = 0; rc == 0 && i < options->files_n; i++)
        rc = add_own_metric(out, options->files[i], err);
    if (rc == 0)
        rc = make_folder(out, err);
    if (rc == 0)
        rc = open_records(out, trace, options, err);
    if (rc < 0)
        as_timeline_close(out);
    return rc;
}

/* ---- Metrics that are made later ------------------------------------------------------------- */

static _Atomic bool is_closing;

static bool job_is_stopped(void)
{
    return is_closing;
}

static void on_job_step(void *context, uint64_t lines_n)
{
    struct as_timeline_job *job = context;
    job->lines_n = lines_n;
}

static void *run_job(void *context)
{
    struct as_timeline_job *job = context;
    struct as_evaluated trace;
    const struct as_timeline_making making = {.configuration = &job->metric->configuration,
                                              .of = job->of,
                                              .on_step = on_job_step,
                                              .context = job};
    job->rc = as_evaluated_open(job->trace, &trace, &job->error);
    if (job->rc == 0) {
        trace.is_stopped = job_is_stopped;
        job->rc = as_timeline_make(&trace, &making, as_str_z(&job->path), &job->error);
        as_evaluated_close(&trace);
    }
    job->is_over = true;
    return NULL;
}

static void end_job(struct as_timeline_trace *t)
{
    struct as_timeline_job *job = &t->job;
    struct as_timeline_metric *metric = job->metric;
    pthread_join(job->thread, NULL);
    t->has_job = false;
    metric->error = job->error;
    metric->state = AS_METRIC_FAILED;
    if (job->rc == 0 &&
        as_timeline_index_open(as_str_z(&job->path), &job->of, &metric->index, &metric->error) == 0)
        metric->state = AS_METRIC_READY;
}

static int start_job(struct as_timeline_trace *t, struct as_timeline_metric *metric)
{
    struct as_timeline_job *job = &t->job;
    job->trace = t->trace->path;
    job->metric = metric;
    job->lines_n = 0;
    job->is_over = false;
    job->error = (struct as_error){0};
    AS_TRY(as_timeline_identify(job->trace, as_view_of(metric->ready->text), &job->of,
                                &metric->error));
    AS_TRY(metric_path(t, metric, &job->path, &metric->error));
    if (open_metric(t, metric, as_str_z(&job->path), &job->of))
        return 0;
    if (pthread_create(&job->thread, NULL, run_job, job) != 0)
        return as_error_set(&metric->error, AS_ERR_LIMIT,
                            "%s: no thread could be started; end other programs",
                            metric->ready->name);
    t->has_job = true;
    metric->state = AS_METRIC_MAKING;
    return 0;
}

void as_timeline_want(struct as_timeline_trace *t, struct as_timeline_metric *metric)
{
    if (t->has_job && t->job.is_over)
        end_job(t);
    if (metric->state == AS_METRIC_MISSING && !t->has_job && start_job(t, metric) < 0)
        metric->state = AS_METRIC_FAILED;
}

uint64_t as_timeline_lines(const struct as_timeline_trace *t)
{
    return t->has_job ? t->job.lines_n : 0;
}

void as_timeline_close(struct as_timeline_trace *t)
{
    struct as_str path = {0};
    struct as_error ignored = {0};
    if (t->has_job) {
        is_closing = true;
        end_job(t);
        is_closing = false;
    }
    as_vec_foreach (&t->metric, metric) {
        as_timeline_index_close(&metric->index);
        if (t->is_temporary && t->folder[0] && metric_path(t, metric, &path, &ignored) == 0)
            unlink(as_str_z(&path));
        as_configuration_fini(&metric->configuration);
        as_free(metric->own);
    }
    if (t->folder[0])
        rmdir(t->folder); /* stays while it has an index */
    as_vec_fini(&t->metric);
    as_str_fini(&t->job.path);
    as_str_fini(&path);
    *t = (struct as_timeline_trace){0};
}
