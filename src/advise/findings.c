/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of data/advise/: each row of a statement becomes a finding or a flag. {experiment} in a
 * command stays: where that is, is known when it is shown.
 */
#include <math.h>
#include <string.h>

#include "advise/advise.h"
#include "advise/cards.h"
#include "advise/fill.h"
#include "advise/run.h"
#include "advise/tables.h"
#include "base/error.h"

/* ---- Findings ------------------------------------------------------------------------------ */

enum assay_level as_advice_level(const char *word)
{
    static const char *const words[] = {
        [ASSAY_FINDING_GAIN] = "gain",
        [ASSAY_FINDING_POTENTIAL] = "potential",
        [ASSAY_FINDING_HINT] = "hint",
        [ASSAY_FINDING_EXPERT] = "expert",
    };
    _Static_assert(sizeof words / sizeof *words == ASSAY_FINDING_EXPERT + 1,
                   "an entry for each of the enumeration");

    for (int i = ASSAY_FINDING_GAIN; word && i <= ASSAY_FINDING_EXPERT; i++)
        if (strcmp(word, words[i]) == 0)
            return (enum assay_level)i;
    return 0;
}

double as_advice_factor(const struct as_advice *a, double gain_s)
{
    return a->time_s / (a->time_s - fmin(fmax(gain_s, 0), 0.999 * a->time_s));
}

/* Sets `gain`. False: none is known. A gain for sure needs an interval without 0. */
static bool read_gain(const struct as_advice *a, struct assay_rows *rows, enum assay_level level,
                      struct assay_quantity *gain)
{
    const double value = as_advice_factor(a, assay_rows_real(rows, 5));
    const bool is_sure = level == ASSAY_FINDING_GAIN;

    if (assay_rows_kind(rows, 5) == ASSAY_CELL_NULL || !(a->time_s > 0) ||
        !(assay_rows_real(rows, is_sure ? 6 : 7) > 0))
        return false;
    *gain = assay_derived(value, fmin(value, as_advice_factor(a, assay_rows_real(rows, 6))),
                          fmax(value, as_advice_factor(a, assay_rows_real(rows, 7))),
                          assay_rows_integer(rows, 8));
    return true;
}

static int add_finding(const struct as_advice *a, const struct as_finding_row *row,
                       struct assay_rows *rows, struct assay_finding *finding,
                       struct assay_error *err)
{
    struct as_str text = {0}, workaround = {0}, command = {0};
    const char *what = assay_rows_text(rows, 2), *how = assay_rows_text(rows, 3);
    int rc;

    if (!finding->level || !what)
        return as_error_set(err, ASSAY_ERR_INTERNAL, "finding %s: no level or no text", row->name);
    as_fill_text(&text, rows, what);
    as_fill_text(&workaround, rows, how ? how : "");
    if (row->command && !as_fill_command(&command, rows, row->command))
        as_str_clear(&command);
    finding->text = as_str_z(&text);
    finding->workaround = workaround.n ? as_str_z(&workaround) : NULL;
    finding->command = command.n ? as_str_z(&command) : NULL;
    rc = text.failed || workaround.failed || command.failed
             ? as_error_nomem(err, "a finding")
             : assay_experiment_finding(a->experiment, finding, err);
    as_str_fini(&text);
    as_str_fini(&workaround);
    as_str_fini(&command);
    return rc;
}

static int store_finding_row(const struct as_advice *a, const struct as_finding_row *row,
                             struct assay_rows *rows, struct assay_error *err)
{
    struct assay_quantity gain;
    struct assay_finding finding = {.of = {row->object, assay_rows_integer(rows, 0), a->run_id, 0},
                                    .level = as_advice_level(assay_rows_text(rows, 1)),
                                    .topic = row->topic,
                                    .time_ns = (int64_t)(assay_rows_real(rows, 4) * 1e9),
                                    .pass = AS_ADVISE_PASS,
                                    .rule = row->name};

    const bool has_gain = read_gain(a, rows, finding.level, &gain);
    if (finding.level == ASSAY_FINDING_GAIN && !has_gain)
        return 0;
    if (has_gain)
        finding.gain = &gain;
    return add_finding(a, row, rows, &finding, err);
}

static int apply_rule(const struct as_advice *a, const struct as_finding_row *row,
                      struct assay_error *err)
{
    struct assay_rows *rows;
    int rc;

    AS_TRY(as_advice_open_rows(a, row->sql, &rows, err));
    while ((rc = assay_rows_next(rows, err)) > 0) {
        rc = store_finding_row(a, row, rows, err);
        if (rc < 0)
            break;
    }
    assay_rows_close(&rows);
    return rc;
}

bool as_advice_chosen(const struct assay_rule_choice *choice, const char *topic,
                      enum assay_object_kind object)
{
    bool is_topic = !choice->topic_n, is_object = !choice->object_n;

    for (size_t i = 0; i < choice->topic_n; i++)
        is_topic |= strcmp(choice->topic[i], topic) == 0;
    for (size_t i = 0; i < choice->object_n; i++)
        is_object |= choice->object[i] == object;
    return is_topic && is_object;
}

int as_advise_findings(const struct as_advice *a, const struct assay_rule_choice *choice,
                       struct assay_error *err)
{
    AS_TRY(as_advise_cards(a, choice, err));
    for (size_t i = 0; i < as_advise_finding_n; i++) {
        const struct as_finding_row *row = &as_advise_finding[i];

        if (as_advice_chosen(choice, row->topic, row->object))
            AS_TRY(apply_rule(a, row, err));
    }
    return 0;
}

/* ---- Flags --------------------------------------------------------------------------------- */

static int apply_flag(const struct as_advice *a, const struct as_flag_row *row,
                      struct assay_error *err)
{
    struct assay_rows *rows;
    int rc;

    AS_TRY(as_advice_open_rows(a, row->sql, &rows, err));
    rc = assay_rows_next(rows, err);
    if (rc > 0) {
        const char *text = assay_rows_text(rows, 1);
        const struct assay_flag flag = {.run_id = a->run_id,
                                        .kind = ASSAY_OBJECT_RUN,
                                        .object_id = a->run_id,
                                        .name = row->name,
                                        .text = text ? text : "",
                                        .n = assay_rows_integer(rows, 0),
                                        .pass = AS_ADVISE_PASS};

        rc = assay_experiment_flag(a->experiment, &flag, err);
    }
    assay_rows_close(&rows);
    return rc;
}

int as_advise_flags(const struct as_advice *a, struct assay_error *err)
{
    for (size_t i = 0; i < as_advise_flag_n; i++)
        AS_TRY(apply_flag(a, &as_advise_flag[i], err));
    return 0;
}
