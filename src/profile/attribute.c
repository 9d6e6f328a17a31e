/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the steps of the attribution of a run: sums of streams, functions and locations of modules,
 * threads, call paths, samples, flags, and their summary. All steps are one batch, so an error
 * leaves nothing behind.
 */
#include "profile/attribute.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/str.h"

static void report_progress(const struct as_attribution *all, const char *stage, uint64_t done,
                            uint64_t total)
{
    if (all->options->progress)
        all->options->progress(all->options->context, stage, done, total);
}

/* ---- Streams ------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_stream(const char *name)
{
    return as_view_ends(as_view_of(name), ".samples");
}

static int list_streams(const char *directory, struct as_arena *arena, char ***out, size_t *n)
{
    AS_VEC(char *) name = {0};
    DIR *d = opendir(directory);
    int rc = 0;
    for (struct dirent *entry; d && rc == 0 && (entry = readdir(d));) {
        if (!is_stream(entry->d_name))
            continue;
        char *copy = as_arena_strndup(arena, entry->d_name, strlen(entry->d_name));
        rc = copy ? as_vec_push(&name, copy) : AS_ERR_NOMEM;
    }
    if (d)
        closedir(d);
    if (name.n)
        qsort(name.at, name.n, sizeof *name.at, compare_names);
    *out = name.at;
    *n = name.n;
    return rc;
}

static int read_streams(struct as_attribution *all, int64_t run_start_ns, struct as_error *err)
{
    char **name, path[2 * 4096];
    size_t n;
    int rc = list_streams(all->directory, &all->tally.arena, &name, &n);
    if (rc < 0)
        rc = as_error_nomem(err, all->directory);
    else if (n == 0)
        rc = as_error_set(err, AS_ERR_NOT_FOUND,
                          "%s: has no recorded samples (*.samples); profile the program again",
                          all->directory);
    for (size_t i = 0; i < n && rc == 0; i++) {
        report_progress(all, "reading samples", i, n);
        snprintf(path, sizeof path, "%s/%s", all->directory, name[i]);
        rc = as_tally_add(&all->tally, path, name[i], run_start_ns, err);
    }
    as_free(name);
    return rc < 0 ? rc : as_tally_end(&all->tally, err);
}

static int read_run(struct as_attribution *all, int64_t *start_ns, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(all->experiment, "SELECT start_ns, host_id FROM run WHERE run_id = ?1",
                        &rows, err));
    as_rows_bind_integer(rows, 1, all->run_id);
    int rc = as_rows_next(rows, err);
    if (rc == 1) {
        *start_ns = as_rows_integer(rows, 0);
        all->host_id = as_rows_integer(rows, 1);
    } else if (rc == 0)
        rc = as_error_set(err, AS_ERR_NOT_FOUND, "%s: has no run %lld",
                          as_experiment_path(all->experiment), (long long)all->run_id);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* Checks that the run is not attributed yet, because a second attribution would double all sums. */
static int check_new(struct as_attribution *all, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(all->experiment,
                        "SELECT 1 FROM v_run_states WHERE run_id = ?1 AND is_attributed", &rows,
                        err));
    as_rows_bind_integer(rows, 1, all->run_id);
    int rc = as_rows_next(rows, err);
    if (rc > 0)
        rc = as_error_set(err, AS_ERR_USAGE,
                          "%s: run %lld is attributed already; profile again for other categories",
                          as_experiment_path(all->experiment), (long long)all->run_id);
    as_rows_close(&rows);
    return rc;
}

/* ---- Categories ---------------------------------------------------------------------------- */

static int add_categories(struct as_attribution *all, struct as_error *err)
{
    const size_t n = as_categories_n(all->categories);
    if (as_vec_reserve(&all->category_id, n) < 0)
        return as_error_nomem(err, "the categories");
    for (size_t i = 0; i < n; i++) {
        const struct as_category *from = as_category_at(all->categories, i);
        const struct as_row_category row = {
            .name = from->name,
            .title = from->title,
            .meaning = from->meaning,
            .parent_id = from->parent < 0 ? 0 : all->category_id.at[from->parent]};
        AS_TRY(as_experiment_add_category(all->experiment, &row, &all->category_id.at[i], err));
        all->category_id.n++;
    }
    return 0;
}

/* ---- Modules ------------------------------------------------------------------------------- */

/* Nodes sorted by module. Those of module m are node[first[m], first[m + 1]). */
struct sorted {
    uint32_t *node;
    size_t *first;
};

static int sort_nodes(const struct as_tally *tally, struct sorted *out)
{
    const size_t module_n = tally->module.n;
    out->node = as_malloc((tally->node.n + 1) * sizeof *out->node);
    out->first = as_calloc(module_n + 2, sizeof *out->first);
    if (!out->node || !out->first)
        return AS_ERR_NOMEM;
    for (size_t i = 1; i < tally->node.n; i++)
        out->first[tally->node.at[i].module + 2]++;
    for (size_t m = 2; m <= module_n; m++)
        out->first[m] += out->first[m - 1];
    for (uint32_t i = 1; i < tally->node.n; i++)
        out->node[out->first[tally->node.at[i].module + 1]++] = i;
    return 0;
}

