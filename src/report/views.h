/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a report: views and columns from data/report/. tools/gen-views.py converts them to
 * C; its head explains every key. It has no rows.
 */
#ifndef AS_REPORT_VIEWS_H
#define AS_REPORT_VIEWS_H

#include <stdbool.h>
#include <stddef.h>

enum as_column_kind {
    AS_COLUMN_UNKNOWN, /* a metric without a kind: derived from its unit */
    AS_COLUMN_NUMBER,
    AS_COLUMN_INTEGER,
    AS_COLUMN_SHARE, /* per cent */
    AS_COLUMN_TEXT,
    AS_COLUMN_CODE, /* text in a monospaced font */
    AS_COLUMN_FLAG, /* 0 or 1 */
    AS_COLUMN_ADDRESS,
    AS_COLUMN_ID, /* a number that is not an amount */
};

/* A column of a report. `low`, `high` and `doubt` name other columns. Texts may be NULL, see the
 * keys. */
struct as_report_column {
    const char *name, *sql, *title, *group, *unit, *meaning;
    const char *low, *high, *doubt, *better, *origin;
    enum as_column_kind kind;
    int digits;
    bool metric; /* `name` is that of a metric, and `sql` is unused */
    bool shown, bar;
    bool code_shown; /* shown at first if nothing was measured */
};

/* A column of `assay show --view` as text. */
struct as_report_text {
    const char *sql, *title;
    const char *metric; /* only if the experiment has this metric; NULL: always */
    bool right, elastic;
    bool optional; /* left out if lines are too long */
    bool wrapped;  /* sentences in lines under the row */
};

/* The runs of the rows of a view, and the ones that a report of one run shows. */
enum as_report_runs {
    AS_RUNS_NONE, /* rows belong to no run */
    AS_RUNS_ONE,  /* rows of the run */
    AS_RUNS_SOME, /* rows of the run, and rows that hold in all runs */
    AS_RUNS_ALL,  /* rows of all runs */
};

struct as_report_view {
    const char *name, *title, *meaning, *from, *object, *key, *parent, *group_by, *sort, *order;
    const char *code_meaning, *code_sort; /* for code that was analysed but not measured; or NULL */
    /* Replaces `from` if inlined functions are hidden; or NULL. */
    const char *binary;
    enum as_report_runs runs;
    bool only_show;          /* not in reports */
    size_t row_most;         /* max rows; 0: all */
    size_t metric_cell_most; /* max values of metrics, for the first rows; 0: all */
    const struct as_report_column *column;
    size_t column_n;
    const struct as_report_text *text;
    size_t text_n;
};

extern const struct as_report_view as_report_views[];
extern const size_t as_report_view_n;

/* Returns the view with this name, or NULL. */
const struct as_report_view *as_report_view(const char *name);

/* Returns the view, or with `no_inline` the view without inlined functions. */
static inline struct as_report_view as_report_view_as(const struct as_report_view *view,
                                                      bool no_inline)
{
    struct as_report_view it = *view;

    if (no_inline && it.binary)
        it.from = it.binary;
    return it;
}

/* Returns "number", "integer", ... as in doc/reference/report-data.md. */
const char *as_column_kind_word(enum as_column_kind kind);

/* Returns true if cells of this kind are texts; all others are numbers. */
static inline bool as_column_kind_is_text(enum as_column_kind kind)
{
    return kind == AS_COLUMN_TEXT || kind == AS_COLUMN_CODE || kind == AS_COLUMN_ADDRESS;
}

#endif
