/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks and what-ifs of a run, and deletion of earlier results of a pass. This file does not
 * interpret them.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiment/internal.h"
#include "experiment/schema.h"

int as_experiment_check(struct as_experiment *experiment, const struct as_check *it,
                        struct as_error *err)
{
    const struct as_row_check_result row = {
        .run_id = it->run_id,
        .name = it->name,
        .title = it->title,
        .position = it->position,
        .weight = it->weight,
        .score = it->score >= 0 ? it->score : (double)NAN,
        .text = it->text,
        .advice = it->advice,
        .pass = as_pass_name(experiment, it->pass),
    };

    AS_TRY(as_batch_check(experiment, err));
    if (!(it->weight > 0) || !(it->score <= 1))
        return as_error_set(err, AS_ERR_INTERNAL, "check %s: score %g or weight %g", it->name,
                            it->score, it->weight);
    return as_row_add(experiment, AS_TABLE_check_result, &row, NULL, err);
}

/* Runs `sql` with a number and a text (may be NULL) as parameters. */
static int run_with(struct as_experiment *experiment, const char *sql, int64_t number,
                    const char *text, struct as_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc;

    AS_TRY(as_sql_prepare(experiment, sql, &s, err));
    sqlite3_bind_int64(s, 1, number);
    if (text)
        sqlite3_bind_text(s, 2, text, -1, SQLITE_STATIC);
    rc = as_sql_insert(experiment, s, "taking what was said earlier away", NULL, err);
    sqlite3_finalize(s);
    return rc;
}

/* ---- What-ifs ------------------------------------------------------------------------------ */

static int add_objects(struct as_experiment *experiment, int64_t id, const struct as_what_if *it,
                       struct as_error *err)
{
    AS_TRY(run_with(experiment, "DELETE FROM what_if_object WHERE what_if_id = ?1", id, NULL, err));
    for (size_t i = 0; i < it->object_n; i++) {
        const struct as_row_what_if_object row = {
            .what_if_id = id,
            .position = (int64_t)i + 1,
            .object_id = it->object[i].id,
            .gain_s = it->object[i].gain_s,
            .speedup = it->object[i].speedup,
        };

        AS_TRY(as_row_add(experiment, AS_TABLE_what_if_object, &row, NULL, err));
    }
    return 0;
}

int as_experiment_what_if(struct as_experiment *experiment, const struct as_what_if *it,
                          struct as_error *err)
{
    const struct as_row_what_if row = {
        .run_id = it->run_id,
        .name = it->name,
        .title = it->title,
        .meaning = it->meaning,
        .position = it->position,
        .object_kind = it->kind,
        .time_s = it->time_s,
        .gain_s = it->gain_s.value,
        .gain_low_s = it->gain_s.low,
        .gain_high_s = it->gain_s.high,
        .n = it->gain_s.n,
        .origin = (enum as_origin)it->gain_s.origin,
        .to_80_n = {it->to_80_n, it->to_80_n > 0},
        .pass = as_pass_name(experiment, it->pass),
    };
    int64_t id;

    AS_TRY(as_batch_check(experiment, err));
    AS_TRY(as_quantity_check(&it->gain_s, it->name, err));
    AS_TRY(as_row_add(experiment, AS_TABLE_what_if, &row, &id, err));
    return add_objects(experiment, id, it, err);
}

/* ---- Deletion ------------------------------------------------------------------------------ */

/* Deletes the results of a pass. object_id 0 means the run and all its objects. */
static int forget(struct as_experiment *experiment, const struct as_subject *of, const char *pass,
                  struct as_error *err)
{
    static const char of_pass[] = " WHERE ifnull(run_id, 0) = ?1 AND pass = ?2";
    static const char of_metric[] =
        " WHERE run_id = ?1 AND metric_id IN (SELECT metric_id FROM metric WHERE pass = ?2)";
    static const struct {
        const char *table, *where;
    } said[] = {{"finding", of_pass},     {"flag", of_pass},   {"check_result", of_pass},
                {"what_if", of_pass},     {"detail", of_pass}, {"value", of_metric},
                {"histogram", of_metric}, {"trace", of_pass},  {"scaling", of_pass}};
    char sql[256], object[64] = "";

    AS_TRY(as_batch_check(experiment, err));
    if (of->object_id)
        sqlite3_snprintf(sizeof object, object, " AND object_kind = '%q' AND object_id = %lld",
                         as_object_word(of->kind), (long long)of->object_id);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        if (of->object_id && strcmp(said[i].table, "check_result") == 0)
            continue; /* only runs have check results */
        if (of->object_id &&
            (strcmp(said[i].table, "what_if") == 0 || strcmp(said[i].table, "trace") == 0 ||
             strcmp(said[i].table, "scaling") == 0))
            continue;
        sqlite3_snprintf(sizeof sql, sql, "DELETE FROM %s%s%s", said[i].table, said[i].where,
                         object);
        AS_TRY(run_with(experiment, sql, of->run_id, pass, err));
    }
    return as_metric_set_forget(experiment, of, pass, err);
}

int as_experiment_forget(struct as_experiment *experiment, int64_t run_id, const char *pass,
                         struct as_error *err)
{
    const struct as_subject all = {.run_id = run_id};

    return forget(experiment, &all, pass, err);
}

int as_experiment_forget_object(struct as_experiment *experiment, const struct as_subject *of,
                                const char *pass, struct as_error *err)
{
    assert(of->object_id && of->kind);
    return forget(experiment, of, pass, err);
}

/* ---- Passes -------------------------------------------------------------------------------- */

struct speech {
    struct as_experiment *experiment;
    int64_t run_id;
    int (*say)(void *context, struct as_error *err);
    void *context;
};

static int speak(void *context, struct as_error *err)
{
    const struct speech *it = context;

    AS_TRY(as_experiment_forget(it->experiment, it->run_id, it->experiment->speaker, err));
    return it->say(it->context, err);
}

int as_experiment_write_pass(struct as_experiment *experiment, int64_t run_id, const char *pass,
                             int (*say)(void *context, struct as_error *err), void *context,
                             struct as_error *err)
{
    struct speech it = {experiment, run_id, say, context};

    assert(!experiment->speaker);
    experiment->speaker = pass;
    const int rc = as_experiment_batch(experiment, speak, &it, err);
    experiment->speaker = NULL;
    return rc;
}
