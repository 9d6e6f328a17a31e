/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the results of comparing runs look: what `assay scale`, `repeat` and `compare` share.
 */
#ifndef AS_CLI_COMPARED_H
#define AS_CLI_COMPARED_H

#include "base/csv.h"
#include "base/json.h"
#include "base/table.h"
#include "cli.h"
#include "compare/compare.h"
#include "report/report.h"

/* Rows of each kind that text shows when --limit does not say. */
#define AS_COMPARED_ROWS 10

size_t as_compared_limit(const struct as_cli *cli);
/* Parts of less than this share are left out of text, unless --limit asks for more. */
#define AS_COMPARED_LEAST 0.01
bool as_compared_is_shown(const struct as_cli *cli, double time_s, double all_s);

/* The document around a result: schema, version, verb, experiment; then the key of the result. */
void as_compared_json_begin(struct as_json *json, struct as_cli *cli,
                            const struct as_experiment *experiment, const char *key);
void as_compared_json_end(struct as_json *json);

/* --read EXP: opens it and shows it. A command beside it is USAGE. */
int as_compared_read(struct as_cli *cli,
                     int (*show)(struct as_cli *, struct as_experiment *, struct as_error *),
                     struct as_error *err);

/* Title of a section, "" when there is none; then its table goes out. */
const char *as_compared_title(enum as_object_kind kind);
/* "category", "function", "loop". */
const char *as_compared_word(enum as_object_kind kind);

/* A wrapped sentence after "  - ". */
void as_compared_notes(struct as_cli *cli, const char *const *note, size_t n);
/* A heading, bold on a terminal, after an empty line. */
void as_compared_heading(struct as_cli *cli, const char *heading);
/* Prints a table of objects of a kind under its heading, unless it has no rows; the table is gone.
 */
int as_compared_table(struct as_cli *cli, enum as_object_kind kind, struct as_table *table,
                      size_t row_n, struct as_error *err);

/* Cells: "1.234", "1.20-1.31"; empty where nothing is known. */
void as_cell_seconds(struct as_table *table, double seconds);
void as_cell_interval(struct as_table *table, const struct as_bounded_value *it, double factor,
                      int digits);
/* An efficiency with a 95 % interval wider than this is not rated. */
#define AS_EFFICIENCY_UNSURE 0.4
/* "97 % +": with '+' good, '~' fair, '!' poor, and their colours; '?' not known well enough, which
 * without an interval is so unless `is_alone`: the only run of a point is rated all the same. */
void as_cell_efficiency(struct as_table *table, const struct as_bounded_value *it, bool is_alone);

/* value, low, high; three empty fields when not known. */
void as_csv_quantity(struct as_csv *csv, const struct as_bounded_value *it);

#endif
