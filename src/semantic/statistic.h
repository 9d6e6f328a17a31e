/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics of tables as rows: each is a formula over the sums of a cell. Sums of whole
 * numbers are exact.
 */
#ifndef AS_SEMANTIC_STATISTIC_H
#define AS_SEMANTIC_STATISTIC_H

#include "semantic/quantity.h"

/* Over all overlaps of the data with a column in a row. */
struct as_cell_sums {
    int64_t bursts_n, not_zero_n;
    int64_t time_ns, not_zero_ns;
    int64_t control_zero_ns;                 /* where the control window is 0 */
    struct as_sum value, integral, absolute; /* value; value x ns; |value| x ns */
    struct as_quantity max, min;             /* from 0; 0: not set */
    __int128 squares;                        /* of lengths, ns^2 */
    /* of messages: */
    int64_t sends_n, receives_n, min_sent_b, max_sent_b, min_received_b, max_received_b;
    __int128 sent_b, received_b;
};

/* Sums over all columns of a row. */
struct as_cell_row {
    int64_t time_ns, not_zero_ns; /* all; where the control window is not 0 */
    int64_t bursts_n;
};

struct as_statistic_context {
    const struct as_cell_row *row;
    int64_t range_ns; /* all of the time that the table is about */
    int64_t unit_ns;  /* of times */
};

struct as_statistic {
    const char *name; /* as in files */
    const char *unit; /* "time", "%", "value", "count", "bytes" */
    const char *summary;
    bool is_of_messages; /* columns are partners */
    struct as_quantity (*value)(const struct as_cell_sums *cell,
                                const struct as_statistic_context *context);
};

extern const struct as_statistic as_statistics[];
extern const size_t as_statistics_n;
/* NULL: none has this name. */
const struct as_statistic *as_statistic_find(struct as_view name);

/* Adds one overlap: the value of the data window over `length_ns` above 0. */
void as_cell_add(struct as_cell_sums *cell, struct as_quantity value, int64_t length_ns);
void as_cell_add_send(struct as_cell_sums *cell, int64_t size_b);
void as_cell_add_receive(struct as_cell_sums *cell, int64_t size_b);

/* Totals over the cells of a column (or row) that were touched. */
struct as_totals {
    struct as_sum total;
    double mean, spread; /* after Welford: sum of squares of the distances to the mean */
    int64_t n;
    struct as_quantity max, min;
    bool has_min;
};

enum as_total_id {
    AS_TOTAL_TOTAL,
    AS_TOTAL_AVERAGE,
    AS_TOTAL_MAXIMUM,
    AS_TOTAL_MINIMUM, /* ignores 0 */
    AS_TOTAL_STDEV,   /* population */
    AS_TOTAL_AVG_MAX,
    AS_TOTALS_N
};

void as_totals_add(struct as_totals *totals, struct as_quantity value);
struct as_quantity as_totals_value(const struct as_totals *totals, enum as_total_id id);
const char *as_total_word(enum as_total_id id);

#endif
