/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the samples of a run by the blocks of one file, for callers that analyse the file again.
 */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "quality/weights.h"

#define OF_FILE                                                                                    \
    " JOIN block b USING (block_id) JOIN function f USING (function_id)"                           \
    " JOIN module m USING (module_id) WHERE CASE WHEN ?2 <> '' THEN m.build_id = ?2"               \
    " ELSE m.inode = ?3 AND m.mtime_ns = ?4 AND m.size_b = ?5 END"

/* The last run with samples or counts in the module. Runs that count or time take few samples;
 * their results belong to the run that they repeat. */
static const char sampled_run_sql[] =
    "SELECT max(run_id) FROM (SELECT t.run_id FROM block_time t" OF_FILE " AND t.exclusive_n > 0"
    " UNION ALL SELECT t.run_id FROM block_count t" OF_FILE " AND t.executed_n > 0)"
    " JOIN run USING (run_id) WHERE kind NOT IN ('count', 'vprof')";

static const char sampled_blocks_sql[] = "SELECT b.address, t.exclusive_n FROM block_time t" OF_FILE
                                         " AND t.run_id = ?1 AND t.exclusive_n > 0";

static const char counted_blocks_sql[] = "SELECT b.address, t.executed_n FROM block_count t" OF_FILE
                                         " AND t.run_id = ?1 AND t.executed_n > 0";

static int open_of_file(struct as_experiment *experiment, const char *sql, int64_t run_id,
                        const struct as_object_info *info, struct as_rows **rows,
                        struct as_error *err)
{
    char id[2 * sizeof info->build_id + 1] = "";
    as_hex_encode(id, info->build_id, info->build_id_b);
    AS_TRY(as_rows_open(experiment, sql, rows, err));
    as_rows_bind_integer(*rows, 1, run_id);
    as_rows_bind_text(*rows, 2, id);
    as_rows_bind_integer(*rows, 3, (int64_t)info->inode);
    as_rows_bind_integer(*rows, 4, info->mtime_ns);
    as_rows_bind_integer(*rows, 5, (int64_t)info->size_b);
    return 0;
}

static int read_blocks(struct as_experiment *experiment, const char *sql, int64_t run_id,
                       const struct as_object_info *info, as_block_list *out, struct as_error *err)
{
    struct as_rows *rows;
    int rc = open_of_file(experiment, sql, run_id, info, &rows, err);
    while (rc >= 0 && (rc = as_rows_next(rows, err)) > 0) {
        const struct as_block_samples it = {(uint64_t)as_rows_integer(rows, 0),
                                            as_rows_integer(rows, 1)};
        if (as_vec_push(out, it) < 0)
            rc = as_error_nomem(err, "the samples of blocks");
    }
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

int as_quality_sampled_read(struct as_experiment *experiment, const struct as_object *object,
                            struct as_quality_sampled *out, struct as_error *err)
{
    const struct as_object_info *info = as_object_info(object);
    struct as_rows *rows = NULL;
    *out = (struct as_quality_sampled){.run_id = 0};
    AS_TRY(open_of_file(experiment, sampled_run_sql, 0, info, &rows, err));
    int rc = as_rows_next(rows, err);
    out->run_id = rc > 0 ? as_rows_integer(rows, 0) : 0;
    as_rows_close(&rows);
    if (rc >= 0 && !out->run_id)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: no run has samples in the code of %s; use the program file that "
                            "ran (another build has other addresses)",
                            as_experiment_path(experiment), info->path);
    if (rc >= 0)
        rc = read_blocks(experiment, sampled_blocks_sql, out->run_id, info, &out->block, err);
    if (rc >= 0)
        rc = read_blocks(experiment, counted_blocks_sql, out->run_id, info, &out->counted, err);
    return rc < 0 ? rc : 0;
}

int as_quality_sampled_weights(struct as_arena *arena, const struct as_quality_sampled *sampled,
                               const struct as_program *program, uint32_t loop,
                               const double *cycles, double **out, size_t *path_n, bool *counted,
                               struct as_error *err)
{
    const uint64_t header = program->block[program->loop[loop].header].start;
    *counted = false;
    as_vec_foreach (&sampled->counted, it)
        *counted |= it->address == header;
    const as_block_list *tells = *counted ? &sampled->counted : &sampled->block;
    return as_quality_weights(arena, program, loop, tells->at, tells->n, *counted, cycles, out,
                              path_n, err);
}

void as_quality_sampled_fini(struct as_quality_sampled *sampled)
{
    as_vec_fini(&sampled->block);
    as_vec_fini(&sampled->counted);
}
