/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the options of units: a score for functions and modules, and the harmful and missing
 * options of each file.
 */
#include "quality/unit_run.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "quality/options.h"
#include "quality/panel.h"
#include "quality/quality.h"

#define ROWS_MOST 400 /* max rows of the table of one module */

struct units {
    struct as_experiment *experiment;
    int64_t run_id, score_metric;
    int64_t option_metric[64]; /* by option; 0 if not yet defined */
    /* current module */
    int64_t module_id;
    double score_sum;
    int64_t sample_n;
    struct as_panel panel;
};

/* ---- Functions ----------------------------------------------------------------------------- */

static int define_option(struct units *u, size_t option, struct as_error *err)
{
    const struct as_compiler_option *it = as_compiler_option_get(option);
    char name[64], formula[96];
    const struct as_metric metric = {.name = name,
                                     .unit = "1",
                                     .title = it->title,
                                     .topic = "options",
                                     .meaning = it->meaning,
                                     .formula = formula,
                                     .better = it->harmful ? AS_BETTER_LOWER : AS_BETTER_HIGHER,
                                     .position = 100 + (int)option};

    if (u->option_metric[option])
        return 0;
    snprintf(name, sizeof name, it->harmful ? "option_%s" : "given_%s", it->name);
    if (it->harmful)
        snprintf(formula, sizeof formula, "1: the option is set; it costs %.0f points of the score",
                 it->cost);
    else
        snprintf(formula, sizeof formula,
                 "1: the option is set, directly or by another option; "
                 "0: it is not set");
    return as_experiment_metric(u->experiment, &metric, &u->option_metric[option], err);
}

/* Writes each harmful option that is set, and for each useful option whether the unit has it. */
static int write_options(struct units *u, const struct as_subject *function, uint64_t given,
                         struct as_error *err)
{
    for (size_t i = 0; i < as_compiler_option_count(); i++) {
        const bool holds = given >> i & 1;

        if (as_compiler_option_get(i)->harmful && !holds)
            continue;
        AS_TRY(define_option(u, i, err));
        AS_TRY(as_experiment_value(u->experiment, u->option_metric[i], function,
                                   as_value_exact(holds, 1), err));
    }
    return 0;
}

static const char functions_sql[] =
    "SELECT f.function_id, u.compiler, u.compiler_version, u.flags FROM object_time t"
    " JOIN function f ON f.function_id = t.object_id JOIN unit u USING (unit_id)"
    " WHERE t.run_id = ?1 AND t.object_kind = 'function' AND u.flags IS NOT NULL";

/* For code without a run: every function, and every unit with loops. */
static const char functions_of_code_sql[] =
    "SELECT f.function_id, u.compiler, u.compiler_version, u.flags FROM function f"
    " JOIN unit u USING (unit_id) WHERE u.flags IS NOT NULL";

static const char units_of_code_sql[] =
    "SELECT u.module_id, u.name, u.compiler, u.compiler_version, u.flags, count(*) AS n"
    " FROM loop l JOIN function f USING (function_id) JOIN unit u USING (unit_id)"
    " WHERE u.flags IS NOT NULL GROUP BY u.unit_id ORDER BY u.module_id, n DESC, u.unit_id";

static int write_function(void *context, struct as_rows *row, struct as_error *err)
{
    struct units *u = context;
    const struct as_subject function = {.kind = AS_OBJECT_FUNCTION,
                                        .object_id = as_rows_integer(row, 0)};
    const char *compiler = as_rows_text(row, 1), *flags = as_rows_text(row, 3);
    struct as_options_score score;
    struct as_unit_options unit;

    as_score_options(compiler, as_rows_text(row, 2), flags, &score);
    if (score.score < 0)
        return 0;
    as_unit_options(compiler, flags, &unit);
    AS_TRY(as_experiment_value(u->experiment, u->score_metric, &function,
                               as_value_exact(100 * score.score, 1), err));
    return write_options(u, &function, unit.given, err);
}

