/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options for hot files only: finds the source files with most of the time, and makes a candidate
 * with flags for them.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "trial/campaign.h"

/* The hot files are the fewest files with this share of the time, at most HOT_MOST. */
#define HOT_SHARE 0.9
#define HOT_MOST  16

struct hot_file {
    const char *path;
    double time_ns;
};
typedef AS_VEC(struct hot_file) hot_file_list;

/* Returns the name of a unit relative to the source directory, such as "src/solve.c". */
static const char *below_source(const struct as_trial *t, const char *name)
{
    const size_t n = strlen(t->build_tree.source);

    if (strncmp(name, t->build_tree.source, n) == 0 && name[n] == '/')
        name += n + 1;
    while (strncmp(name, "../", 3) == 0 || strncmp(name, "./", 2) == 0)
        name = strchr(name, '/') + 1;
    return name;
}

/* Lists the source files of the base build, sorted by time, longest first. */
static int read_files(struct as_trial *t, hot_file_list *out, double *all_ns, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(
        t->experiment,
        "SELECT u.name, sum(o.exclusive_ns) FROM object_time o JOIN run r USING (run_id)"
        " JOIN function f ON f.function_id = o.object_id JOIN module m ON m.module_id = f.module_id"
        " JOIN unit u ON u.unit_id = f.unit_id WHERE o.object_kind = 'function'"
        " AND r.label = '" AS_TRIAL_BASE "' AND instr(m.path, ?1) = 1"
        " GROUP BY u.name ORDER BY 2 DESC, 1",
        &rows, err));
    as_rows_bind_text(rows, 1, t->base_build.directory);
    while ((rc = as_rows_next(rows, err)) > 0) {
        const char *name = below_source(t, as_rows_text(rows, 0));
        const struct hot_file it = {as_arena_strndup(&t->arena, name, strlen(name)),
                                    as_rows_real(rows, 1)};
        if (!it.path || as_vec_push(out, it) < 0) {
            rc = as_error_nomem(err, "the source files");
            break;
        }
        *all_ns += it.time_ns;
    }
    as_rows_close(&rows);
    return rc;
}

/* Returns the number of hot files, or 0 if they are too many. */
static size_t count_hot(const hot_file_list *file, double all_ns)
{
    double sum_ns = 0;
    size_t n = 0;

    while (n < file->n && sum_ns < HOT_SHARE * all_ns)
        sum_ns += file->at[n++].time_ns;
    return n <= HOT_MOST ? n : 0;
}

static int add_candidate(struct as_trial *t, const struct as_candidate *like,
                         const hot_file_list *file, size_t n, struct as_error *err)
{
    const char **only = as_arena_array(&t->arena, const char *, n + 1);
    struct as_candidate it = *like;
    char name[128], title[256];

    snprintf(name, sizeof name, "%.100s_hot", like->name);
    snprintf(title, sizeof title, "%.200s, in %zu hot file%s alone", like->title, n,
             n == 1 ? "" : "s");
    for (size_t i = 0; only && i < n; i++)
        only[i] = file->at[i].path;
    it.only = only;
    it.name = as_arena_strndup(&t->arena, name, strlen(name));
    it.title = as_arena_strndup(&t->arena, title, strlen(title));
    it.build = (struct as_build){0};
    it.racer = -1;
    it.differs = false;
    it.output = (struct as_output_difference){0};
    it.verdict = AS_TRIAL_OPEN;
    it.run_id = 0;
    it.run_n = 0;
    it.command = NULL;
    it.message = it.why = NULL;
    if (!only || !it.name || !it.title || as_vec_push(&t->candidate, it) < 0)
        return as_error_nomem(err, "what is tried");
    return 0;
}

int as_trial_add_hot(struct as_trial *t, const struct as_candidate *it, struct as_error *err)
{
    hot_file_list file = {0};
    double all_ns = 0;

    int rc = t->has_build_tree ? read_files(t, &file, &all_ns, err) : 0;
    const size_t n = rc == 0 ? count_hot(&file, all_ns) : 0;
    if (n)
        rc = add_candidate(t, it, &file, n, err);
    as_vec_fini(&file);
    return rc;
}
