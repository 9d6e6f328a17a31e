/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report shows as tables: the views and columns of data/report/, made into C by
 * tools/gen-views.py, whose head explains every key. Knows no rows.
 */
#ifndef AS_REPORT_VIEWS_H
#define AS_REPORT_VIEWS_H

#include <stdbool.h>
#include <stddef.h>

enum as_column_kind {
    AS_COLUMN_UNKNOWN, /* of a metric that does not say: by its unit */
    AS_COLUMN_NUMBER,
    AS_COLUMN_INTEGER,
    AS_COLUMN_SHARE, /* per cent */
    AS_COLUMN_TEXT,
    AS_COLUMN_CODE, /* text in a monospaced font */
    AS_COLUMN_FLAG, /* 0 or 1 */
    AS_COLUMN_ADDRESS,
    AS_COLUMN_ID, /* a number that is no amount */
};

/* A column of a report; `low`, `high` and `doubt` name others. Texts may be NULL, see the keys. */
struct as_report_column {
    const char *name, *sql, *title, *group, *unit, *meaning;
    const char *low, *high, *doubt, *better, *origin;
    enum as_column_kind kind;
    int digits;
    bool metric; /* `name` is that of a metric; there is no `sql` */
    bool shown, bar;
    bool code_shown; /* in the table at first where nothing was measured */
};

/* A column of `assay show --view` as text. */
struct as_report_text {
    const char *sql, *title;
    const char *metric; /* only where the experiment has it; NULL: always */
    bool right, elastic;
    bool optional; /* left out where a line is too long */
    bool wrapped;  /* sentences, in lines under the row */
};

/* Which runs the rows of a view are of, and which a report of one run shows. */
enum as_report_runs {
    AS_RUNS_NONE, /* rows know no run */
    AS_RUNS_ONE,  /* those of the run */
    AS_RUNS_SOME, /* those, and such as hold in all runs */
    AS_RUNS_ALL,  /* of all runs */
};

struct as_report_view {
    const char *name, *title, *meaning, *from, *object, *key, *parent, *group_by, *sort, *order;
    const char *code_meaning, *code_sort; /* of code that was read and not measured; or NULL */
    const char *binary; /* in place of `from` where nothing is to be told of inlining; or NULL */
    enum as_report_runs runs;
    bool only_show;          /* not part of reports */
    size_t row_most;         /* the first rows only; 0 = all */
    size_t metric_cell_most; /* so many values of metrics, of the first rows; 0 = all */
    const struct as_report_column *column;
    size_t column_n;
    const struct as_report_text *text;
    size_t text_n;
};

extern const struct as_report_view as_report_views[];
extern const size_t as_report_view_n;

/* The view of a name, or NULL. */
const struct as_report_view *as_report_view(const char *name);

/* The view, or as if nothing was inlined. */
static inline struct as_report_view as_report_view_as(const struct as_report_view *view,
                                                      bool no_inline)
{
    struct as_report_view it = *view;

    if (no_inline && it.binary)
        it.from = it.binary;
    return it;
}

/* "number", "integer", ... as the document of doc/reference/report-data.md says it. */
const char *as_column_kind_word(enum as_column_kind kind);

/* Whether cells of the kind are texts; all others are numbers. */
static inline bool as_column_kind_is_text(enum as_column_kind kind)
{
    return kind == AS_COLUMN_TEXT || kind == AS_COLUMN_CODE || kind == AS_COLUMN_ADDRESS;
}

#endif
