/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the facts of each input: the time of its run, its ranks, and what should be equal in all.
 * One input is open at a time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "launch/launch.h"
#include "merge/internal.h"

struct part_look {
    struct as_merge *merge;
    struct as_experiment *from;
    struct as_merge_part part;
    uint32_t number;
};

static int open_part_rows(const struct part_look *l, const char *sql, struct as_rows **rows,
                          struct as_error *err)
{
    AS_TRY(as_rows_open(l->from, sql, rows, err));
    as_rows_bind_integer(*rows, 1, l->part.run_id);
    return 0;
}

static struct as_number number_at(struct as_rows *rows, int column)
{
    return (struct as_number){as_rows_integer(rows, column),
                              as_rows_kind(rows, column) == AS_SQL_CELL_INTEGER};
}

/* ---- Selection of the run ------------------------------------------------------------------ */

static int find_directory(struct part_look *l, struct as_error *err)
{
    struct stat st;

    if (stat(l->part.path, &st) != 0)
        return 0; /* opening it reports the error */
    l->part.device = st.st_dev;
    l->part.inode = st.st_ino;
    as_vec_foreach (&l->merge->part, it)
        if (it->device == st.st_dev && it->inode == st.st_ino)
            return as_error_set(err, AS_ERR_USAGE,
                                "%s: is the same experiment as %s; use each once", l->part.path,
                                it->path);
    if (stat(as_experiment_path(l->merge->to), &st) == 0 && st.st_dev == l->part.device &&
        st.st_ino == l->part.inode)
        return as_error_set(err, AS_ERR_USAGE, "%s: is the result too; set another --output",
                            l->part.path);
    return 0;
}

