/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared code of the verbs that compare; see compared.h.
 */
#include "compared.h"

#include <math.h>

#include "base/error.h"
#include "base/version.h"

size_t as_compared_limit(const struct as_cli *cli)
{
    const uint64_t limit = cli->args.number[AS_OPTION_LIMIT];
    return as_given(&cli->args, AS_OPTION_LIMIT) ? (limit ? (size_t)limit : SIZE_MAX)
                                                 : AS_COMPARED_ROWS;
}

bool as_compared_is_shown(const struct as_cli *cli, double time_s, double all_s)
{
    return as_given(&cli->args, AS_OPTION_LIMIT) || time_s >= AS_COMPARED_LEAST * all_s;
}

void as_compared_json_begin(struct as_json *json, struct as_cli *cli,
                            const struct as_experiment *experiment, const char *key)
{
    as_json_init(json, &cli->out, 2);
    as_json_object_begin(json);
    as_json_key(json, "schema");
    as_json_u64(json, 1);
    as_json_key(json, "assay");
    as_json_string(json, AS_VERSION);
    as_json_key(json, "command");
    as_json_string(json, as_verbs[cli->args.verb].name);
    if (experiment) {
        as_json_key(json, "experiment");
        as_json_string(json, as_experiment_path(experiment));
    }
    as_json_key(json, key);
}

void as_compared_json_end(struct as_json *json)
{
    as_json_object_end(json);
    as_json_finish(json);
}

int as_compared_read(struct as_cli *cli,
                     int (*show)(struct as_cli *, struct as_experiment *, struct as_error *),
                     struct as_error *err)
{
    struct as_experiment *experiment;
    if (cli->args.positional_n)
        return as_error_set(err, AS_ERR_USAGE,
                            "--read: there is a command too; remove the command or --read");
    AS_TRY(as_experiment_read(cli->args.value[AS_OPTION_READ], &experiment, err));
    const int rc = show(cli, experiment, err);
    const int closed = as_experiment_close(&experiment, rc < 0 ? NULL : err);
    return rc < 0 ? rc : closed;
}

const char *as_compared_word(enum as_object_kind kind)
{
    return kind == AS_OBJECT_CATEGORY   ? "category"
           : kind == AS_OBJECT_FUNCTION ? "function"
                                        : "loop";
}

const char *as_compared_title(enum as_object_kind kind)
{
    return kind == AS_OBJECT_CATEGORY   ? "Categories"
           : kind == AS_OBJECT_FUNCTION ? "Functions"
                                        : "Loops";
}

void as_compared_heading(struct as_cli *cli, const char *heading)
{
    as_cli_print(cli, "\n");
    as_cli_styled(cli, AS_STYLE_BOLD, heading);
    as_cli_print(cli, "\n");
}

int as_compared_table(struct as_cli *cli, enum as_object_kind kind, struct as_table *table,
                      size_t row_n, struct as_error *err)
{
    int rc = 0;

    if (row_n) {
        as_compared_heading(cli, as_compared_title(kind));
        rc = as_table_print(table, &cli->out, as_cli_table_width(cli), cli->color, err);
    }
    as_table_fini(table);
    return rc;
}

void as_compared_notes(struct as_cli *cli, const char *const *note, size_t n)
{
    for (size_t i = 0; i < n; i++)
        as_cli_wrapped(cli, "- ", "%s", note[i]);
}

/* ---- Cells --------------------------------------------------------------------------------- */

/* Four digits that say something, and never an exponent. */
static int estimate_digits(double x)
{
    return x >= 1000 ? 0 : x >= 100 ? 1 : x >= 10 ? 2 : 3;
}

void as_cell_seconds(struct as_table *table, double seconds)
{
    if (isnan(seconds))
        as_table_string(table, NULL);
    else
        as_table_f(table, "%.*f", estimate_digits(seconds), seconds);
}

void as_cell_interval(struct as_table *table, const struct as_bounded_value *it, double factor,
                      int digits)
{
    if (!it->origin || isinf(it->low) || isinf(it->high))
        as_table_string(table, NULL);
    else
        as_table_f(table, "%.*f-%.*f", digits, it->low * factor, digits, it->high * factor);
}

void as_cell_efficiency(struct as_table *table, const struct as_bounded_value *it, bool is_alone)
{
    const double pct = 100 * it->value;
    if (!it->origin) {
        as_table_string(table, NULL);
        return;
    }
    const bool good = pct >= AS_EFFICIENCY_GOOD, fair = pct >= AS_EFFICIENCY_FAIR;
    const bool is_bounded = !isinf(it->low) && !isinf(it->high);
    if (is_bounded ? it->high - it->low > AS_EFFICIENCY_UNSURE : !is_alone) {
        as_table_f(table, "%.0f %% ?", pct);
        as_table_style(table, AS_STYLE_DIM);
        return;
    }
    as_table_f(table, "%.0f %% %s", pct, good ? "+" : fair ? "~" : "!");
    as_table_style(table, good ? AS_STYLE_GREEN : fair ? AS_STYLE_YELLOW : AS_STYLE_RED);
}

void as_csv_quantity(struct as_csv *csv, const struct as_bounded_value *it)
{
    const bool known = it->origin != 0;
    as_csv_double(csv, known ? it->value : NAN);
    as_csv_double(csv, known ? it->low : NAN);
    as_csv_double(csv, known ? it->high : NAN);
}
