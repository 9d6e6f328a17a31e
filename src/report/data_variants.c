/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cycles of the variants of hot loops, and their verdicts (doc/manual/decan.md), for each loop and
 * each of its buckets. Names of variants and verdicts come from decan/.
 */
#include "report/data.h"

#include <string.h>

#include "base/error.h"
#include "decan/decan.h"
#include "decan/verdict.h"

/* The loop as a whole has no bucket and precedes its buckets. */
static const char variants_sql[] =
    "SELECT variant, loop_id, bucket, variant_n AS n, variant_cycles AS cycles,"
    " variant_cycles_low AS low, variant_cycles_high AS high, variant_least_cycles AS least,"
    " variant_stability AS stability, variant_instance_cycles AS instance,"
    " variant_iterations AS iterations, variant_speedup_x AS speedup FROM v_set_variants"
    " WHERE run_id = ?1 AND variant IS NOT NULL ORDER BY loop_id, bucket IS NOT NULL, bucket";

static const char verdicts_sql[] =
    "SELECT decan_verdict_n, decan_confidence_n, * FROM v_set_decan WHERE run_id = ?1"
    " ORDER BY loop_id, bucket IS NOT NULL, bucket";

/* Returns the title of a variant and sets its position; NULL for a variant that this version does
 * not know. */
static const char *variant_title(const char *name, unsigned *place)
{
    const char *known, *title;

    for (*place = 0; name && (known = as_decan_variant(*place, &title)); ++*place)
        if (strcmp(known, name) == 0)
            return title;
    return NULL;
}

static void write_variant(struct as_json *json, struct as_rows *rows)
{
    unsigned place;
    const char *title = variant_title(as_rows_text(rows, 0), &place);

    as_json_key_string(json, "title", title);
    as_json_key_u64(json, "place", place);
}

static void write_verdict(struct as_json *json, struct as_rows *rows)
{
    static const char *const confidence[] = {"low", "medium", "high"};
    const int64_t sure = as_rows_integer(rows, 1);
    const bool is_known = as_rows_kind(rows, 0) != AS_SQL_CELL_NULL;

    as_json_key_string(
        json, "title",
        is_known ? as_decan_verdict_title((enum as_decan_verdict)as_rows_integer(rows, 0)) : NULL);
    as_json_key_string(json, "confidence",
                       is_known && sure >= 0 && sure < 3 ? confidence[sure] : NULL);
}

static bool is_own_key(const char *name)
{
    static const char *const other[] = {"run_id", "context_id", "path",         "machine",
                                        "model",  "thread_n",   "memory_level", "variant"};

    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (strcmp(name, other[i]) == 0)
            return false;
    return true;
}

static int write_set(struct as_document *document, const char *key, const char *sql, int from,
                     void (*add)(struct as_json *, struct as_rows *), struct as_error *err)
{
    struct as_json *json = &document->json;
    struct as_rows *rows;
    int more;

    AS_TRY(as_rows_open(document->experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, document->run_id);
    as_json_key(json, key);
    as_json_array_begin(json);
    while ((more = as_rows_next(rows, err)) > 0 && !json->out->failed) {
        as_json_object_begin(json);
        add(json, rows);
        for (int i = from; i < as_rows_column_n(rows); i++) {
            if (from && !is_own_key(as_rows_column(rows, i)))
                continue;
            as_json_key(json, as_rows_column(rows, i));
            as_data_cell(json, rows, i);
        }
        as_json_object_end(json);
    }
    if (more >= 0)
        as_json_array_end(json);
    as_rows_close(&rows);
    return more < 0 ? more : 0;
}

/* Sets `*has` to true if the pass has run and stored metric sets. */
static int has_sets(struct as_experiment *experiment, bool *has, struct as_error *err)
{
    struct as_rows *rows;
    int more;

    AS_TRY(as_rows_open(experiment,
                        "SELECT count(*) FROM metric_set WHERE name IN ('variants', 'decan')",
                        &rows, err));
    more = as_rows_next(rows, err);
    *has = more > 0 && as_rows_integer(rows, 0) == 2;
    as_rows_close(&rows);
    return more < 0 ? more : 0;
}

int as_data_variants(struct as_document *document, struct as_error *err)
{
    static const char *const key[] = {"variants", "verdicts"};
    bool has;

    AS_TRY(has_sets(document->experiment, &has, err));
    if (has) {
        AS_TRY(write_set(document, key[0], variants_sql, 0, write_variant, err));
        return write_set(document, key[1], verdicts_sql, 2, write_verdict, err);
    }
    for (size_t i = 0; i < sizeof key / sizeof *key; i++) {
        as_json_key(&document->json, key[i]);
        as_json_array_begin(&document->json);
        as_json_array_end(&document->json);
    }
    return 0;
}