static int find_run(struct part_look *l, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    l->part.run_id = l->merge->request->run_id;
    AS_TRY(open_part_rows(l,
                          "SELECT run_id, state, is_unfinished, (SELECT count(*)"
                          " FROM v_run_states) FROM v_run_states WHERE ?1 IN (0, run_id)"
                          " ORDER BY run_id DESC",
                          &rows, err));
    rc = as_rows_next(rows, err);
    if (rc == 0 && l->part.run_id)
        rc = as_error_set(err, AS_ERR_NOT_FOUND,
                          "%s: has no run %" PRId64 "; 'assay show %s --view runs' lists them",
                          l->part.path, l->part.run_id, l->part.path);
    else if (rc == 0)
        rc = as_error_set(err, AS_ERR_NOT_FOUND, "%s: has no run; remove it", l->part.path);
    if (rc > 0) {
        l->part.run_id = as_rows_integer(rows, 0);
        l->part.has_runs = as_rows_integer(rows, 3) > 1;
        if (strcmp(as_rows_text(rows, 1), "recording") == 0)
            rc = as_error_set(err, AS_ERR_USAGE,
                              "%s: is being recorded; wait until the recording has ended",
                              l->part.path);
        else if (as_rows_integer(rows, 2))
            rc = as_error_set(err, AS_ERR_USAGE,
                              "%s: run %" PRId64
                              " is not attributed: assay was stopped before; run 'assay attribute "
                              "%s'",
                              l->part.path, l->part.run_id, l->part.path);
    }
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* ---- Run ----------------------------------------------------------------------------------- */

static int note_row(struct part_look *l, struct as_rows *rows, int first, struct as_error *err)
{
    for (int i = first; i < as_rows_column_n(rows); i++)
        AS_TRY(as_merge_note(l->merge, "run", as_rows_column(rows, i), as_rows_text(rows, i),
                             l->number, err));
    return 0;
}

static int read_part_run(struct part_look *l, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(open_part_rows(
        l,
        "SELECT r.start_ns, r.start_ns + ifnull(r.wall_ns, 0), r.exit_code, r.exit_signal,"
        " ifnull(r.overhead_ns, 0), r.state = 'complete', ifnull(h.name, 'unknown'),"
        " r.resident_max_b, r.fault_major_n, r.fault_minor_n, r.switch_voluntary_n,"
        " r.switch_involuntary_n,"
        " r.kind, r.label, r.command, r.argv, r.environment_digest, r.cwd, r.launcher,"
        " r.event, r.event_reason, r.rate_hz, r.call_stacks, r.scope"
        " FROM run r LEFT JOIN host h USING (host_id) WHERE r.run_id = ?1",
        &rows, err));
    rc = as_rows_next(rows, err);
    if (rc > 0) {
        l->part.start_ns = as_rows_integer(rows, 0);
        l->part.end_ns = as_rows_integer(rows, 1);
        l->part.exit_code = number_at(rows, 2);
        l->part.exit_signal = number_at(rows, 3);
        l->part.overhead_ns = as_rows_integer(rows, 4);
        l->part.is_complete = as_rows_integer(rows, 5) != 0;
        for (int i = 0; i < AS_MERGE_USAGES; i++)
            l->part.usage[i] = number_at(rows, 7 + i);
        l->part.host = as_merge_keep(l->merge, as_rows_text(rows, 6));
        rc = l->part.host ? note_row(l, rows, 7 + AS_MERGE_USAGES, err)
                          : as_error_nomem(err, l->part.path);
    }
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* ---- Ranks --------------------------------------------------------------------------------- */

/* Reads the environment of the run as a block of variables for as_launch_rank_of. */
static int read_environment(struct part_look *l, struct as_str *block, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(
        open_part_rows(l, "SELECT name, value FROM run_environment WHERE run_id = ?1", &rows, err));
    while ((rc = as_rows_next(rows, err)) > 0) {
        const char *name = as_rows_text(rows, 0), *value = as_rows_text(rows, 1);

        as_str_appendf(block, "%s=%s", name, value);
        as_str_append(block, "", 1);
        rc = as_merge_note(l->merge, as_launch_variable_is_of_rank(name) ? "job" : "env", name,
                           value, l->number, err);
        if (rc < 0)
            break;
    }
    as_rows_close(&rows);
    if (rc == 0 && block->failed)
        rc = as_error_nomem(err, l->part.path);
    return rc;
}

static int add_rank(struct part_look *l, int64_t rank, struct as_error *err)
{
    if (l->part.rank < 0 || rank < l->part.rank)
        l->part.rank = rank;
    return as_vec_push(&l->merge->rank, (struct as_merge_rank){rank, l->number}) < 0
               ? as_error_nomem(err, l->part.path)
               : 0;
}

static int read_ranks(struct part_look *l, struct as_error *err)
{
    struct as_job_rank own;
    struct as_str block = {0};
    struct as_rows *rows = NULL;
    const size_t before = l->merge->rank.n;
    int rc = read_environment(l, &block, err);

    l->part.rank = l->part.size = -1;
    if (rc == 0)
        rc = open_part_rows(l, "SELECT DISTINCT rank FROM process WHERE run_id = ?1 AND rank >= 0",
                            &rows, err);
    while (rc >= 0 && (rc = as_rows_next(rows, err)) > 0)
        rc = add_rank(l, as_rows_integer(rows, 0), err);
    as_rows_close(&rows);
    if (rc == 0 && as_launch_rank_of(as_str_z(&block), block.n, &own)) {
        l->part.size = own.size;
        l->part.launcher = own.launcher;
        /* the rank's process ended before assay could record its rank */
        if (l->merge->rank.n == before)
            rc = add_rank(l, own.rank, err);
    }
    as_str_fini(&block);
    return rc;
}

/* ---- Binaries ------------------------------------------------------------------------------ */

/* Notes the binaries with samples in the run: by build-id, else by size. */
static int read_modules(struct part_look *l, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(open_part_rows(
        l,
        "SELECT m.path, coalesce('build-id ' || m.build_id, m.size_b || ' bytes')"
        " FROM object_time t JOIN module m ON m.module_id = t.object_id"
        " WHERE t.run_id = ?1 AND t.object_kind = 'module' AND m.kind IN ('executable', 'shared')",
        &rows, err));
    while ((rc = as_rows_next(rows, err)) > 0) {
        rc = as_merge_note(l->merge, "file", as_rows_text(rows, 0), as_rows_text(rows, 1),
                           l->number, err);
        if (rc < 0)
            break;
    }
    as_rows_close(&rows);
    return rc;
}

/* ---- All inputs ---------------------------------------------------------------------------- */

static int look_into(struct part_look *l, struct as_error *err)
{
    AS_TRY(find_run(l, err));
    AS_TRY(read_part_run(l, err));
    AS_TRY(read_ranks(l, err));
    return read_modules(l, err);
}

static int look_at(struct as_merge *merge, uint32_t number, struct as_error *err)
{
    struct part_look l = {.merge = merge, .number = number};
    int rc;

    l.part.path = merge->request->path[number];
    AS_TRY(find_directory(&l, err));
    AS_TRY(as_experiment_read(l.part.path, &l.from, err));
    rc = look_into(&l, err);
    as_experiment_close(&l.from, rc == 0 ? err : NULL);
    if (rc == 0 && as_vec_push(&merge->part, l.part) < 0)
        rc = as_error_nomem(err, l.part.path);
    return rc;
}

static int compare_ranks(const void *a, const void *b)
{
    const struct as_merge_rank *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

static int set_owner_text(struct as_merge *merge, struct as_merge_part *part, uint32_t number)
{
    const as_merge_parts one = {&number, 1, 1};
    struct as_str text = {0};

    as_merge_append_owners(merge, &one, &text);
    part->whose = text.failed ? NULL : as_merge_keep(merge, as_str_z(&text));
    as_str_fini(&text);
    return part->whose ? 0 : AS_ERR_NOMEM;
}

int as_merge_look(struct as_merge *merge, struct as_error *err)
{
    const size_t n = merge->request->n;

    for (size_t i = 0; i < n; i++) {
        if (merge->request->progress)
            merge->request->progress(merge->request->context, "looking at ranks", i, n);
        AS_TRY(look_at(merge, (uint32_t)i, err));
    }
    if (merge->rank.n)
        qsort(merge->rank.at, merge->rank.n, sizeof *merge->rank.at, compare_ranks);
    for (uint32_t i = 0; i < n; i++)
        if (set_owner_text(merge, &merge->part.at[i], i) < 0)
            return as_error_nomem(err, "the ranks");
    return 0;
}
