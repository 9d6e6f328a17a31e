/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows and tables as a configuration describes them. A window is a function of time for each
 * object of a level. A table sums up one window over the values of another.
 */
#ifndef AS_SEMANTIC_WINDOW_H
#define AS_SEMANTIC_WINDOW_H

#include "semantic/draw_mode.h"
#include "semantic/function.h"
#include "semantic/statistic.h"

/* ---- Filters --------------------------------------------------------------------------------- */

enum as_filter_part_id {
    AS_FILTER_FROM, /* objects of the window's level, from 1 */
    AS_FILTER_TO,
    AS_FILTER_TAG,
    AS_FILTER_SIZE,
    AS_FILTER_BANDWIDTH,
    AS_FILTER_TYPE,
    AS_FILTER_VALUE,
    AS_FILTER_PARTS_N
};

enum as_filter_test {
    AS_TEST_ALL,
    AS_TEST_NONE,
    AS_TEST_EQUAL,     /* any of the list */
    AS_TEST_NOT_EQUAL, /* these: all of the list */
    AS_TEST_GREATER,
    AS_TEST_LESS,
    AS_TEST_RANGE, /* pairs */
    AS_TESTS_N
};

struct as_filter_part {
    enum as_filter_test test;
    AS_VEC(struct as_quantity) value;
};

/* The words of files: "from_obj", "=". */
const char *as_filter_part_word(enum as_filter_part_id part);
const char *as_filter_test_word(enum as_filter_test test);
bool as_filter_passes(const struct as_filter_part *part, struct as_quantity value);

/* ---- Windows --------------------------------------------------------------------------------- */

struct as_function_use {
    const struct as_semantic_function *function;
    struct as_parameters parameters;
};

struct as_window {
    char *name;
    int64_t id; /* as the file has it; else its place, from 1 */
    enum as_object_level level;
    int64_t unit_ns; /* of times that are values */
    bool is_code;    /* values are codes: tables take whole columns */
    enum as_draw_mode draw_mode;
    bool has_selection;  /* of objects, which is not applied */
    bool has_type_label; /* a filter by the label of a type */

    /* of the levels that have them; compose also above a CPU */
    struct as_function_use thread, cpu, above[AS_OBJECT_LEVELS_N], compose[AS_OBJECT_LEVELS_N];
    AS_VEC(struct as_function_use) top; /* topcompose2, topcompose1, extratopcompose1 ... */

    bool takes_logical, takes_physical, takes_same_node, takes_other_node;
    bool both_ends, both_tag_size, both_type_value; /* AND; else OR */
    struct as_filter_part filter[AS_FILTER_PARTS_N];

    bool is_derived; /* of two windows: */
    struct as_function_use operation;
    int64_t operand_id[2];
    size_t operand[2]; /* places in the configuration */
    struct as_quantity factor[2];
    int64_t shift[2]; /* pieces; above 0: the value of so many pieces later */
};

/* ---- Tables ---------------------------------------------------------------------------------- */

struct as_histogram_scale {
    struct as_quantity min, max, delta;
    int64_t columns_n; /* 0: by the delta */
    bool is_automatic; /* from the values of the window */
    bool uses_delta;   /* an automatic scale: columns of the delta */
    bool begins_at_zero;
};

enum as_histogram_sort {
    AS_SORT_NONE,
    AS_SORT_AVERAGE,
    AS_SORT_TOTAL,
    AS_SORT_MAXIMUM,
    AS_SORT_MINIMUM,
    AS_SORT_STDEV,
    AS_SORT_AVG_MAX
};

struct as_histogram {
    char *name;
    int64_t control_id, data_id, plane_id; /* plane 0: two dimensions */
    size_t control, data, plane;           /* places in the configuration */
    const struct as_statistic *statistic;
    struct as_histogram_scale columns, planes;
    int64_t columns_asked; /* NumColumns; 0: not said */
    int fixed_delta;       /* UseFixedDelta; -1: not said */
    bool hides_empty, is_vertical, is_sorted, is_reverse;
    enum as_histogram_sort sort;
    int64_t decimals; /* of text */
};

/* ---- Configurations -------------------------------------------------------------------------- */

/* A line of the file, as written back where its key is not known. */
struct as_cfg_line {
    char *text;
    uint32_t number; /* in the file, from 1 */
    int key;         /* place in the table of cfg_keys.c; -1: kept as it is */
    uint32_t owner;  /* place of its window or table */
    uint32_t slot;   /* of several lines with one key: what it is about */
};

struct as_configuration {
    char *name; /* of the file */
    char *description;
    AS_VEC(struct as_window) window;
    AS_VEC(struct as_histogram) table;
    AS_VEC(struct as_cfg_line) line;
};

/* A window of all defaults: 0 or NOMEM. */
int as_window_init(struct as_window *window);
void as_histogram_init(struct as_histogram *table);
void as_configuration_fini(struct as_configuration *configuration);

/* Reads a .cfg; `name` appears in errors. Errors: CORRUPT (no configuration, a line that cannot be
 * read; which line), UNSUPPORTED (a function or statistic that is not here; its name), NOMEM. */
int as_cfg_read(struct as_view text, const char *name, struct as_configuration *out,
                struct as_error *err);
/* Writes it as a .cfg: lines with keys that are not known as they were. Errors: NOMEM. */
int as_cfg_write(const struct as_configuration *configuration, struct as_str *out,
                 struct as_error *err);

/* "ns" ... of a unit of times, "Nanoseconds" ...; NULL: no such unit. */
const char *as_unit_word(int64_t unit_ns);
bool as_unit_read(struct as_view word, int64_t *unit_ns);
/* "1.5s", "-20ms", "300us", "5000" (nanoseconds), at most INT64_MAX / 16; false: no time. */
bool as_time_read(struct as_view text, int64_t *ns);

/* The kinds of records that a window itself needs, without its operands. */
unsigned as_window_kinds(const struct as_window *window);
/* The function that gives the values their meaning (for labels): NULL of derived windows and where
 * the value of a function of time is changed behind it. */
const struct as_semantic_function *as_window_meaning(const struct as_window *window);

#endif
