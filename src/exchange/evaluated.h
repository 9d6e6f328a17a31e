/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of Paraver for evaluations (semantic/evaluate.h): their objects, labels and lines, in the
 * order of time. A file with lines in order is read once for each pass. Otherwise one reading more
 * finds the lines that come too late, and keeps them (ordered.h).
 */
#ifndef AS_EXCHANGE_EVALUATED_H
#define AS_EXCHANGE_EVALUATED_H

#include "exchange/prv_read.h"
#include "semantic/evaluate.h"

struct as_evaluated {
    char *path;
    struct as_machine_objects objects;
    struct as_prv_pcf labels;
    int64_t end_ns; /* of the header */
    struct as_prv_bad bad;
    bool is_disordered;
    bool (*is_stopped)(void); /* asked now and then; NULL: the reading goes on to its end */
    /* Gets each line, in order, before the evaluation does; NULL: no function does. The restart of
     * an evaluation makes void what it got. */
    int (*on_line)(void *context, const struct as_semantic_line *line);
    void *on_line_context;
};

/* Errors: those of as_prv_file_open. */
int as_evaluated_open(const char *path, struct as_evaluated *out, struct assay_error *err);
void as_evaluated_close(struct as_evaluated *evaluated);
/* All passes of an evaluation. Errors: those of reading and of the evaluation. */
int as_evaluated_run(struct as_evaluated *evaluated, struct as_evaluator *evaluation,
                     struct assay_error *err);
/* One pass, which was begun. Errors: as above. */
int as_evaluated_run_pass(struct as_evaluated *evaluated, struct as_evaluator *evaluation,
                          struct assay_error *err);
/* The label of an object: of the .row file, or "THREAD 1.2.1". */
void as_evaluated_object(const struct as_evaluated *evaluated, enum as_object_level level,
                         uint32_t object, struct as_str *out);
/* The label of a value of a window; NULL: it has none. */
const char *as_evaluated_label(const struct as_evaluated *evaluated, const struct as_window *window,
                               struct as_quantity value);

#endif