/* ---- Modules ------------------------------------------------------------------------------- */

/* Adds a cell with the titles of the options in `set`. */
static void push_options(struct units *u, uint64_t set)
{
    struct as_str text = {0};

    for (size_t i = 0; i < as_compiler_option_count(); i++)
        if (set >> i & 1)
            as_str_appendf(&text, "%s%s", text.n ? ", " : "", as_compiler_option_get(i)->title);
    u->panel.failed |= text.failed;
    as_panel_text(&u->panel, as_str_z(&text));
    as_str_fini(&text);
}

static int end_module(struct units *u, struct as_error *err)
{
    const char *const column[] = {"File",      "Compiler", u->run_id ? "Samples" : "Loops",
                                  "Score (%)", "Harms",    "Missing",
                                  "Options"};
    const struct as_heading heading = {
        "options",
        "Compilation options",
        10,
        u->run_id ? "Units with time, as their debug information records them."
                  : "Units with loops, as their debug information records them.",
        column,
        sizeof column / sizeof *column};
    const struct as_subject module = {
        .run_id = u->run_id, .kind = AS_OBJECT_MODULE, .object_id = u->module_id};

    u->panel.of = module;
    int rc = as_panel_write(&u->panel, &heading, err);
    if (rc == 0 && u->sample_n)
        rc = as_experiment_value(
            u->experiment, u->score_metric, &module,
            as_value_exact(100 * u->score_sum / (double)u->sample_n, u->sample_n), err);
    u->score_sum = 0;
    u->sample_n = 0;
    return rc;
}

static const char units_sql[] =
    "SELECT u.module_id, u.name, u.compiler, u.compiler_version, u.flags, sum(t.exclusive_n) AS n"
    " FROM object_time t JOIN function f ON f.function_id = t.object_id JOIN unit u USING (unit_id)"
    " WHERE t.run_id = ?1 AND t.object_kind = 'function' AND t.exclusive_n > 0"
    " AND u.flags IS NOT NULL GROUP BY u.unit_id ORDER BY u.module_id, n DESC, u.unit_id";

static int read_unit(void *context, struct as_rows *row, struct as_error *err)
{
    struct units *u = context;
    const int64_t module_id = as_rows_integer(row, 0), n = as_rows_integer(row, 5);
    const char *compiler = as_rows_text(row, 2), *flags = as_rows_text(row, 4);
    struct as_options_score score;
    struct as_unit_options unit;

    if (module_id != u->module_id)
        AS_TRY(end_module(u, err));
    u->module_id = module_id;
    as_score_options(compiler, as_rows_text(row, 3), flags, &score);
    if (score.score < 0)
        return 0;
    u->score_sum += score.score * (double)n;
    u->sample_n += n;
    if (u->panel.cell.n >= (size_t)ROWS_MOST * 7)
        return 0;
    as_unit_options(compiler, flags, &unit);
    as_panel_text(&u->panel, as_rows_text(row, 1));
    as_panel_text(&u->panel, compiler);
    as_panel_integer(&u->panel, n);
    as_panel_real(&u->panel, 100 * score.score);
    push_options(u, unit.harmful);
    push_options(u, unit.missing);
    as_panel_text(&u->panel, flags);
    return 0;
}

int as_quality_units(struct as_experiment *experiment, int64_t run_id, int64_t score,
                     struct as_error *err)
{
    struct units u = {.experiment = experiment, .run_id = run_id, .score_metric = score};
    int rc;

    as_panel_init(&u.panel, experiment, &(struct as_subject){0});
    rc = as_rows_each(experiment, run_id ? functions_sql : functions_of_code_sql, run_id,
                      write_function, &u, err);
    if (rc == 0)
        rc = as_rows_each(experiment, run_id ? units_sql : units_of_code_sql, run_id, read_unit, &u,
                          err);
    if (rc == 0)
        rc = end_module(&u, err);
    as_panel_fini(&u.panel);
    return rc;
}
