/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a merge: read the facts of all inputs; check that they belong together; create the
 * run; copy each input in its own batch; compute the sums.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "experiment/copy.h"
#include "merge/internal.h"

/* ---- Run ----------------------------------------------------------------------------------- */

/* Sets the end of the merged run to that of the first failed rank. */
static void set_end(const struct as_merge *merge, struct as_row_run *row)
{
    bool is_complete = true;

    as_vec_foreach (&merge->order, at) {
        const struct as_merge_part *it = &merge->part.at[*at];
        const bool was_well = !row->exit_signal.known && row->exit_code.value == 0;

        is_complete &= it->is_complete;
        row->overhead_ns = as_known(row->overhead_ns.value + it->overhead_ns);
        if (was_well && (it->exit_signal.known || it->exit_code.value || !row->exit_code.known)) {
            row->exit_code = it->exit_code;
            row->exit_signal = it->exit_signal;
        }
    }
    row->state = is_complete ? "complete" : "interrupted";
}

/* Sets the resource usage: the maximum for memory, the sum for all else. It is unknown if one
 * part lacks it. */
static void set_usage(const struct as_merge *merge, struct as_row_run *row)
{
    struct as_number all[AS_MERGE_USAGES];

    for (int i = 0; i < AS_MERGE_USAGES; i++) {
        all[i] = as_known(0);
        as_vec_foreach (&merge->order, at) {
            const struct as_number *it = &merge->part.at[*at].usage[i];
            if (!it->known)
                all[i].known = false;
            else if (i != AS_MERGE_RESIDENT)
                all[i].value += it->value;
            else if (it->value > all[i].value)
                all[i].value = it->value;
        }
    }
    row->resident_max_b = all[AS_MERGE_RESIDENT];
    row->fault_major_n = all[AS_MERGE_FAULT_MAJOR];
    row->fault_minor_n = all[AS_MERGE_FAULT_MINOR];
    row->switch_voluntary_n = all[AS_MERGE_SWITCH_VOLUNTARY];
    row->switch_involuntary_n = all[AS_MERGE_SWITCH_INVOLUNTARY];
}

static int add_merged_run(struct as_merge *merge, struct as_error *err)
{
    const uint32_t first = merge->order.at[0];
    const struct as_merge_part *part = &merge->part.at[first];
    const char *common = as_merge_common(merge, "run.kind"), *label = merge->request->label;
    const char *rate = as_merge_value(merge, "run.rate_hz", first);
    merge->row = (struct as_row_run){
        .kind = common ? common : "profile",
        .label = label ? label : as_merge_common(merge, "run.label"),
        .command = as_merge_value(merge, "run.command", first),
        .argv = as_merge_value(merge, "run.argv", first),
        .environment_digest = as_merge_common(merge, "run.environment_digest"),
        .cwd = as_merge_common(merge, "run.cwd"),
        .launcher = part->launcher ? part->launcher : as_merge_value(merge, "run.launcher", first),
        .start_ns = merge->start_ns,
        .wall_ns = as_known(merge->end_ns - merge->start_ns),
        .event = as_merge_value(merge, "run.event", first),
        .event_reason = as_merge_value(merge, "run.event_reason", first),
        .call_stacks = as_merge_value(merge, "run.call_stacks", first),
        .scope = as_merge_value(merge, "run.scope", first)};

    if (rate)
        merge->row.rate_hz = as_known(strtoll(rate, NULL, 10));
    set_end(merge, &merge->row);
    set_usage(merge, &merge->row);
    return as_experiment_add_run(merge->to, &merge->row, &merge->run_id, err);
}

/* Sets the host of the run, which exists after the rows of the first rank are copied. */
static int set_host(struct as_merge *merge, struct as_experiment *from, int64_t from_run,
                    const struct as_copy *copy, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(from, "SELECT host_id FROM run WHERE run_id = ?1", &rows, err));
    as_rows_bind_integer(rows, 1, from_run);
    rc = as_rows_next(rows, err);
    if (rc > 0)
        merge->row.host_id = as_copy_object(copy, AS_OBJECT_HOST, as_rows_integer(rows, 0));
    as_rows_close(&rows);
    return rc < 0 ? rc : as_experiment_set_run(merge->to, merge->run_id, &merge->row, err);
}

/* Adds the variables with the same value in all inputs. */
static int add_environment(struct as_merge *merge, struct as_error *err)
{
    as_vec_foreach (&merge->fact, fact) {
        const char *value = as_merge_common(merge, fact->name);
        const struct as_row_run_environment row = {
            .run_id = merge->run_id, .name = fact->name + 4, .value = value};

        if (value && (strncmp(fact->name, "env.", 4) == 0 || strncmp(fact->name, "job.", 4) == 0))
            AS_TRY(as_experiment_add_run_environment(merge->to, &row, err));
    }
    return 0;
}

/* ---- Inputs -------------------------------------------------------------------------------- */

static int copy_flag(struct as_merge *merge, struct as_rows *rows, const struct as_copy *copy,
                     uint32_t part, struct as_error *err)
{
    const enum as_object_kind kind = as_object_kind_of(as_rows_text(rows, 0));
    struct as_flag flag = {.run_id = merge->run_id,
                           .kind = AS_OBJECT_RUN,
                           .object_id = merge->run_id,
                           .name = as_rows_text(rows, 2),
                           .n = as_rows_integer(rows, 3),
                           .text = as_rows_text(rows, 4)};
    const int64_t object = kind ? as_copy_object(copy, kind, as_rows_integer(rows, 1)) : 0;

    if (object) {
        flag.kind = kind;
        flag.object_id = object;
    }
    return as_merge_add_flag(merge, &flag, part, err);
}

