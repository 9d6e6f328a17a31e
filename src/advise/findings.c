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

enum as_level as_advice_level(const char *word)
{
    static const char *const words[] = {
        [AS_FINDING_GAIN] = "gain",
        [AS_FINDING_POTENTIAL] = "potential",
        [AS_FINDING_HINT] = "hint",
        [AS_FINDING_EXPERT] = "expert",
    };
    _Static_assert(sizeof words / sizeof *words == AS_FINDING_EXPERT + 1,
                   "an entry for each of the enumeration");

    for (int i = AS_FINDING_GAIN; word && i <= AS_FINDING_EXPERT; i++)
        if (strcmp(word, words[i]) == 0)
            return (enum as_level)i;
    return 0;
}

double as_advice_factor(const struct as_advice *a, double gain_s)
{
    return a->time_s / (a->time_s - fmin(fmax(gain_s, 0), 0.999 * a->time_s));
}

/* Sets `gain`. False: none is known. A gain for sure needs an interval without 0. */
static bool read_gain(const struct as_advice *a, struct as_rows *rows, enum as_level level,
                      struct as_bounded_value *gain)
{
    const double value = as_advice_factor(a, as_rows_real(rows, 5));
    const bool is_sure = level == AS_FINDING_GAIN;

    if (as_rows_kind(rows, 5) == AS_SQL_CELL_NULL || !(a->time_s > 0) ||
        !(as_rows_real(rows, is_sure ? 6 : 7) > 0))
        return false;
    *gain = as_value_derived(value, fmin(value, as_advice_factor(a, as_rows_real(rows, 6))),
                             fmax(value, as_advice_factor(a, as_rows_real(rows, 7))),
                             as_rows_integer(rows, 8));
    return true;
}

static int add_finding(const struct as_advice *a, const struct as_finding_row *row,
                       struct as_rows *rows, struct as_finding *finding, struct as_error *err)
{
    struct as_str text = {0}, workaround = {0}, command = {0};
    const char *what = as_rows_text(rows, 2), *how = as_rows_text(rows, 3);
    int rc;

    if (!finding->level || !what)
        return as_error_set(err, AS_ERR_INTERNAL, "finding %s: no level or no text", row->name);
    as_fill_text(&text, rows, what);
    as_fill_text(&workaround, rows, how ? how : "");
    if (row->command && !as_fill_command(&command, rows, row->command))
        as_str_clear(&command);
    finding->text = as_str_z(&text);
    finding->workaround = workaround.n ? as_str_z(&workaround) : NULL;
    finding->command = command.n ? as_str_z(&command) : NULL;
    rc = text.failed || workaround.failed || command.failed
             ? as_error_nomem(err, "a finding")
             : as_experiment_finding(a->experiment, finding, err);
    as_str_fini(&text);
    as_str_fini(&workaround);
    as_str_fini(&command);
    return rc;
}

static int store_finding_row(const struct as_advice *a, const struct as_finding_row *row,
                             struct as_rows *rows, struct as_error *err)
{
    struct as_bounded_value gain;
    struct as_finding finding = {.of = {row->object, as_rows_integer(rows, 0), a->run_id, 0},
                                 .level = as_advice_level(as_rows_text(rows, 1)),
                                 .topic = row->topic,
                                 .time_ns = (int64_t)(as_rows_real(rows, 4) * 1e9),
                                 .pass = AS_ADVISE_PASS,
                                 .rule = row->name};

    const bool has_gain = read_gain(a, rows, finding.level, &gain);
    if (finding.level == AS_FINDING_GAIN && !has_gain)
        return 0;
    if (has_gain)
        finding.gain = &gain;
    return add_finding(a, row, rows, &finding, err);
}

static int apply_rule(const struct as_advice *a, const struct as_finding_row *row,
                      struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_advice_open_rows(a, row->sql, &rows, err));
    while ((rc = as_rows_next(rows, err)) > 0) {
        rc = store_finding_row(a, row, rows, err);
        if (rc < 0)
            break;
    }
    as_rows_close(&rows);
    return rc;
}

bool as_advice_chosen(const struct as_rule_choice *choice, const char *topic,
                      enum as_object_kind object)
{
    bool is_topic = !choice->topic_n, is_object = !choice->object_n;

    for (size_t i = 0; i < choice->topic_n; i++)
        is_topic |= strcmp(choice->topic[i], topic) == 0;
    for (size_t i = 0; i < choice->object_n; i++)
        is_object |= choice->object[i] == object;
    return is_topic && is_object;
}

int as_advise_findings(const struct as_advice *a, const struct as_rule_choice *choice,
                       struct as_error *err)
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
                      struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_advice_open_rows(a, row->sql, &rows, err));
    rc = as_rows_next(rows, err);
    if (rc > 0) {
        const char *text = as_rows_text(rows, 1);
        const struct as_flag flag = {.run_id = a->run_id,
                                     .kind = AS_OBJECT_RUN,
                                     .object_id = a->run_id,
                                     .name = row->name,
                                     .text = text ? text : "",
                                     .n = as_rows_integer(rows, 0),
                                     .pass = AS_ADVISE_PASS};

        rc = as_experiment_flag(a->experiment, &flag, err);
    }
    as_rows_close(&rows);
    return rc;
}

int as_advise_flags(const struct as_advice *a, struct as_error *err)
{
    for (size_t i = 0; i < as_advise_flag_n; i++)
        AS_TRY(apply_flag(a, &as_advise_flag[i], err));
    return 0;
}
