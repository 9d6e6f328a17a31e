/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of facts: kinds of objects, numbers with origin and reliability, subjects of numbers,
 * cells of tables. Does not know where facts are stored (experiment/experiment.h).
 */
#ifndef AS_EXPERIMENT_FACTS_H
#define AS_EXPERIMENT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Numbers ----------------------------------------------------------------------------- */

/* X(NAME, number, word) */
#define AS_ORIGIN_LIST(X)                                                                          \
    X(MEASURED, 1, "measured")                                                                     \
    X(EXACT, 2, "exact")                                                                           \
    X(DERIVED, 3, "derived")                                                                       \
    X(MODELLED, 4, "modelled")                                                                     \
    X(SIMULATED, 5, "simulated")

enum as_origin {
#define AS_ORIGIN_ENUM(name, number, word) AS_ORIGIN_##name = (number),
    AS_ORIGIN_LIST(AS_ORIGIN_ENUM)
#undef AS_ORIGIN_ENUM
};
const char *as_origin_word(int origin); /* NULL: none */

/* Kinds of objects of a value, finding or flag. X(NAME, number, word) */
#define AS_OBJECT_LIST(X)                                                                          \
    X(RUN, 1, "run")                                                                               \
    X(HOST, 2, "host")                                                                             \
    X(PROCESS, 3, "process")                                                                       \
    X(THREAD, 4, "thread")                                                                         \
    X(MODULE, 5, "module")                                                                         \
    X(FUNCTION, 6, "function")                                                                     \
    X(LOOP, 7, "loop")                                                                             \
    X(BLOCK, 8, "block")                                                                           \
    X(LOCATION, 9, "location")                                                                     \
    X(LINE, 10, "line")                                                                            \
    X(CALLPATH, 11, "callpath")                                                                    \
    X(CATEGORY, 12, "category")                                                                    \
    X(PATH, 13, "path")                                                                            \
    X(MACHINE, 14, "machine")                                                                      \
    X(DATA, 15, "data")                                                                            \
    X(REGION, 16, "region")                                                                        \
    X(EDGE, 17, "edge")                                                                            \
    X(FRAME, 18, "frame")

enum as_object_kind {
#define AS_OBJECT_ENUM(name, number, word) AS_OBJECT_##name = (number),
    AS_OBJECT_LIST(AS_OBJECT_ENUM)
#undef AS_OBJECT_ENUM
};

/* The word by which the database knows a kind; the kind of a word, 0 = none. */
const char *as_object_word(enum as_object_kind kind);
enum as_object_kind as_object_kind_of(const char *word);

/*
 * A number with where it comes from and how far to trust it. Made only by the functions below:
 * there is no way to leave origin or confidence out, and a zero-initialised one is refused.
 */
struct as_bounded_value {
    double value;
    double low, high; /* 95 % interval; infinite where no bound is known */
    int64_t n;        /* samples, repetitions or events behind it */
    int origin;       /* enum as_origin */
};

/* Observed `n` times or in `n` samples, true value within `low` and `high` with 95 %. */
struct as_bounded_value as_value_measured(double value, double low, double high, int64_t n);
/* Counted: no error. `n` = how many were counted or how often it was counted alike. */
struct as_bounded_value as_value_exact(double value, int64_t n);
/* Computed from others, with the bounds that follow from theirs. */
struct as_bounded_value as_value_derived(double value, double low, double high, int64_t n);
/* Said by a model, with its bounds (-INFINITY, INFINITY where it knows none). */
struct as_bounded_value as_value_modelled(double value, double low, double high);
/* Result of a simulation of `n` events. */
struct as_bounded_value as_value_simulated(double value, double low, double high, int64_t n);
/* The share `part` / `whole` of samples with its Wilson interval; `whole` > 0. */
struct as_bounded_value as_value_share(int64_t part, int64_t whole);

enum as_better {
    AS_BETTER_NEITHER = 0,
    AS_BETTER_HIGHER = 1,
    AS_BETTER_LOWER = 2,
};

/*
 * The first five members are mandatory. Defining a metric again redefines it and gives the same id.
 * `good` and `fair` rate values: at least as good as the first, as the second; equal = not rated.
 */
struct as_metric {
    const char *name; /* snake_case with its unit */
    const char *unit; /* "s", "%", "x" a factor, "1" for none */
    const char *meaning;
    const char *formula; /* how it comes from others, or "counted", "measured" */
    enum as_better better;
    const char *title; /* as a heading; NULL = the name */
    const char *topic; /* what it is shown among: "time", "code", "parallel", ...; or NULL */
    double good, fair;
    int position;     /* among those of its topic */
    const char *pass; /* that makes its values: as_experiment_forget; or NULL */
};

/*
 * The subject of a value. `run_id` 0 = every run. `context_id` is a result of
 * as_experiment_add_context for a further dependence (path of a loop, variant, machine, ...); 0
 * = none.
 */
struct as_subject {
    enum as_object_kind kind;
    int64_t object_id, run_id, context_id;
};

/* One of the many that an analysis knows of all objects of a kind (as_metric_set_open). */
struct as_set_metric {
    struct as_metric metric;
    enum as_origin origin; /* of all its values */
    int digits;            /* 0 to 9 */
    bool bounded;          /* values have bounds that differ from them */
};

/* ---- Cells ------------------------------------------------------------------------------- */

enum as_sql_cell_kind {
    AS_SQL_CELL_NULL,
    AS_SQL_CELL_INTEGER,
    AS_SQL_CELL_REAL,
    AS_SQL_CELL_TEXT,
    AS_SQL_CELL_BLOB
};

/* A cell of a table: NULL, INTEGER, REAL or TEXT (borrowed). Zero-initialised is NULL. */
struct as_sql_cell {
    enum as_sql_cell_kind kind;
    int64_t integer;
    double real;
    const char *text;
};

static inline struct as_sql_cell as_sql_cell_integer(int64_t value)
{
    struct as_sql_cell it = {AS_SQL_CELL_INTEGER, value, 0, NULL};
    return it;
}

static inline struct as_sql_cell as_sql_cell_real(double value)
{
    struct as_sql_cell it = {AS_SQL_CELL_REAL, 0, value, NULL};
    return it;
}

static inline struct as_sql_cell as_sql_cell_text(const char *value)
{
    struct as_sql_cell it = {AS_SQL_CELL_TEXT, 0, 0, value};
    return it;
}

#endif
