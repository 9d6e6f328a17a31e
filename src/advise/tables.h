/* SPDX-License-Identifier: Apache-2.0 */
/* The advice of data/advise/, made by tools/gen-advice.py: what the statements give is said there.
 */
#ifndef AS_ADVISE_TABLES_H
#define AS_ADVISE_TABLES_H

#include "experiment/metric_table.h"

enum as_what_if_kind { AS_WHAT_IF_LOOPS, AS_WHAT_IF_PARALLEL, AS_WHAT_IF_PARALLEL_AND_LOAD };

struct as_what_if_row {
    const char *name, *title, *meaning;
    int position;
    enum as_what_if_kind kind;
    const char *variant;    /* of code quality analysis, that it comes from; or NULL */
    const char *metric;     /* of loops, without values of which nothing is known; or NULL */
    const char *max_factor; /* of the speed of loop l, that the model of the variant leaves out */
    const char *sql;        /* LOOPS only */
};

struct as_check_row {
    const char *name, *title;
    double weight;
    int position;
    const char *said_by; /* rules, a blank around each: where one has spoken, no advice; or NULL */
    const char *sql;
};

struct as_flag_row {
    const char *name, *sql;
};

struct as_finding_row {
    const char *name, *topic;
    enum as_object_kind object;
    const char *command; /* or NULL */
    const char *sql;
};

/* Which loops ask for advice; one row. */
struct as_loops_row {
    const char *name, *sql;
};

struct as_cause_row {
    const char *name, *topic;
    const char *pattern; /* what several loops do */
    const char *gain;    /* the what-if that does away with it; or NULL */
    const char *unless;  /* causes, a blank around each, beside which it is not said; or NULL */
    const char *sql;
};

extern const struct as_metric_row as_advise_metric[];
extern const size_t as_advise_metric_n;
extern const struct as_what_if_row as_advise_what_if[];
extern const size_t as_advise_what_if_n;
extern const struct as_check_row as_advise_check[];
extern const size_t as_advise_check_n;
extern const struct as_flag_row as_advise_flag[];
extern const size_t as_advise_flag_n;
extern const struct as_finding_row as_advise_finding[];
extern const size_t as_advise_finding_n;
extern const struct as_loops_row as_advise_loops[];
extern const size_t as_advise_loops_n;
extern const struct as_cause_row as_advise_cause[];
extern const size_t as_advise_cause_n;

#endif
