/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluating configurations over a trace that streams by: time lines go to a sink piece by piece,
 * tables are complete at the end. A pass gives all lines of the trace once, in order. Tables with
 * an automatic scale take a pass more.
 */
#ifndef AS_SEMANTIC_EVALUATE_H
#define AS_SEMANTIC_EVALUATE_H

#include "semantic/window.h"

struct as_evaluator;

/* Pieces of one object come in order; of several, in any. 0 or an error that ends the pass. */
typedef int as_piece_sink(void *context, uint32_t time_line, uint32_t object, int64_t begin_ns,
                          int64_t end_ns, struct as_quantity value);

struct as_evaluator_options {
    int64_t from_ns, to_ns; /* to INT64_MAX: the end of the trace */
    as_piece_sink *on_piece;
    void (*on_restart)(void *context); /* pieces so far are void */
    void *context;
};

/* `objects` is borrowed. 0 or NOMEM. */
int as_evaluator_new(const struct as_machine_objects *objects,
                     const struct as_evaluator_options *options, struct as_evaluator **out);
void as_evaluator_free(struct as_evaluator **evaluation);

/* Adds the tables of a configuration, or its last window where it has none. The configuration is
 * borrowed. Errors: USAGE (nothing to evaluate, levels that do not fit), NOMEM. */
int as_evaluator_add(struct as_evaluator *evaluation, const struct as_configuration *configuration,
                     struct as_error *err);

/* Begins a pass; false: none is left. Errors: as above. */
int as_evaluator_begin_pass(struct as_evaluator *evaluation, bool *is_needed, struct as_error *err);
/* Begins the pass anew: what it gave so far is void. Errors: as above. */
int as_evaluator_restart_pass(struct as_evaluator *evaluation, struct as_error *err);
/* The kinds of records that this pass needs. */
unsigned as_evaluator_kinds(const struct as_evaluator *evaluation);
/* Returns whether the pass needs some events of a type. */
bool as_evaluator_takes_type(const struct as_evaluator *evaluation, int64_t type);
/* Returns whether the pass needs an event: all others may be left out. */
bool as_evaluator_takes_event(struct as_evaluator *evaluation, int64_t type, int64_t value);
/* A line that is not earlier than those before. Errors: NOMEM, those of the sink. */
int as_evaluator_add_line(struct as_evaluator *evaluation, const struct as_semantic_line *line);
/*
 * Lines thread by thread, part by part of the time: within a part, the lines of each thread are in
 * order, and the threads in any. Possible where no CPU and no message is needed, and no sum depends
 * on the order of objects. After the begin of a pass; then it gets no lines by add_line. 0 or
 * NOMEM.
 */
int as_evaluator_begin_threads(struct as_evaluator *evaluation, bool *is_possible);
/* As as_evaluator_add_line. */
int as_evaluator_add_thread_line(struct as_evaluator *evaluation,
                                 const struct as_semantic_line *line);
/* The part is over: all lines before `ns` were given, and none at `ns` or later. Errors: NOMEM,
 * those of the sink. */
int as_evaluator_end_part(struct as_evaluator *evaluation, int64_t ns);
/* The pass is over; the trace ends here, or with its last record. */
int as_evaluator_end_pass(struct as_evaluator *evaluation, int64_t end_ns, struct as_error *err);
/* The end of the trace, ns, after a pass. */
int64_t as_evaluator_end_ns(const struct as_evaluator *evaluation);

/* ---- Results --------------------------------------------------------------------------------- */

struct as_time_line {
    const struct as_configuration *configuration;
    const struct as_window *window;
    uint32_t objects_n;
};

struct as_histogram_cell {
    uint32_t row;
    int64_t plane, column; /* from 0 */
    struct as_cell_sums cell;
};

struct as_histogram_result {
    const struct as_configuration *configuration;
    const struct as_histogram *table;
    struct as_histogram_scale columns, planes; /* as used; columns_n is set */
    enum as_object_level level;                /* of the rows */
    uint32_t rows_n;
    AS_VEC(struct as_histogram_cell) cell; /* by plane, row, column */
    uint64_t outside_n; /* pieces outside the columns or planes, of control values that are not 0 */
    int64_t outside_ns; /* of all pieces outside */
};

const struct as_time_line *as_evaluator_time_lines(const struct as_evaluator *evaluation,
                                                   size_t *n);
const struct as_histogram_result *as_evaluator_tables(const struct as_evaluator *evaluation,
                                                      size_t *n);
/* The statistic of a cell of a result. */
struct as_quantity as_histogram_cell_value(const struct as_evaluator *evaluation,
                                           const struct as_histogram_result *result,
                                           const struct as_histogram_cell *cell);

#endif
