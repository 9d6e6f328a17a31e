/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of data/advise/: each row of a statement becomes a finding or a flag. A {name} in a
 * text stands for the column of that name, told short where it is the long name of a function; in a
 * command it is a word for a shell. {experiment} stays: where that is, is known when it is shown.
 */
#include <math.h>
#include <string.h>

#include <assay/advise.h>

#include "advise/run.h"
#include "advise/tables.h"
#include "base/error.h"
#include "base/shell.h"
#include "base/short_name.h"

#define NAME_MOST  60 /* bytes of a name in a sentence */
#define EXPERIMENT "{experiment}"

/* ---- Texts --------------------------------------------------------------------------------- */

/* The column whose name stands in the brackets at `at`, or -1; `*n`: how long they are. */
static int column_at(const struct assay_rows *rows, const char *at, size_t *n)
{
    const char *end = strchr(at, '}');

    *n = end ? (size_t)(end - at) + 1 : 0;
    for (int i = 0; end && i < assay_rows_column_n(rows); i++) {
        const char *name = assay_rows_column(rows, i);

        if (strlen(name) == *n - 2 && strncmp(name, at + 1, *n - 2) == 0)
            return i;
    }
    return -1;
}

/* A name that has nothing to leave out keeps its both ends. */
static void append_name(struct as_str *out, const char *name)
{
    struct as_str brief = {0};

    as_short_name(&brief, name, NAME_MOST);
    if (brief.n > 2 * NAME_MOST) {
        as_str_append(out, brief.p, NAME_MOST);
        as_str_appendf(out, "...%s", brief.p + brief.n - NAME_MOST / 2);
    } else {
        as_str_append(out, as_str_z(&brief), brief.n);
    }
    out->failed |= brief.failed;
    as_str_fini(&brief);
}

/*
 * Appends what stands before the next {column}, and gives that column's value (NULL = not known);
 * false at the end of the text.
 */
static bool next_place(struct as_str *out, struct assay_rows *rows, const char **text,
                       const char **value)
{
    for (; **text; (*text)++) {
        size_t n;
        const int column = **text == '{' ? column_at(rows, *text, &n) : -1;

        if (column >= 0) {
            *value = assay_rows_text(rows, column);
            *text += n;
            return true;
        }
        as_str_append(out, *text, 1);
    }
    return false;
}

static void fill_text(struct as_str *out, struct assay_rows *rows, const char *text)
{
    const char *value;

    while (next_place(out, rows, &text, &value))
        append_name(out, value ? value : "?");
}

/* False where a part of it is not known: then nothing can be typed. */
static bool fill_command(struct as_str *out, struct assay_rows *rows, const char *command)
{
    const char *value;

    while (next_place(out, rows, &command, &value)) {
        if (!value || strstr(value, EXPERIMENT))
            return false;
        as_shell_word(out, value);
    }
    return true;
}

/* ---- Findings ------------------------------------------------------------------------------ */

static enum assay_level level_of(const char *word)
{
    static const char *const words[] = {
        [ASSAY_FINDING_GAIN] = "gain",
        [ASSAY_FINDING_POTENTIAL] = "potential",
        [ASSAY_FINDING_HINT] = "hint",
        [ASSAY_FINDING_EXPERT] = "expert",
    };

    for (int i = ASSAY_FINDING_GAIN; word && i <= ASSAY_FINDING_EXPERT; i++)
        if (strcmp(word, words[i]) == 0)
            return (enum assay_level)i;
    return 0;
}

/* Seconds off the run as a factor of its speed. */
static double factor(const struct as_advice *a, double gain_s)
{
    return a->time_s / (a->time_s - fmin(fmax(gain_s, 0), 0.999 * a->time_s));
}

/* A gain is claimed only if there is one for sure: false where the interval has none. */
static bool take_gain(const struct as_advice *a, struct assay_rows *rows,
                      struct assay_quantity *gain)
{
    const double value = factor(a, assay_rows_real(rows, 5));

    if (assay_rows_kind(rows, 5) == ASSAY_CELL_NULL || !(a->time_s > 0) ||
        !(assay_rows_real(rows, 6) > 0))
        return false;
    *gain = assay_derived(value, fmin(value, factor(a, assay_rows_real(rows, 6))),
                          fmax(value, factor(a, assay_rows_real(rows, 7))),
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
    fill_text(&text, rows, what);
    fill_text(&workaround, rows, how ? how : "");
    if (row->command && !fill_command(&command, rows, row->command))
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

static int take_finding(const struct as_advice *a, const struct as_finding_row *row,
                        struct assay_rows *rows, struct assay_error *err)
{
    struct assay_quantity gain;
    struct assay_finding finding = {.run_id = a->run_id,
                                    .kind = row->object,
                                    .object_id = assay_rows_integer(rows, 0),
                                    .level = level_of(assay_rows_text(rows, 1)),
                                    .topic = row->topic,
                                    .time_ns = (int64_t)(assay_rows_real(rows, 4) * 1e9),
                                    .pass = AS_ADVISE_PASS,
                                    .rule = row->name};

    if (finding.level == ASSAY_FINDING_GAIN) {
        if (!take_gain(a, rows, &gain))
            return 0;
        finding.gain = &gain;
    }
    return add_finding(a, row, rows, &finding, err);
}

static int apply_rule(const struct as_advice *a, const struct as_finding_row *row,
                      struct assay_error *err)
{
    struct assay_rows *rows;
    int rc;

    AS_TRY(as_advice_ask(a, row->sql, &rows, err));
    while ((rc = assay_rows_next(rows, err)) > 0) {
        rc = take_finding(a, row, rows, err);
        if (rc < 0)
            break;
    }
    assay_rows_close(&rows);
    return rc;
}

static bool is_chosen(const struct assay_rule_choice *choice, const struct as_finding_row *row)
{
    bool is_topic = !choice->topic_n, is_object = !choice->object_n;

    for (size_t i = 0; i < choice->topic_n; i++)
        is_topic |= strcmp(choice->topic[i], row->topic) == 0;
    for (size_t i = 0; i < choice->object_n; i++)
        is_object |= choice->object[i] == row->object;
    return is_topic && is_object;
}

int as_advise_findings(const struct as_advice *a, const struct assay_rule_choice *choice,
                       struct assay_error *err)
{
    for (size_t i = 0; i < as_advise_finding_n; i++)
        if (is_chosen(choice, &as_advise_finding[i]))
            AS_TRY(apply_rule(a, &as_advise_finding[i], err));
    return 0;
}

/* ---- Flags --------------------------------------------------------------------------------- */

static int apply_flag(const struct as_advice *a, const struct as_flag_row *row,
                      struct assay_error *err)
{
    struct assay_rows *rows;
    int rc;

    AS_TRY(as_advice_ask(a, row->sql, &rows, err));
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
