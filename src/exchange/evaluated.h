/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paraver traces for evaluations (semantic/evaluate.h): their objects, labels and lines in time
 * order. A file in time order is read once per pass. Otherwise an additional read finds the late
 * lines and keeps them (ordered.h).
 */
#ifndef AS_EXCHANGE_EVALUATED_H
#define AS_EXCHANGE_EVALUATED_H

#include "base/stream_digest.h"
#include "exchange/prv_read.h"
#include "semantic/evaluate.h"

struct as_evaluated {
    char *path;
    struct as_machine_objects objects;
    struct as_prv_pcf labels;
    int64_t end_ns; /* from the header */
    struct as_prv_bad bad;
    bool is_disordered;
    bool (*is_stopped)(void); /* called now and then; NULL: the reading cannot be stopped */
    /* Gets each line in order before the evaluation does; NULL: none. A restart of a pass
     * invalidates the lines that it got. */
    int (*on_line)(void *context, const struct as_semantic_line *line);
    void *on_line_context;
    struct as_stream_digest *digest; /* of the text, after a pass; NULL: not taken. Borrowed */
};

/* Opens a trace with its labels. Errors: those of as_prv_file_open. */
int as_evaluated_open(const char *path, struct as_evaluated *out, struct as_error *err);
void as_evaluated_close(struct as_evaluated *evaluated);
/* Runs all passes of an evaluation. Errors: those of reading and of the evaluation. */
int as_evaluated_run(struct as_evaluated *evaluated, struct as_evaluator *evaluation,
                     struct as_error *err);
/* Runs one pass that has begun. Errors: as as_evaluated_run. */
int as_evaluated_run_pass(struct as_evaluated *evaluated, struct as_evaluator *evaluation,
                          struct as_error *err);
/* Appends the label of an object: from the .row file, or "THREAD 1.2.1". */
void as_evaluated_object(const struct as_evaluated *evaluated, enum as_object_level level,
                         uint32_t object, struct as_str *out);
/* Returns the label of a value of a window, or NULL if it has none. */
const char *as_evaluated_label(const struct as_evaluated *evaluated, const struct as_window *window,
                               struct as_quantity value);

#endif