static int attribute_modules(struct as_attribution *all, struct as_error *err)
{
    struct sorted by = {0};
    const size_t n = all->tally.module.n;
    all->node = as_calloc(all->tally.node.n + 1, sizeof *all->node);
    all->module = as_calloc(n + 1, sizeof *all->module);
    int rc = 0;
    if (!all->node || !all->module || sort_nodes(&all->tally, &by) < 0)
        rc = as_error_nomem(err, "the frames of a run");
    if (rc == 0)
        as_vec_foreach (&all->tally.sum, sum)
            if (!sum->blocked)
                all->node[sum->node].own_n += sum->n;
    for (uint32_t m = 0; m < n && rc == 0; m++) {
        const size_t node_n = by.first[m + 1] - by.first[m];
        report_progress(all, "reading code", m, n);
        if (node_n)
            rc = as_attribute_module(all, m, by.node + by.first[m], node_n, err);
    }
    as_free(by.node);
    as_free(by.first);
    return rc;
}

/* ---- All ----------------------------------------------------------------------------------- */

/* Adds the sample files of the run. They also mark the run as attributed if it has no samples. */
static int add_files(struct as_attribution *all, struct as_error *err)
{
    const char *slash = strrchr(all->directory, '/');
    char path[2 * 4096];
    struct stat st;
    as_vec_foreach (&all->tally.stream, stream) {
        struct as_row_run_file row = {.run_id = all->run_id, .path = path, .kind = "samples"};
        snprintf(path, sizeof path, "%s/%s", all->directory, stream->name);
        if (stat(path, &st) == 0)
            row.size_b = as_known(st.st_size);
        snprintf(path, sizeof path, "%s/%s", slash ? slash + 1 : all->directory, stream->name);
        AS_TRY(as_experiment_add_run_file(all->experiment, &row, NULL, err));
    }
    return 0;
}

static int attribute(void *attribution, struct as_error *err)
{
    struct as_attribution *all = attribution;
    AS_TRY(add_files(all, err));
    AS_TRY(add_categories(all, err));
    AS_TRY(attribute_modules(all, err));
    AS_TRY(as_attribute_locations(all, err));
    AS_TRY(as_attribute_subjects(all, err));
    AS_TRY(as_attribute_phases(all, err));
    AS_TRY(as_attribute_levels(all, err));
    report_progress(all, "adding samples", 0, 1);
    AS_TRY(as_attribute_paths(all, err));
    AS_TRY(as_attribute_places(all, err));
    AS_TRY(as_attribute_operands(all, err));
    AS_TRY(as_attribute_accesses(all, err));
    return as_attribute_trust(all, err);
}

static int choose_catalogue(struct as_attribution *all, struct as_error *err)
{
    const struct as_catalogue_options how = {.jobs = all->options->jobs,
                                             .open = all->options->open};
    if (!all->options->catalogue)
        AS_TRY(as_catalogue_new(all->experiment, &how, &all->own, err));
    all->catalogue = all->own ? all->own : all->options->catalogue;
    return 0;
}

static int look_for_locations(struct as_attribution *all, struct as_error *err)
{
    struct as_rows *rows;
    AS_TRY(as_rows_open(all->experiment, "SELECT 1 FROM location LIMIT 1", &rows, err));
    const int rc = as_rows_next(rows, err);
    all->has_locations = rc == 1;
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int prepare(struct as_attribution *all, struct as_error *err)
{
    int64_t start_ns = 0;
    AS_TRY(choose_catalogue(all, err));
    AS_TRY(check_new(all, err));
    AS_TRY(look_for_locations(all, err));
    AS_TRY(as_experiment_run_directory(all->experiment, all->run_id, all->directory,
                                       sizeof all->directory, err));
    AS_TRY(read_run(all, &start_ns, err));
    AS_TRY(as_categories_read(all->options->categories, &all->categories, err));
    return read_streams(all, start_ns, err);
}

static void release_attribution(struct as_attribution *all)
{
    as_tally_fini(&all->tally);
    as_categories_free(&all->categories);
    as_vec_fini(&all->category_id);
    as_vec_fini(&all->function);
    as_vec_fini(&all->location);
    as_index_fini(&all->location_index);
    as_vec_fini(&all->inlined);
    as_free(all->node);
    as_free(all->module);
    as_free(all->process_id);
    as_free(all->thread_id);
    as_catalogue_free(&all->own);
    as_free(all);
}

int as_profile_attribute(struct as_experiment *experiment, int64_t run_id,
                         const struct as_attribute_options *options, struct as_error *err)
{
    struct as_attribution *all = as_calloc(1, sizeof *all);
    if (!all)
        return as_error_nomem(err, "a profile");
    all->experiment = experiment;
    all->run_id = run_id;
    all->options = options ? options : &all->defaults;
    int rc = as_tally_init(&all->tally) < 0 ? as_error_nomem(err, "a profile") : 0;
    if (rc == 0)
        rc = prepare(all, err);
    if (rc == 0)
        rc = as_experiment_batch(experiment, attribute, all, err);
    report_progress(all, "summing up", 0, 1);
    release_attribution(all);
    return rc < 0 ? rc : as_experiment_summarise(experiment, run_id, err);
}