/* Notes the flags of an input. The flag code_not_read is left out, because passes set it again. */
static int copy_flags(struct as_merge *merge, struct as_experiment *from, int64_t from_run,
                      const struct as_copy *copy, uint32_t part, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(from,
                        "SELECT object_kind, object_id, name, n, text FROM flag"
                        " WHERE run_id = ?1 AND name <> 'code_not_read' ORDER BY flag_id",
                        &rows, err));
    as_rows_bind_integer(rows, 1, from_run);
    while ((rc = as_rows_next(rows, err)) > 0) {
        rc = copy_flag(merge, rows, copy, part, err);
        if (rc < 0)
            break;
    }
    as_rows_close(&rows);
    return rc;
}

static int merge_part(struct as_merge *merge, struct as_copy *copy, size_t at,
                      const char *directory, struct as_experiment *from, struct as_error *err)
{
    const uint32_t number = merge->order.at[at];
    const struct as_merge_part *part = &merge->part.at[number];
    struct as_merge_files files = {.request = merge->request,
                                   .from = from,
                                   .to = directory,
                                   .from_run = part->run_id,
                                   .to_run = merge->run_id,
                                   .number = at};
    const struct as_copy_part how = {.from = from,
                                     .from_run = part->run_id,
                                     .to_run = merge->run_id,
                                     .shift_ns = part->start_ns - merge->start_ns,
                                     .whose = part->whose,
                                     .file = as_merge_file,
                                     .context = &files};

    AS_TRY(as_copy_run(copy, &how, err));
    if (at == 0)
        AS_TRY(set_host(merge, from, part->run_id, copy, err));
    AS_TRY(copy_flags(merge, from, part->run_id, copy, number, err));
    AS_TRY(as_merge_rest_of_files(&files, err));
    return as_merge_streams(&files, err);
}

static int copy_part(struct as_merge *merge, struct as_copy *copy, size_t at, const char *directory,
                     struct as_error *err)
{
    struct as_experiment *from;
    int rc;

    AS_TRY(as_experiment_read(merge->part.at[merge->order.at[at]].path, &from, err));
    rc = as_experiment_begin(merge->to, err);
    if (rc == 0) {
        rc = merge_part(merge, copy, at, directory, from, err);
        if (rc == 0)
            rc = as_experiment_commit(merge->to, err);
        else
            as_experiment_rollback(merge->to);
    }
    as_experiment_close(&from, rc == 0 ? err : NULL);
    return rc;
}

static int copy_parts(struct as_merge *merge, struct as_error *err)
{
    const struct as_merge_request *request = merge->request;
    struct as_copy *copy = NULL;
    char directory[4096];
    int rc;

    AS_TRY(as_experiment_run_directory(merge->to, merge->run_id, directory, sizeof directory, err));
    AS_TRY(as_copy_new(merge->to, &copy, err));
    rc = 0;
    for (size_t i = 0; i < merge->order.n && rc == 0; i++) {
        if (request->progress)
            request->progress(request->context, "merging ranks", i, merge->order.n);
        rc = copy_part(merge, copy, i, directory, err);
    }
    as_copy_free(&copy);
    return rc;
}

/* ---- Merge --------------------------------------------------------------------------------- */

static int write_facts(void *context, struct as_error *err)
{
    struct as_merge *merge = context;

    AS_TRY(add_environment(merge, err));
    return as_merge_write_flags(merge, err);
}

static int merge_all(struct as_merge *merge, struct as_merge_result *result, struct as_error *err)
{
    AS_TRY(as_merge_look(merge, err));
    AS_TRY(as_merge_check(merge, err));
    AS_TRY(add_merged_run(merge, err));
    AS_TRY(copy_parts(merge, err));
    AS_TRY(as_experiment_batch(merge->to, write_facts, merge, err));
    if (merge->request->progress)
        merge->request->progress(merge->request->context, "summing up", 0, 1);
    result->run_id = merge->run_id;
    result->rank_n = merge->rank.n;
    result->host_n = merge->host_n;
    as_vec_foreach (&merge->part, it)
        result->left_n += it->has_runs;
    return as_experiment_summarise(merge->to, merge->run_id, err);
}

static void release_merge(struct as_merge *merge)
{
    as_vec_foreach (&merge->fact, fact) {
        as_vec_foreach (&fact->variant, variant)
            as_vec_fini(&variant->part);
        as_vec_fini(&fact->variant);
    }
    as_vec_foreach (&merge->flag, flag)
        as_vec_fini(&flag->part);
    as_vec_fini(&merge->fact);
    as_vec_fini(&merge->flag);
    as_vec_fini(&merge->part);
    as_vec_fini(&merge->order);
    as_vec_fini(&merge->rank);
    as_map_view_fini(&merge->fact_of);
    as_map_view_fini(&merge->flag_of);
    as_arena_fini(&merge->arena);
}

int as_merge_experiments(struct as_experiment *to, const struct as_merge_request *request,
                         struct as_merge_result *result, struct as_error *err)
{
    struct as_merge merge = {.to = to, .request = request};
    int rc;

    *result = (struct as_merge_result){0};
    if (request->n == 0)
        return as_error_set(err, AS_ERR_USAGE, "merge: no experiments; use those of all ranks");
    as_arena_init(&merge.arena);
    as_map_view_init(&merge.fact_of);
    as_map_view_init(&merge.flag_of);
    rc = merge_all(&merge, result, err);
    release_merge(&merge);
    return rc;
}
