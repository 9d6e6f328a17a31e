/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A closer view of a timeline: bins of the finest level that fits (doc/reference/report-data.md).
 * The page computes the levels between it and the timeline as sums of its bins.
 */
#include "report/data.h"

#include "base/error.h"
#include "experiment/bins.h"

#define LEVEL_MOST_B ((size_t)1 << 20)

struct finer_level {
    int64_t level; /* -1: none */
    double bin_s, least_bin_s;
};

/* Chooses the first level that fits; levels are ordered by bin length. */
static int choose_level(struct as_document *document, const struct as_data_finer *finer,
                        struct finer_level *out, struct as_error *err)
{
    const size_t most_b = document->level_most_b ? document->level_most_b : LEVEL_MOST_B;
    struct as_rows *rows;
    int more;
    *out = (struct finer_level){.level = -1};
    AS_TRY(as_rows_open(document->experiment, finer->sizes_sql, &rows, err));
    as_rows_bind_integer(rows, 1, document->run_id);
    as_rows_bind_integer(rows, 2, finer->below);
    while ((more = as_rows_next(rows, err)) > 0 && out->level < 0) {
        const double bin_s = as_rows_real(rows, 1);
        if (out->least_bin_s == 0)
            out->least_bin_s = bin_s;
        if ((uint64_t)as_rows_integer(rows, 2) > most_b)
            continue;
        out->level = as_rows_integer(rows, 0);
        out->bin_s = bin_s;
    }
    as_rows_close(&rows);
    return more < 0 ? more : 0;
}

int as_data_levels(struct as_document *document, const struct as_data_finer *source,
                   struct as_error *err)
{
    struct as_json *json = &document->json;
    struct finer_level finer;
    AS_TRY(choose_level(document, source, &finer, err));
    as_json_key(json, "levels");
    if (finer.least_bin_s == 0) {
        as_json_null(json);
        return 0;
    }
    as_json_object_begin(json);
    as_json_key(json, "bin_s");
    if (finer.level < 0)
        as_json_null(json);
    else
        as_json_double(json, finer.bin_s);
    as_json_key(json, "least_bin_s");
    as_json_double(json, finer.least_bin_s);
    as_json_key_u64(json, "segment_n", AS_BINS_OF_ROW);
    AS_TRY(as_data_level(document, "rows", source->rows_sql, finer.level, err));
    as_json_object_end(json);
    return 0;
}
