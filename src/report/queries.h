/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements of the command line, by name: it prints or looks up their rows and holds no SQL, so it
 * shows what views and the page show. Columns are in the order of the statement; ?1 is a run, or
 * the key that the comment names.
 */
#ifndef AS_REPORT_QUERIES_H
#define AS_REPORT_QUERIES_H

#include "base/str.h"
#include "experiment/experiment.h"
#include "report/views.h"

#define AS_QUERIES(X)                                                                              \
    X(RUN_COUNTS)          /* runs, the last one, whether ?1 is one */                             \
    X(RUNS_UNFINISHED)     /* run, state; ?1 = 0: all */                                           \
    X(RUNS_TO_ATTRIBUTE)   /* run, whether only its sums are missing */                            \
    X(RUNS_WITHOUT_ADVICE) /* run */                                                               \
    X(RUN_OF_COMMAND)      /* of the arguments ?1 as JSON: run, exit code or -1, signal or 0 */    \
    X(RUN_COMMAND)         /* a word a row */                                                      \
    X(LAST_PROFILE)        /* run, command, directory */                                           \
    X(RANK_CPU_WAIT)       /* the longest wait of a rank for a CPU, in s */                        \
    X(LOOP_PLACE)          /* of the loop ?1: function, file, line */                              \
    X(FUNCTION_PLACE)      /* of the function ?1: name, NULL, NULL */                              \
    X(CODE_PLACES)         /* address, module, function, file, line */                             \
    X(METRIC)              /* a row if the metric ?1 is known */                                   \
    X(TRACED_RUN)          /* run, traced run: the trace to analyse */                             \
    X(TRACE_CLOCK)         /* machines; of the least certain: name, s, drift, s off, no drift */   \
    X(TRACE_SAMPLES)       /* thread, its names, state, function, place, caller, n, s, % */        \
    X(TRACE_PARTIAL)       /* a row if the trace has only the beginning of the run */              \
    X(TRACE_FINDINGS)      /* text, workaround */                                                  \
    X(TRACE_CAVEATS)       /* text */                                                              \
    X(TRIES)               /* as v_tries, by run and rank */                                       \
    X(TRY_COUNT)           /* tries */
#define AS_QUERY_ENUM(name) AS_QUERY_##name,
enum as_query { AS_QUERIES(AS_QUERY_ENUM) AS_QUERIES_N };
#undef AS_QUERY_ENUM

/* Returns the SQL of a statement, which reads views alone. */
const char *as_query_text(enum as_query query);
/* Opens the rows of a statement, without parameters bound. Errors as as_rows_open. */
int as_query_open(struct as_experiment *experiment, enum as_query query, struct as_rows **out,
                  struct as_error *err);
/* Opens the rows of a statement and binds `id` to ?1. */
int as_query_open_of(struct as_experiment *experiment, enum as_query query, int64_t id,
                     struct as_rows **out, struct as_error *err);
/* Calls `each` for every row, as as_rows_each. */
int as_query_each(struct as_experiment *experiment, enum as_query query, int64_t id,
                  int (*each)(void *context, struct as_rows *row, struct as_error *err),
                  void *context, struct as_error *err);

/* ---- Views ----------------------------------------------------------------------------------- */

/* A part of a view: columns, rows and their order. */
struct as_view_part {
    const struct as_report_text *const *text; /* columns; NULL: all of the view */
    size_t text_n;
    bool with_run, of_run; /* the run as first column; rows of the run ?1 and of all runs */
    bool by_region;        /* only rows with a name like ?2 (GLOB) */
    /* Rows of phases: all, those of whole regions, or those with iteration ?3. */
    enum as_view_iterations { AS_VIEW_ANY, AS_VIEW_WHOLE, AS_VIEW_ONE } iterations;
    const char *sort; /* a column of the view, before its own order; or NULL */
    bool is_falling;  /* largest values of `sort` first */
    uint64_t limit;   /* of rows; 0: none */
};
void as_view_append_statement(const struct as_report_view *view, const struct as_view_part *part,
                              struct as_str *sql);

/* Call paths with their parents: run, path, inlining, parent, parent's inlining, function,
 * category; then `text`. */
void as_view_append_paths(const struct as_report_view *view, const struct as_view_part *part,
                          struct as_str *sql);

/* Opens a view without rows, for the names of its columns. Errors as as_rows_open. */
int as_view_open_columns(struct as_experiment *experiment, const struct as_report_view *view,
                         struct as_rows **out, struct as_error *err);

#endif
