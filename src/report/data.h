/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the report data (doc/reference/report-data.md), one file each. Each function writes
 * one or more keys of the document with their values. All return 0 or the first error of
 * reading.
 */
#ifndef AS_REPORT_DATA_H
#define AS_REPORT_DATA_H

#include "base/json.h"
#include "report/grid.h"
#include "report/report.h"

struct as_document {
    const struct as_comparison *comparison; /* NULL: none */
    struct as_experiment *experiment;
    int64_t run_id;
    size_t path_most;    /* max call paths; 0: as many as a page can show */
    size_t level_most_b; /* max bytes of bins of finer levels; 0: as many as a file may have */
    bool no_inline;      /* shows inlined functions as parts of their callers */
    bool is_code;        /* the code was analysed but not measured */
    struct as_json json;
};

/* Writes environment, overheads, metrics, what_ifs, checks, findings and flags, each from one
 * statement. */
int as_data_facts(struct as_document *document, struct as_error *err);
/* Writes views. */
int as_data_views(struct as_document *document, struct as_error *err);
/* Writes calltree. */
int as_data_calltree(struct as_document *document, struct as_error *err);
/* Writes sources and code. */
int as_data_code(struct as_document *document, struct as_error *err);
/* Writes elements of sections: values that hold under a condition. */
int as_data_conditions(struct as_document *document, struct as_error *err);
/* Writes variants and verdicts. */
int as_data_variants(struct as_document *document, struct as_error *err);
/* Writes parallel. */
int as_data_parallel(struct as_document *document, struct as_error *err);
/* Writes simulated and scaling. */
int as_data_models(struct as_document *document, struct as_error *err);
/* Writes roofline. */
int as_data_roofline(struct as_document *document, struct as_error *err);
/* Writes over_time. */
int as_data_over_time(struct as_document *document, struct as_error *err);
/*
 * Source of the key `levels`. `sizes_sql` gives the level, the seconds of a bin and the bytes of
 * each level, shortest bins first; levels from ?2 on are left out. `rows_sql` gives the rows of
 * level ?2. ?1 is the run.
 */
struct as_data_finer {
    const char *sizes_sql, *rows_sql;
    int64_t below;
};
int as_data_levels(struct as_document *document, const struct as_data_finer *finer,
                   struct as_error *err);
/* Max number of threads shown over time. */
#define AS_DATA_THREADS_MOST "512"
/* Writes the key `timeline` of a section. */
int as_data_timeline(struct as_document *document, int64_t detail_id, struct as_error *err);
/* Writes elements of sections: drawings of the control flow of hot loops. */
int as_data_graphs(struct as_document *document, struct as_error *err);
/* Writes sections, and the results of several runs: scalability, stability, comparison. */
int as_data_modes(struct as_document *document, struct as_error *err);

/*
 * Writes the rows of `sql` (?1 is the run) as objects in the array `key`. Members are named as the
 * columns. With `is_one` writes one object. The columns "X.value", "X.low", "X.high", "X.n" and
 * "X.origin" give a quantity X. It is null without a value.
 */
int as_data_rows(struct as_document *document, const char *key, const char *sql, bool is_one,
                 struct as_error *err);
/* As as_data_rows for an array; ?2 is the level. Level -1 has no rows. */
int as_data_level(struct as_document *document, const char *key, const char *sql, int64_t level,
                  struct as_error *err);
/* Writes a cell of the current row; blobs give null. */
void as_data_cell(struct as_json *json, struct as_rows *rows, int i);
/* Writes the members of the current row. */
void as_data_row(struct as_json *json, struct as_rows *rows);

/* Sets `*is` to true if a run is of kind `code`. Errors: those of reading. */
int as_report_is_code(struct as_experiment *experiment, int64_t run_id, bool *is,
                      struct as_error *err);

/* Sets `title` to the shortened command of a run. Errors: NOMEM, those of reading. */
int as_report_title(struct as_experiment *experiment, int64_t run_id, struct as_str *title,
                    struct as_error *err);

/* Writes a cell of a column of numbers. */
void as_data_number(struct as_json *json, const struct as_grid_column *column, size_t row);
/* Write a column of texts as "dict" and "i", and a column of numbers as an array. */
void as_data_texts(struct as_json *json, const struct as_grid_column *column, size_t row_n);
void as_data_numbers(struct as_json *json, const struct as_grid_column *column, size_t row_n);

#endif
