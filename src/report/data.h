/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the report data (doc/reference/report-data.md), one file each. Each writes one or
 * more keys of the document with their values.
 */
#ifndef AS_REPORT_DATA_H
#define AS_REPORT_DATA_H

#include <assay/report.h>

#include "base/json.h"
#include "report/grid.h"

struct as_document {
    const struct assay_comparison *comparison; /* or NULL */
    struct assay_experiment *experiment;
    int64_t run_id;
    size_t path_most;    /* call paths kept; 0 = as many as a page can show */
    size_t level_most_b; /* of bins of finer levels; 0 = as many as a file may have */
    bool no_inline;      /* as if nothing was inlined */
    bool is_code;        /* of code that was read, and not measured */
    struct as_json json;
};

/* environment, overheads, metrics, what_ifs, checks, findings, flags: rows of one statement each.
 * All parts give 0 or the first failure of reading. */
int as_data_facts(struct as_document *document, struct assay_error *err);
/* views */
int as_data_views(struct as_document *document, struct assay_error *err);
/* calltree */
int as_data_calltree(struct as_document *document, struct assay_error *err);
/* sources, code */
int as_data_code(struct as_document *document, struct assay_error *err);
/* Elements of sections: values that hold under a condition. */
int as_data_conditions(struct as_document *document, struct assay_error *err);
/* variants, verdicts */
int as_data_variants(struct as_document *document, struct assay_error *err);
/* parallel */
int as_data_parallel(struct as_document *document, struct assay_error *err);
/* simulated, scaling */
int as_data_models(struct as_document *document, struct assay_error *err);
/* roofline */
int as_data_roofline(struct as_document *document, struct assay_error *err);
/* over_time */
int as_data_over_time(struct as_document *document, struct assay_error *err);
/*
 * Their key `levels`: of levels (?2 and up are left out) the shortest bins first, as level, seconds
 * of a bin and bytes of all; what the rows of level ?2 have. ?1 is the run.
 */
struct as_data_finer {
    const char *sizes_sql, *rows_sql;
    int64_t below;
};
int as_data_levels(struct as_document *document, const struct as_data_finer *finer,
                   struct assay_error *err);
/* So many threads are shown over time. */
#define AS_DATA_THREADS_MOST "512"
/* The key `timeline` of a section. */
int as_data_timeline(struct as_document *document, int64_t detail_id, struct assay_error *err);
/* Elements of sections: control flow of hot loops, drawn. */
int as_data_graphs(struct as_document *document, struct assay_error *err);
/* sections, and the results of several runs: scalability, stability, comparison */
int as_data_modes(struct as_document *document, struct assay_error *err);

/*
 * The rows of `sql` (?1 = the run) as objects of the array `key`, members named as its columns, or,
 * when there is to be one row, as one object. Five columns "X.value", "X.low", "X.high", "X.n" and
 * "X.origin" make a quantity X, null where its value is.
 */
int as_data_rows(struct as_document *document, const char *key, const char *sql, bool is_one,
                 struct assay_error *err);
/* The array alone; ?2 = a level, of which -1 has no rows. */
int as_data_level(struct as_document *document, const char *key, const char *sql, int64_t level,
                  struct assay_error *err);
/* A cell of the current row; bytes are null. */
void as_data_cell(struct as_json *json, struct assay_rows *rows, int i);
/* The members of the current row. */
void as_data_row(struct as_json *json, struct assay_rows *rows);

/* Whether a run is of kind `code`. Errors: those of reading. */
int as_report_is_code(struct assay_experiment *experiment, int64_t run_id, bool *is,
                      struct assay_error *err);

/* The command of a run, shortened. Errors: NOMEM, those of reading. */
int as_report_title(struct assay_experiment *experiment, int64_t run_id, struct as_str *title,
                    struct assay_error *err);

/* A cell of a column of numbers. */
void as_data_number(struct as_json *json, const struct as_grid_column *column, size_t row);
/* Texts as "dict" and "i", numbers as an array. */
void as_data_texts(struct as_json *json, const struct as_grid_column *column, size_t row_n);
void as_data_numbers(struct as_json *json, const struct as_grid_column *column, size_t row_n);

#endif
