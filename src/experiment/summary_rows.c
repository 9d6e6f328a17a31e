/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the sums of call paths and blocks, which outnumber all other objects. Shares are stored
 * once per distinct time, and all rows are written at once.
 */
#include "base/stat.h"
#include "experiment/bulk.h"
#include "experiment/summary.h"

void as_sum_rows_init(struct as_sum_rows *rows, int64_t run_id)
{
    *rows = (struct as_sum_rows){.run_id = run_id};
    as_map_u64_init(&rows->has_share);
}

void as_sum_rows_fini(struct as_sum_rows *rows)
{
    as_vec_fini(&rows->path);
    as_vec_fini(&rows->block);
    as_vec_fini(&rows->share);
    as_map_u64_fini(&rows->has_share);
}

/* Adds the share of a time in ns, unless it is there already. */
static int add_share(struct as_sum_rows *rows, int64_t time_ns)
{
    if (time_ns == rows->last_ns && rows->share.n)
        return 0;
    rows->last_ns = time_ns;
    if (as_map_u64_get(&rows->has_share, (uint64_t)time_ns) != AS_MAP_NONE)
        return 0;
    AS_TRY(as_vec_push(&rows->share, (struct as_share_row){rows->run_id, time_ns, 0, 0, 0}));
    return as_map_u64_put(&rows->has_share, (uint64_t)time_ns, 1);
}

int as_sum_rows_add(struct as_sum_rows *rows, enum as_object_kind kind, int64_t id,
                    const struct as_sums *sums, int64_t thread_n)
{
    const struct as_sum_row row = {rows->run_id, id, *sums, thread_n};

    AS_TRY(add_share(rows, sums->exclusive_ns));
    AS_TRY(add_share(rows, sums->inclusive_ns));
    return kind == AS_OBJECT_BLOCK ? as_vec_push(&rows->block, row) : as_vec_push(&rows->path, row);
}

#define SUMS(member, of)                                                                           \
    {                                                                                              \
#member, AS_ROW_INTEGER, offsetof(of, sums.member)                                         \
    }
#define SUM_COLUMNS(id_name)                                                                       \
    {"run_id", AS_ROW_INTEGER, offsetof(struct as_sum_row, run_id)},                               \
        {id_name, AS_ROW_INTEGER, offsetof(struct as_sum_row, id)},                                \
        SUMS(exclusive_n, struct as_sum_row), SUMS(exclusive_ns, struct as_sum_row),               \
        SUMS(inclusive_n, struct as_sum_row), SUMS(inclusive_ns, struct as_sum_row),               \
        SUMS(blocked_ns, struct as_sum_row), SUMS(blocked_inclusive_ns, struct as_sum_row)

static const struct as_row_column path_columns[] = {
    SUM_COLUMNS("callpath_id"),
    {"thread_n", AS_ROW_INTEGER, offsetof(struct as_sum_row, thread_n)},
};
static const struct as_row_column block_columns[] = {SUM_COLUMNS("block_id")};
static const struct as_row_column share_columns[] = {
    {"run_id", AS_ROW_INTEGER, offsetof(struct as_share_row, run_id)},
    {"time_ns", AS_ROW_INTEGER, offsetof(struct as_share_row, time_ns)},
    {"share", AS_ROW_REAL, offsetof(struct as_share_row, share)},
    {"low", AS_ROW_REAL, offsetof(struct as_share_row, low)},
    {"high", AS_ROW_REAL, offsetof(struct as_share_row, high)},
};

static int write_all(struct as_experiment *experiment, const struct as_bulk *bulk,
                     struct as_error *err)
{
    struct as_bulk it = *bulk;

    it.what = "writing the times of call paths and blocks";
    return as_bulk_add(experiment, &it, err);
}

int as_sum_rows_write(struct as_sum_rows *rows, struct as_experiment *experiment,
                      const struct as_sums *run, struct as_error *err)
{
    const double whole_ns = (double)run->exclusive_ns, n = (double)run->exclusive_n;

    as_vec_foreach (&rows->share, it) {
        it->share = whole_ns > 0 ? (double)it->time_ns / whole_ns : 0;
        const struct as_interval in = as_stat_wilson(it->share, n, AS_STAT_LEVEL);

        it->low = in.low;
        it->high = in.high;
    }
    AS_TRY(write_all(experiment,
                     &(struct as_bulk){.table = "callpath_time",
                                       .column = path_columns,
                                       .column_n = sizeof path_columns / sizeof *path_columns,
                                       .row = rows->path.at,
                                       .row_b = sizeof *rows->path.at,
                                       .n = rows->path.n},
                     err));
    AS_TRY(write_all(experiment,
                     &(struct as_bulk){.table = "block_time",
                                       .column = block_columns,
                                       .column_n = sizeof block_columns / sizeof *block_columns,
                                       .row = rows->block.at,
                                       .row_b = sizeof *rows->block.at,
                                       .n = rows->block.n},
                     err));
    return write_all(experiment,
                     &(struct as_bulk){.table = "time_share",
                                       .column = share_columns,
                                       .column_n = sizeof share_columns / sizeof *share_columns,
                                       .row = rows->share.at,
                                       .row_b = sizeof *rows->share.at,
                                       .n = rows->share.n},
                     err);
}
